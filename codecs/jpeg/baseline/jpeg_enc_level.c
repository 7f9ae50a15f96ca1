/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/baseline/jpeg_enc_level.h"

#include "core/processor.h"

enum {
    DIVISOR_SHIFT = 3, /* the transform's results are 8 times those of the DCT */
    HALF_BITS = 16,    /* of a product that jpeg_enc_quantiser keeps */
};

void jpeg_enc_levels(const struct jpeg_enc_level *level[JPEG_ENC_LEVELS_MAX + 1]) {
    static const struct {
        const struct jpeg_enc_level *level;
        enum processor_level needs;
    } levels[] = {
#if defined(__x86_64__)
        {&jpeg_enc_level_avx512, PROCESSOR_AVX512_VBMI2},
        {&jpeg_enc_level_avx2, PROCESSOR_AVX2},
#elif defined(__aarch64__)
        {&jpeg_enc_level_neon, PROCESSOR_NEON},
#endif
        {&jpeg_enc_level_baseline, PROCESSOR_BASELINE},
        {&jpeg_enc_level_plain, PROCESSOR_PLAIN},
    };
    unsigned count = 0;
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++) {
        if (processor_allows(levels[i].needs)) {
            level[count++] = levels[i].level;
        }
    }
    level[count] = NULL;
}

void jpeg_enc_quantiser_set(struct jpeg_enc_quantiser *to, const uint16_t steps[JPEG_COEFFICIENTS]) {
    for (unsigned k = 0; k < JPEG_COEFFICIENTS; k++) {
        uint32_t divisor = (uint32_t)steps[k] << DIVISOR_SHIFT, half = divisor / 2;
        unsigned shift = HALF_BITS + 31 - (unsigned)__builtin_clz(divisor);
        uint32_t factor = (1u << shift) / divisor, rest = (1u << shift) % divisor;
        if (rest == 0) {
            factor >>= 1;
            shift--;
        } else if (rest <= divisor / 2) {
            half++;
        } else {
            factor++;
        }
        to->half[k] = (uint16_t)half;
        to->factor[k] = (uint16_t)factor;
        to->scale[k] = (uint16_t)(1u << (2 * HALF_BITS - shift));
    }
}

static void set_tokens(struct jpeg_enc_order *order) {
    uint32_t *above = order->token + JPEG_ENC_SMALL, *below = above;
    *above = 0;
    for (uint32_t size = 1; size <= JPEG_ENC_SMALL_BITS; size++) {
        uint32_t most = (1u << size) - 1;
        for (uint32_t value = most / 2 + 1; value <= most; value++) {
            above[value] = value << JPEG_ENC_INDEX | size;
            *--below = (most - value) << JPEG_ENC_INDEX | size;
        }
    }
    *--below = (JPEG_ENC_SMALL - 1) << JPEG_ENC_INDEX | (JPEG_ENC_SMALL_BITS + 1); /* -JPEG_ENC_SMALL */
}

void jpeg_enc_order_set(struct jpeg_enc_order *order) {
    uint8_t place[JPEG_COEFFICIENTS];
    jpeg_zigzag_places(place);
    set_tokens(order);
    for (unsigned y = 0; y < JPEG_SIDE; y++) {
        order->row[y][0] = 0;
        for (unsigned set = 1; set < 1u << JPEG_SIDE; set++) {
            unsigned x = (unsigned)__builtin_ctz(set);
            order->row[y][set] = order->row[y][set & (set - 1)] | (uint64_t)1 << place[y * JPEG_SIDE + x];
        }
    }
}
