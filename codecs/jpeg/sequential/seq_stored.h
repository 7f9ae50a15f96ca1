/* SPDX-License-Identifier: MIT
 * Template: transforms blocks whose coefficients are in memory. Included after the definition of transform(),
 * for all blocks of a batch. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_STORED_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_SEQ_STORED_H

#include "codecs/jpeg/sequential/seq_scan.h"

#define INLINE static inline __attribute__((always_inline))

INLINE enum seq_class class_of(unsigned positions) {
    return (enum seq_class)((positions > 1) + (positions > SEQ_SMOOTH_MAX));
}

/* Multiplies the first `count` values. The result is not 0 if a product is out of range. */
INLINE int16_t multiply(int16_t *restrict to, const int16_t *restrict from, const struct seq_scale *scale,
                        unsigned count) {
    int16_t beyond = 0;
    for (unsigned k = 0; k < count; k++) {
        to[k] = (int16_t)(from[k] * scale->step[k]);
        beyond |= (int16_t)(-(from[k] > scale->limit[k]) | -(from[k] < -scale->limit[k]));
    }
    return beyond;
}

/* Counts the positions of a block up to its last nonzero coefficient, of which `filled` has a bit for each.
 */
INLINE unsigned positions_of(uint64_t filled) {
    return filled ? SEQ_STEPS - (unsigned)__builtin_ctzll(filled) : 1;
}

INLINE int16_t take_stored(struct seq_batch *batch, const struct seq_stored *stored, uint32_t x, unsigned i) {
    const uint32_t number = coefficients_block(&stored->row, x);
    const int16_t *from = stored->values + (size_t)number * SEQ_STEPS;
    int16_t *values = batch->coded[i].values;
    enum seq_class class = class_of(positions_of(stored->filled[number]));
    struct seq_list *list = &batch->sorted.list[class];
    list->block[list->count++] = (struct seq_block){values, stored->to + (size_t)x * 8, stored->part};
    return class == SEQ_FLAT     ? multiply(values, from, stored->scale, 1)
           : class == SEQ_SMOOTH ? multiply(values, from, stored->scale, SEQ_STEPS / 2)
                                 : multiply(values, from, stored->scale, SEQ_STEPS);
}

static bool transform_stored(struct seq_batch *batch, const struct seq_stored *stored) {
    int16_t beyond = 0;
    for (uint32_t x = 0; x < stored->count && beyond == 0; x += SEQ_BATCH) {
        uint32_t left = stored->count - x, count = left < SEQ_BATCH ? left : SEQ_BATCH;
        for (unsigned i = 0; i < count; i++) {
            beyond |= take_stored(batch, stored, x + i, i);
        }
        transform(&batch->sorted);
    }
    return beyond == 0;
}

#endif
