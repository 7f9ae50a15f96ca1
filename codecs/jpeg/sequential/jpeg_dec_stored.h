/* SPDX-License-Identifier: MIT
 * Template: transforms blocks whose coefficients are in memory. Included after the definition of transform(),
 * for all blocks of a batch. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_STORED_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_JPEG_DEC_STORED_H

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"

#define INLINE static inline __attribute__((always_inline))

INLINE enum jpeg_dec_class class_of(unsigned positions) {
    return (enum jpeg_dec_class)((positions > 1) + (positions > JPEG_DEC_SMOOTH_MAX));
}

/* Multiplies the first `count` values. The result is not 0 if a product is out of range. */
INLINE int16_t multiply(int16_t *restrict to, const int16_t *restrict from,
                        const struct jpeg_dec_scale *scale, unsigned count) {
    int16_t beyond = 0;
    for (unsigned k = 0; k < count; k++) {
        to[k] = (int16_t)(from[k] * scale->step[k]);
        beyond |= (int16_t)(-(from[k] > scale->limit[k]) | -(from[k] < -scale->limit[k]));
    }
    return beyond;
}

/* The number of positions up to the last nonzero coefficient of a block. `filled` has a bit for each nonzero
 * one, the highest bit for the first position. */
INLINE unsigned positions_of(uint64_t filled) {
    return filled ? JPEG_DEC_COEFFICIENTS - (unsigned)__builtin_ctzll(filled) : 1;
}

INLINE int16_t take_stored(struct jpeg_dec_batch *batch, const struct jpeg_dec_stored *stored, uint32_t x,
                           unsigned i) {
    const uint32_t number = coefficients_block(&stored->row, x);
    const int16_t *from = stored->values + (size_t)number * JPEG_DEC_COEFFICIENTS;
    int16_t *values = batch->coded[i].values;
    enum jpeg_dec_class class = class_of(positions_of(stored->filled[number]));
    struct jpeg_dec_list *list = &batch->sorted.list[class];
    list->block[list->count++] = (struct jpeg_dec_block){values, stored->to + (size_t)x * 8, stored->part};
    return class == JPEG_DEC_FLAT     ? multiply(values, from, stored->scale, 1)
           : class == JPEG_DEC_SMOOTH ? multiply(values, from, stored->scale, JPEG_DEC_COEFFICIENTS / 2)
                                      : multiply(values, from, stored->scale, JPEG_DEC_COEFFICIENTS);
}

static bool transform_stored(struct jpeg_dec_batch *batch, const struct jpeg_dec_stored *stored) {
    int16_t beyond = 0;
    for (uint32_t x = 0; x < stored->count && beyond == 0; x += JPEG_DEC_BATCH) {
        uint32_t left = stored->count - x, count = left < JPEG_DEC_BATCH ? left : JPEG_DEC_BATCH;
        for (unsigned i = 0; i < count; i++) {
            beyond |= take_stored(batch, stored, x + i, i);
        }
        transform(&batch->sorted);
    }
    return beyond == 0;
}

#endif
