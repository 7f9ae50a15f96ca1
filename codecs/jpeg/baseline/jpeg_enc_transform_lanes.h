/* SPDX-License-Identifier: MIT
 * Template: transforms as many blocks at once as vectors have lanes. Included after one of the decoder's
 * lanes_*.h and one of jpeg_enc_lanes_*.h, which have the operations. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_TRANSFORM_LANES_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_TRANSFORM_LANES_H

#include "codecs/jpeg/baseline/jpeg_enc_transform.h"
#include "codecs/jpeg/sequential/lanes_wide.h"

/* DC and the middle frequency, whose factor is 1: FDCT_PASS_BITS more, or fewer. */
static inline lanes scale_even(lanes a, bool rows) {
    return rows ? lanes_shift_up2(a) : lanes_shift_down2(lanes_add16(a, lanes_all(2, 2)));
}

/* The odd frequencies, of the differences of opposite samples. */
static inline void transform_odd(lanes *v, const lanes d[4], int shift) {
    struct wide sums = wide_pairs(lanes_add16(d[3], d[1]), lanes_add16(d[2], d[0]));
    struct wide z3 = wide_add_products(wide_half(shift), sums, FDCT_1_175 - FDCT_1_961, FDCT_1_175);
    struct wide z4 = wide_add_products(wide_half(shift), sums, FDCT_1_175, FDCT_1_175 - FDCT_0_390);
    struct wide outer = wide_pairs(d[3], d[0]), inner = wide_pairs(d[2], d[1]);
    v[7] = wide_descale(wide_add_products(z3, outer, FDCT_0_298 - FDCT_0_899, -FDCT_0_899), shift);
    v[1] = wide_descale(wide_add_products(z4, outer, -FDCT_0_899, FDCT_1_501 - FDCT_0_899), shift);
    v[5] = wide_descale(wide_add_products(z4, inner, FDCT_2_053 - FDCT_2_562, -FDCT_2_562), shift);
    v[3] = wide_descale(wide_add_products(z3, inner, -FDCT_2_562, FDCT_3_072 - FDCT_2_562), shift);
}

/* One dimension, for eight vectors of one sample each. */
static inline void transform_8(lanes *v, bool rows) {
    int shift = rows ? FDCT_SHIFT_ROWS : FDCT_SHIFT_COLUMNS;
    lanes s[4], d[4];
    for (unsigned i = 0; i < 4; i++) {
        s[i] = lanes_add16(v[i], v[7 - i]);
        d[i] = lanes_sub16(v[i], v[7 - i]);
    }
    lanes t10 = lanes_add16(s[0], s[3]), t13 = lanes_sub16(s[0], s[3]);
    lanes t11 = lanes_add16(s[1], s[2]), t12 = lanes_sub16(s[1], s[2]);
    struct wide middle = wide_pairs(t13, t12);
    v[0] = scale_even(lanes_add16(t10, t11), rows);
    v[4] = scale_even(lanes_sub16(t10, t11), rows);
    struct wide half = wide_half(shift);
    v[2] = wide_descale(wide_add_products(half, middle, FDCT_0_541 + FDCT_0_765, FDCT_0_541), shift);
    v[6] = wide_descale(wide_add_products(half, middle, FDCT_0_541, FDCT_0_541 - FDCT_1_847), shift);
    transform_odd(v, d, shift);
}

static inline lanes quantised(lanes value, const struct jpeg_enc_quantiser *quantiser, unsigned row) {
    lanes half = lanes_every(quantiser->half + (size_t)row * JPEG_SIDE);
    lanes factor = lanes_every(quantiser->factor + (size_t)row * JPEG_SIDE);
    lanes scale = lanes_every(quantiser->scale + (size_t)row * JPEG_SIDE);
    lanes size = lanes_add16(lanes_absolute(value), half);
    return lanes_signed(lanes_high_product(lanes_high_product(size, factor), scale), value);
}

static void transform(const uint8_t *from, size_t stride, const struct jpeg_enc_quantiser *quantiser,
                      unsigned count, struct jpeg_enc_piece *piece, unsigned to) {
    const lanes centre = lanes_all(FDCT_CENTRE, FDCT_CENTRE);
    const size_t ahead = (size_t)count * JPEG_SIDE; /* the next piece */
    for (unsigned block = 0; block < count; block += LANES, from += LANES * JPEG_SIDE) {
        lanes v[JPEG_SIDE];
        for (unsigned y = 0; y < JPEG_SIDE; y++) {
            __builtin_prefetch(from + y * stride + ahead);
            v[y] = lanes_sub16(lanes_samples(from + y * stride), centre);
        }
        transpose(v);
        transform_8(v, true);
        transpose(v);
        transform_8(v, false);
        for (unsigned y = 0; y < JPEG_SIDE; y++) {
            v[y] = quantised(v[y], quantiser, y);
        }
        lanes_keep(v, piece, to + block);
    }
}

#endif
