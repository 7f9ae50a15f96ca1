/* SPDX-License-Identifier: MIT
 * What lies outside of a picture, for the filters that look there. */
#ifndef BLURD_FILTERS_EDGE_H
#define BLURD_FILTERS_EDGE_H

#include <stddef.h>

enum edge {
    EDGE_CLAMP,  /* the nearest sample */
    EDGE_MIRROR, /* the picture reflected about its outermost sample, which is not repeated */
    EDGE_WRAP,   /* the picture again */
    EDGE_ZERO,   /* black */
    EDGE_FRAME,  /* /convolve only: what would look outside becomes 0 */
};

/* For argument tables, in the order of enum edge; the second without EDGE_FRAME. */
extern const char *const edge_names_frame[];
extern const char *const edge_names[];

enum { OUTSIDE = -1 };

/* The sample that stands at position `at` of a side of `size` samples, or OUTSIDE for the border
 * colour. With one sample, mirror and wrap are clamp. */
ptrdiff_t edge_source(enum edge edge, ptrdiff_t size, ptrdiff_t at);

#endif
