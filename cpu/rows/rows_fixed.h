/* SPDX-License-Identifier: MIT
 * Integer row primitives in plain C. Included once per instruction set, so that the compiler makes the best
 * of each; the including files replace some of them. */
#include <string.h>

#include "cpu/rows/rows.h"

enum { FIXED_BLOCK = 32 };

static inline uint8_t fixed_output(int32_t sum) {
    return (uint8_t)(((sum + LAST_ROUND) >> LAST_SHIFT) + (VALUE_BIAS >> BLUR_STORE_BITS));
}

static void fixed_widen(void *to, const void *from, size_t n) {
    int16_t *restrict out = to;
    const uint8_t *restrict in = from;
    for (size_t i = 0; i < n; i++) {
        out[i] = (int16_t)((in[i] << BLUR_STORE_BITS) - VALUE_BIAS);
    }
}

static void fixed_taps_source(void *to, const void *const *row, const struct taps *taps, size_t n) {
    const uint8_t *const *in = (const uint8_t *const *)row + taps->radius;
    for (size_t x = 0; x < n; x += FIXED_BLOCK) {
        int32_t sum[FIXED_BLOCK];
        for (unsigned i = 0; i < FIXED_BLOCK; i++) {
            sum[i] = SOURCE_ROUND + taps->weight[0] * in[0][x + i];
        }
        for (int k = 1; k <= (int)taps->radius; k++) {
            const uint8_t *a = in[-k] + x;
            const uint8_t *b = in[k] + x;
            for (unsigned i = 0; i < FIXED_BLOCK; i++) {
                sum[i] += taps->weight[k] * (int16_t)(a[i] + b[i]);
            }
        }
        int16_t *out = (int16_t *)to + x;
        for (unsigned i = 0; i < FIXED_BLOCK; i++) {
            out[i] = (int16_t)((sum[i] >> (BLUR_WEIGHT_BITS - BLUR_STORE_BITS)) - VALUE_BIAS);
        }
    }
}

static inline void fixed_sum(int32_t sum[FIXED_BLOCK], const int16_t *const *in, const struct taps *taps,
                             size_t x) {
    for (unsigned i = 0; i < FIXED_BLOCK; i++) {
        sum[i] = taps->weight[0] * in[0][x + i];
    }
    for (int k = 1; k <= (int)taps->radius; k++) {
        const int16_t *a = in[-k] + x;
        const int16_t *b = in[k] + x;
        for (unsigned i = 0; i < FIXED_BLOCK; i++) {
            sum[i] += taps->weight[k] * (int16_t)(a[i] + b[i]);
        }
    }
}

static void fixed_taps(void *to, const void *const *row, const struct taps *taps, size_t n) {
    const int16_t *const *in = (const int16_t *const *)row + taps->radius;
    for (size_t x = 0; x < n; x += FIXED_BLOCK) {
        int32_t sum[FIXED_BLOCK];
        fixed_sum(sum, in, taps, x);
        int16_t *out = (int16_t *)to + x;
        for (unsigned i = 0; i < FIXED_BLOCK; i++) {
            out[i] = (int16_t)((sum[i] + VALUE_ROUND) >> BLUR_WEIGHT_BITS);
        }
    }
}

static void fixed_taps_last(void *to, const void *const *row, const struct taps *taps, size_t n) {
    const int16_t *const *in = (const int16_t *const *)row + taps->radius;
    for (size_t x = 0; x < n; x += FIXED_BLOCK) {
        int32_t sum[FIXED_BLOCK];
        fixed_sum(sum, in, taps, x);
        uint8_t out[FIXED_BLOCK];
        for (unsigned i = 0; i < FIXED_BLOCK; i++) {
            out[i] = fixed_output(sum[i]);
        }
        memcpy((uint8_t *)to + x, out, n - x < FIXED_BLOCK ? n - x : FIXED_BLOCK);
    }
}

