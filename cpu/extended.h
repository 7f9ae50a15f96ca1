/* SPDX-License-Identifier: MIT
 * Rows of the picture extended beyond its borders (filters/argument/edge.h), in samples. */
#ifndef BLURD_CPU_EXTENDED_H
#define BLURD_CPU_EXTENDED_H

#include "core/image.h"
#include "filters/argument/edge.h"

struct extended {
    const struct plane *plane;
    unsigned depth; /* 8 or 16 */
    enum edge edge;
    uint8_t border; /* the byte of which samples outside consist, under EDGE_ZERO */
};

/* The samples of `pixels` pixels of row y, from position x on: in the plane where all of them lie there, else
 * in `spare`, which has room for them. Any position is allowed. Thread-safe. */
const void *extended_row(const struct extended *extended, ptrdiff_t y, ptrdiff_t x, size_t pixels,
                         uint8_t *spare);

#endif
