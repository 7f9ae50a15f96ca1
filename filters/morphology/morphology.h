/* SPDX-License-Identifier: MIT
 * Dilation and erosion: the largest, or the smallest, sample of a square window around each pixel. */
#ifndef BLURD_FILTERS_MORPHOLOGY_MORPHOLOGY_H
#define BLURD_FILTERS_MORPHOLOGY_MORPHOLOGY_H

#include "filters/argument/edge.h"
#include "filters/definition.h"

enum { MORPHOLOGY_RADIUS_MAX = 25 };

struct morphology_arguments {
    int radius; /* 1 to MORPHOLOGY_RADIUS_MAX: a window has 2 radius + 1 pixels a side */
    int edge;   /* enum edge, without EDGE_FRAME */
};

struct morphology_plan {
    uint8_t radius; /* in pixels */
    uint8_t edge;   /* enum edge */
};

extern const struct filter filter_dilate;
extern const struct filter filter_erode;

#endif