/* The samples are first sorted by their place in the step, so that the taps become shifted rows. */
static void fixed_reduce(void *to, const void *from, const struct taps *taps, unsigned shift,
                         unsigned channels, size_t n) {
    (void)channels;
    enum { STEP_MAX = 8, LANES = FIXED_BLOCK + 4 };
    unsigned step = 1u << shift;
    int16_t phase[STEP_MAX][LANES];
    const void *row[2 * BLUR_STAGE_RADIUS_MAX + 1];
    /* tap k reads from[i * step + k]; k + 2 * step is positive */
    for (unsigned k = 0; k <= 2 * taps->radius; k++) {
        unsigned place = k + 2 * step - taps->radius;
        row[k] = &phase[place % step][place / step];
    }
    for (size_t x = 0; x < n; x += FIXED_BLOCK) {
        const int16_t *in = (const int16_t *)from + (ptrdiff_t)(x * step) - 2 * (ptrdiff_t)step;
        for (unsigned p = 0; p < step; p++) {
            for (unsigned i = 0; i < LANES; i++) {
                phase[p][i] = in[i * step + p];
            }
        }
        fixed_taps((int16_t *)to + x, row, taps, FIXED_BLOCK);
    }
}

static inline int32_t fixed_cubic(const int16_t *from, const struct cubic *cubic, size_t phase) {
    return cubic->pair[0][phase][0] * from[-1] + cubic->pair[0][phase][1] * from[0] +
           cubic->pair[1][phase][0] * from[1] + cubic->pair[1][phase][1] * from[2];
}

static void fixed_enlarge(void *to, const void *from, const struct cubic *cubic, unsigned channels,
                          size_t n) {
    (void)channels;
    int16_t *restrict out = to;
    const int16_t *restrict in = from;
    size_t factor = (size_t)1 << cubic->levels;
    for (size_t x = 0; x < n; x += factor, in++, out += factor) {
        for (size_t phase = 0; phase < factor; phase++) {
            out[phase] = (int16_t)((fixed_cubic(in, cubic, phase) + VALUE_ROUND) >> BLUR_WEIGHT_BITS);
        }
    }
}

static void fixed_enlarge_last(void *to, const void *from, const struct cubic *cubic, unsigned channels,
                               size_t n) {
    (void)channels;
    uint8_t *restrict out = to;
    const int16_t *restrict in = from;
    for (size_t x = 0; x < n; x++) {
        size_t phase = x & (((size_t)1 << cubic->levels) - 1);
        out[x] = fixed_output(fixed_cubic(in + (x >> cubic->levels), cubic, phase));
    }
}

static void fixed_cubic_last(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                             unsigned phase, size_t n) {
    uint8_t *restrict out = to;
    const int16_t *const *in = (const int16_t *const *)row;
    const int16_t w0 = cubic->pair[0][phase][0];
    const int16_t w1 = cubic->pair[0][phase][1];
    const int16_t w2 = cubic->pair[1][phase][0];
    const int16_t w3 = cubic->pair[1][phase][1];
    for (size_t x = 0; x < n; x++) {
        out[x] = fixed_output(w0 * in[0][x] + w1 * in[1][x] + w2 * in[2][x] + w3 * in[3][x]);
    }
}

static void fixed_split(void *to, size_t segment, const void *from, unsigned channels, size_t pixels) {
    int16_t *restrict out = to;
    const int16_t *restrict in = from;
    (void)channels; /* integer pictures have 1 or 3: alpha is filtered in floating point */
    for (size_t x = 0; x < pixels; x++) {
        out[x] = in[3 * x];
        out[x + segment] = in[3 * x + 1];
        out[x + 2 * segment] = in[3 * x + 2];
    }
}

static void fixed_merge(void *to, const void *from, size_t segment, unsigned channels, size_t pixels) {
    int16_t *restrict out = to;
    const int16_t *restrict in = from;
    (void)channels;
    for (size_t x = 0; x < pixels; x++) {
        out[3 * x] = in[x];
        out[3 * x + 1] = in[x + segment];
        out[3 * x + 2] = in[x + 2 * segment];
    }
}

static const struct row_ops fixed_ops = {
    .value = sizeof(int16_t),
    .widen = fixed_widen,
    .taps_source = fixed_taps_source,
    .taps = fixed_taps,
    .taps_last = fixed_taps_last,
    .reduce = fixed_reduce,
    .enlarge = fixed_enlarge,
    .enlarge_last = fixed_enlarge_last,
    .cubic_last = fixed_cubic_last,
    .split = fixed_split,
    .merge = fixed_merge,
};
