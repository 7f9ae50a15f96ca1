/* SPDX-License-Identifier: MIT
 * Template: transforms as many blocks at once as vectors have lanes; those with few frequencies two in a
 * lane. Included after one of lanes_*.h, which has the operations. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_TRANSFORM_LANES_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_TRANSFORM_LANES_H

#include "codecs/jpeg/sequential/jpeg_dec_transform.h"
#include "codecs/jpeg/sequential/lanes_wide.h"

/* (a << IDCT_BITS) and what rounds sums that are then shifted. */
static inline struct wide wide_scale(lanes a, int shift) {
    return wide_add_products(wide_half(shift), wide_pairs(a, lanes_zero()), 1 << IDCT_BITS, 0);
}

/* The last step: sums of even and odd parts, and their differences in reverse. The even parts are rounded. */
static inline void join(lanes *v, const struct wide even[4], const struct wide odd[4], int shift) {
    for (unsigned i = 0; i < 4; i++) {
        v[i] = wide_descale(wide_add(even[i], odd[i]), shift);
        v[7 - i] = wide_descale(wide_sub(even[i], odd[i]), shift);
    }
}

enum { SMOOTH_VALUES = 32 /* that transform_smooth() takes of a block */ };

/* One dimension, for eight vectors of one frequency each. */
static inline void transform_8(lanes *v, int shift) {
    struct wide outer = wide_pairs(v[2], v[6]);
    struct wide even0 = wide_scale(lanes_add16(v[0], v[4]), shift);
    struct wide even1 = wide_scale(lanes_sub16(v[0], v[4]), shift);
    struct wide even[4];
    wide_both(&even[0], &even[3], even0, outer, IDCT_0_541 + IDCT_0_765, IDCT_0_541);
    wide_both(&even[1], &even[2], even1, outer, IDCT_0_541, IDCT_0_541 - IDCT_1_847);
    struct wide sums = wide_pairs(lanes_add16(v[7], v[3]), lanes_add16(v[5], v[1]));
    struct wide z3 = wide_products(sums, IDCT_1_175 - IDCT_1_961, IDCT_1_175);
    struct wide z4 = wide_products(sums, IDCT_1_175, IDCT_1_175 - IDCT_0_390);
    struct wide far = wide_pairs(v[7], v[1]), near = wide_pairs(v[5], v[3]);
    const struct wide odd[4] = {
        wide_add_products(z4, far, -IDCT_0_899, IDCT_1_501 - IDCT_0_899),
        wide_add_products(z3, near, -IDCT_2_562, IDCT_3_072 - IDCT_2_562),
        wide_add_products(z4, near, IDCT_2_053 - IDCT_2_562, -IDCT_2_562),
        wide_add_products(z3, far, IDCT_0_298 - IDCT_0_899, -IDCT_0_899),
    };
    join(v, even, odd, shift);
}

/* The same with frequencies 4 to 7 being 0. */
static inline void transform_4(lanes *v, int shift) {
    struct wide e = wide_pairs(v[0], v[2]), o = wide_pairs(v[1], v[3]);
    const struct wide half = wide_half(shift);
    const int one = 1 << IDCT_BITS;
    const struct wide even[4] = {
        wide_add_products(half, e, one, IDCT_0_541 + IDCT_0_765),
        wide_add_products(half, e, one, IDCT_0_541),
        wide_add_products(half, e, one, -IDCT_0_541),
        wide_add_products(half, e, one, -IDCT_0_541 - IDCT_0_765),
    };
    const int z33 = IDCT_1_175 - IDCT_1_961, z41 = IDCT_1_175 - IDCT_0_390; /* of each input */
    const struct wide odd[4] = {
        wide_products(o, IDCT_1_501 - IDCT_0_899 + z41, IDCT_1_175),
        wide_products(o, IDCT_1_175, IDCT_3_072 - IDCT_2_562 + z33),
        wide_products(o, z41, IDCT_1_175 - IDCT_2_562),
        wide_products(o, IDCT_1_175 - IDCT_0_899, z33),
    };
    join(v, even, odd, shift);
}

/* Columns of samples to rows of bytes, two rows a vector. */
static inline void pack(lanes row[4], const lanes v[8]) {
    lanes p = lanes_pack16(v[0], v[2]), q = lanes_pack16(v[1], v[3]);
    lanes r = lanes_pack16(v[4], v[6]), s = lanes_pack16(v[5], v[7]);
    lanes a = lanes_low8(p, q), b = lanes_high8(p, q), c = lanes_low8(r, s), d = lanes_high8(r, s);
    lanes low = lanes_low16(a, b), high = lanes_high16(a, b); /* columns 0 to 3 of rows 0 to 3, 4 to 7 */
    lanes low2 = lanes_low16(c, d), high2 = lanes_high16(c, d);
    row[0] = lanes_low32(low, low2);
    row[1] = lanes_high32(low, low2);
    row[2] = lanes_low32(high, high2);
    row[3] = lanes_high32(high, high2);
}

static inline void transform_full(const struct jpeg_dec_block *block) {
    lanes v[8], row[4];
    lanes_full(v, block);
    transform_8(v, IDCT_SHIFT_COLUMNS);
    transpose(v);
    transform_8(v, IDCT_SHIFT_ROWS);
    pack(row, v);
    lanes_store(row, block, 1);
}

/* Rows of four columns of two blocks, to columns of one of them. */
static inline void transpose_half(lanes to[4], const lanes pair[4]) {
    lanes a = lanes_low32(pair[0], pair[1]), b = lanes_high32(pair[0], pair[1]);
    lanes c = lanes_low32(pair[2], pair[3]), d = lanes_high32(pair[2], pair[3]);
    to[0] = lanes_low64(a, c);
    to[1] = lanes_high64(a, c);
    to[2] = lanes_low64(b, d);
    to[3] = lanes_high64(b, d);
}

static inline void transform_smooth(const struct jpeg_dec_block *block) {
    lanes v[8], pair[2][4], row[4];
    lanes_smooth(v, block);
    transform_4(v, IDCT_SHIFT_COLUMNS);
    for (unsigned i = 0; i < 4; i++) {
        pair[0][i] = lanes_low16(v[2 * i], v[2 * i + 1]);
        pair[1][i] = lanes_high16(v[2 * i], v[2 * i + 1]);
    }
    for (unsigned half = 0; half < 2; half++) {
        transpose_half(v, pair[half]);
        transform_4(v, IDCT_SHIFT_ROWS);
        pack(row, v);
        lanes_store(row, block + half, 2);
    }
}

/* Fills the list up to a multiple of `count` with a block of zeros, whose samples do not matter. */
static inline void fill_up(struct jpeg_dec_sorted *sorted, struct jpeg_dec_list *list, unsigned count) {
    for (unsigned i = list->count; i % count != 0; i++) {
        list->block[i] = (struct jpeg_dec_block){sorted->zeros, sorted->sink, &sorted->sink_part};
    }
}

static void transform(struct jpeg_dec_sorted *sorted) {
    struct jpeg_dec_list *smooth = &sorted->list[JPEG_DEC_SMOOTH], *full = &sorted->list[JPEG_DEC_FULL];
    idct_flat_list(&sorted->list[JPEG_DEC_FLAT]);
    fill_up(sorted, smooth, 2 * LANES);
    for (unsigned i = 0; i < smooth->count; i += 2 * LANES) {
        transform_smooth(smooth->block + i);
    }
    fill_up(sorted, full, LANES);
    for (unsigned i = 0; i < full->count; i += LANES) {
        transform_full(full->block + i);
    }
    smooth->count = full->count = 0;
}

#endif
