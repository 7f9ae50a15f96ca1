/* SPDX-License-Identifier: MIT
 * Template: the transform without vectors. Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_TRANSFORM_PLAIN_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_TRANSFORM_PLAIN_H

#include "codecs/jpeg/baseline/jpeg_enc_transform.h"

enum { VECTORS = 0, SORTS = 0 };

static int32_t rounded(int32_t value, int shift) {
    return (value + (1 << (shift - 1))) >> shift;
}

/* The odd frequencies, of the differences of opposite samples. */
static void transform_odd(int32_t *v, size_t step, int32_t t4, int32_t t5, int32_t t6, int32_t t7,
                          int shift) {
    int32_t z5 = (t4 + t6 + t5 + t7) * FDCT_1_175;
    int32_t z1 = (t4 + t7) * -FDCT_0_899, z2 = (t5 + t6) * -FDCT_2_562;
    int32_t z3 = (t4 + t6) * -FDCT_1_961 + z5, z4 = (t5 + t7) * -FDCT_0_390 + z5;
    v[7 * step] = rounded(t4 * FDCT_0_298 + z1 + z3, shift);
    v[5 * step] = rounded(t5 * FDCT_2_053 + z2 + z4, shift);
    v[3 * step] = rounded(t6 * FDCT_3_072 + z2 + z3, shift);
    v[1 * step] = rounded(t7 * FDCT_1_501 + z1 + z4, shift);
}

/* One dimension: eight values that are `step` apart. */
static void transform_8(int32_t *v, size_t step, bool rows) {
    int32_t s[4], d[4];
    int shift = rows ? FDCT_SHIFT_ROWS : FDCT_SHIFT_COLUMNS;
    for (size_t i = 0; i < 4; i++) {
        s[i] = v[i * step] + v[(7 - i) * step];
        d[i] = v[i * step] - v[(7 - i) * step];
    }
    int32_t t10 = s[0] + s[3], t13 = s[0] - s[3], t11 = s[1] + s[2], t12 = s[1] - s[2];
    int32_t z1 = (t12 + t13) * FDCT_0_541;
    v[0] = rows ? (t10 + t11) * (1 << FDCT_PASS_BITS) : rounded(t10 + t11, FDCT_PASS_BITS);
    v[4 * step] = rows ? (t10 - t11) * (1 << FDCT_PASS_BITS) : rounded(t10 - t11, FDCT_PASS_BITS);
    v[2 * step] = rounded(z1 + t13 * FDCT_0_765, shift);
    v[6 * step] = rounded(z1 - t12 * FDCT_1_847, shift);
    transform_odd(v, step, d[3], d[2], d[1], d[0], shift);
}

static int16_t quantised(int32_t value, const struct jpeg_enc_quantiser *quantiser, unsigned k) {
    uint32_t size = (uint32_t)(value < 0 ? -value : value) + quantiser->half[k];
    int32_t result = (int32_t)((size * quantiser->factor[k] >> 16) * quantiser->scale[k] >> 16);
    return (int16_t)(value < 0 ? -result : result);
}

static void transform(const uint8_t *from, size_t stride, const struct jpeg_enc_quantiser *quantiser,
                      unsigned count, struct jpeg_enc_piece *piece, unsigned to) {
    for (unsigned block = 0; block < count; block++, from += JPEG_SIDE) {
        int32_t v[JPEG_COEFFICIENTS];
        uint64_t filled = 0;
        for (unsigned i = 0; i < JPEG_COEFFICIENTS; i++) {
            v[i] = from[i / JPEG_SIDE * stride + i % JPEG_SIDE] - FDCT_CENTRE;
        }
        for (size_t y = 0; y < JPEG_SIDE; y++) {
            transform_8(v + y * JPEG_SIDE, 1, true);
        }
        for (size_t x = 0; x < JPEG_SIDE; x++) {
            transform_8(v + x, JPEG_SIDE, false);
        }
        for (unsigned i = 0; i < JPEG_COEFFICIENTS; i++) {
            int16_t value = quantised(v[i], quantiser, i);
            piece->blocks.value[to + block][i] = value;
            filled |= value ? piece->order.row[i / JPEG_SIDE][1u << i % JPEG_SIDE] : 0;
        }
        piece->blocks.filled[to + block] = filled;
    }
}

#endif
