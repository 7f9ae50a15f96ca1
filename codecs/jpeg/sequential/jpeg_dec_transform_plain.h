/* SPDX-License-Identifier: MIT
 * Template: transforms the blocks of a batch one by one, in plain C. Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_TRANSFORM_PLAIN_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_TRANSFORM_PLAIN_H

#include "codecs/jpeg/sequential/jpeg_dec_transform.h"

enum { SORTS = 0, VECTORS = 0, SMOOTH_VALUES = JPEG_DEC_COEFFICIENTS };

/* Products and sums wrap at 32 bits, as those of vectors do. */
static inline uint32_t times(uint32_t value, int32_t factor) {
    return value * (uint32_t)factor;
}

static inline int16_t descale(uint32_t value, unsigned shift) {
    int32_t rounded = (int32_t)(value + (1u << (shift - 1))) >> shift;
    return (int16_t)(rounded < INT16_MIN ? INT16_MIN : rounded > INT16_MAX ? INT16_MAX : rounded);
}

/* A sum of 16 bits. */
static inline uint32_t sum16(int16_t a, int16_t b) {
    return (uint32_t)(int16_t)(uint16_t)(a + b);
}

static inline void transform_8(int16_t *v, unsigned step, unsigned shift) {
    int16_t in[8];
    for (unsigned i = 0; i < 8; i++) {
        in[i] = v[i * step];
    }
    uint32_t z1 = times((uint32_t)in[2] + (uint32_t)in[6], IDCT_0_541);
    uint32_t even2 = z1 - times((uint32_t)in[6], IDCT_1_847), even3 = z1 + times((uint32_t)in[2], IDCT_0_765);
    uint32_t even0 = sum16(in[0], in[4]) << IDCT_BITS;
    uint32_t even1 = sum16(in[0], (int16_t)(uint16_t)-in[4]) << IDCT_BITS;
    uint32_t e[4] = {even0 + even3, even1 + even2, even1 - even2, even0 - even3};
    uint32_t z3 = sum16(in[7], in[3]), z4 = sum16(in[5], in[1]);
    uint32_t z5 = times(z3 + z4, IDCT_1_175);
    z3 = z5 - times(z3, IDCT_1_961);
    z4 = z5 - times(z4, IDCT_0_390);
    z1 = times((uint32_t)in[7] + (uint32_t)in[1], -IDCT_0_899);
    uint32_t z2 = times((uint32_t)in[5] + (uint32_t)in[3], -IDCT_2_562);
    uint32_t o[4] = {
        times((uint32_t)in[1], IDCT_1_501) + z1 + z4,
        times((uint32_t)in[3], IDCT_3_072) + z2 + z3,
        times((uint32_t)in[5], IDCT_2_053) + z2 + z4,
        times((uint32_t)in[7], IDCT_0_298) + z1 + z3,
    };
    for (unsigned i = 0; i < 4; i++) {
        v[i * step] = descale(e[i] + o[i], shift);
        v[(7 - i) * step] = descale(e[i] - o[i], shift);
    }
}

static void transform_block(int16_t *block, uint8_t *to, size_t stride) {
    for (unsigned x = 0; x < 8; x++) {
        transform_8(block + x, 8, IDCT_SHIFT_COLUMNS);
    }
    for (unsigned y = 0; y < 8; y++, to += stride) {
        transform_8(block + (size_t)8 * y, 1, IDCT_SHIFT_ROWS);
        for (unsigned x = 0; x < 8; x++) {
            int32_t value = block[8 * y + x] + IDCT_CENTRE;
            to[x] = (uint8_t)(value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : value);
        }
    }
    memset(block, 0, JPEG_DEC_COEFFICIENTS * sizeof *block);
}

static void transform(struct jpeg_dec_sorted *sorted) {
    idct_flat_list(&sorted->list[JPEG_DEC_FLAT]);
    for (unsigned class = JPEG_DEC_SMOOTH; class < JPEG_DEC_CLASSES; class ++) {
        struct jpeg_dec_list *list = &sorted->list[class];
        for (unsigned i = 0; i < list->count; i++) {
            transform_block(list->block[i].values, list->block[i].to, list->block[i].part->stride);
        }
        list->count = 0;
    }
}

#endif
