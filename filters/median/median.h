/* SPDX-License-Identifier: MIT
 * The median of a square window around each pixel. */
#ifndef BLURD_FILTERS_MEDIAN_MEDIAN_H
#define BLURD_FILTERS_MEDIAN_MEDIAN_H

#include "filters/argument/edge.h"
#include "filters/definition.h"

enum { MEDIAN_RADIUS_MAX = 25 };

struct median_arguments {
    int radius; /* 1 to MEDIAN_RADIUS_MAX: a window has 2 radius + 1 pixels a side */
    int edge;   /* enum edge, without EDGE_FRAME */
};

struct median_plan {
    uint8_t radius; /* in pixels of the picture; a multiple of every plane's reduction */
    uint8_t edge;   /* enum edge */
};

extern const struct filter filter_median;

#endif
