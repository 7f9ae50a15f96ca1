/* SPDX-License-Identifier: MIT
 * Where pieces of memory that are needed for a while only lie in one that all share. */
#ifndef BLURD_DETECT_PLACING_H
#define BLURD_DETECT_PLACING_H

#include <stddef.h>

struct placing_piece {
    size_t bytes;
    unsigned first, last; /* steps, from the one that writes the piece to the last one that reads it */
    size_t offset;
};

/* Fills the offsets, so that no two pieces of the same step overlap. Sizes are multiples of the alignment
 * that the offsets shall have. Returns the bytes that all take together. Does not fail. */
size_t placing_fill(struct placing_piece *pieces, unsigned count);

#endif
