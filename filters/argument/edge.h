/* SPDX-License-Identifier: MIT
 * Pixels outside of a picture, for filters that read them. */
#ifndef BLURD_FILTERS_ARGUMENT_EDGE_H
#define BLURD_FILTERS_ARGUMENT_EDGE_H

#include <stddef.h>

enum edge {
    EDGE_CLAMP,  /* the nearest sample */
    EDGE_MIRROR, /* the picture reflected about its outermost sample, which is not repeated */
    EDGE_WRAP,   /* the picture again */
    EDGE_ZERO,   /* black */
    EDGE_FRAME,  /* /convolve only: results that depend on pixels outside become 0 */
};

/* For argument tables, in the order of enum edge; the second without EDGE_FRAME. */
extern const char *const edge_names_frame[];
extern const char *const edge_names[];

enum { OUTSIDE = -1 };

/* The sample that position `at` of a side of `size` samples reads, or OUTSIDE for the border colour. With one
 * sample, mirror and wrap are clamp. */
ptrdiff_t edge_source(enum edge edge, ptrdiff_t size, ptrdiff_t at);

#endif
