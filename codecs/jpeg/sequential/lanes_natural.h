/* SPDX-License-Identifier: MIT
 * Loads blocks whose coefficients are in their order and multiplied. Included after one of lanes_*.h, which
 * has the operations. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_LANES_NATURAL_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_LANES_NATURAL_H

#include <string.h>

enum { SORTS = 0 };

/* Sets `rows` rows of eight coefficients to 0. Of a longer memset, GCC makes a loop of eight bytes each. */
static inline void lanes_clear(int16_t *values, unsigned rows) {
#pragma GCC unroll 8
    for (unsigned i = 0; i < rows; i++) {
        memset(values + 8 * i, 0, 8 * sizeof *values);
    }
}

/* The coefficients of blocks that have all, row by row; the blocks become 0. */
static inline void lanes_full(lanes v[8], const struct jpeg_dec_block *block) {
    for (unsigned i = 0; i < 8; i++) {
        v[i] = lanes_load(block, (size_t)8 * i);
    }
    for (unsigned i = 0; i < LANES; i++) {
        lanes_clear(block[i].values, 8);
    }
}

/* The same for blocks of four rows and columns, two a lane: the first, third, ... below. */
static inline void lanes_smooth(lanes v[4], const struct jpeg_dec_block *block) {
    for (unsigned i = 0; i < 4; i++) {
        v[i] = lanes_load_pair(block, (size_t)8 * i);
    }
    for (unsigned i = 0; i < 2 * LANES; i++) {
        lanes_clear(block[i].values, 4);
    }
}

#endif
