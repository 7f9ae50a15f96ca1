/* SPDX-License-Identifier: MIT
 * Gaussian blur: arguments, and the plan that every backend reads. docs/filters.md
 * has the arithmetic in words; filters/blur.c derives the numbers. */
#ifndef BLURD_FILTERS_BLUR_H
#define BLURD_FILTERS_BLUR_H

#include <stdint.h>

enum edge { EDGE_CLAMP, EDGE_MIRROR, EDGE_WRAP, EDGE_ZERO };

struct blur_arguments {
    double sigma;    /* pixels of the picture, 0.1 to 500 */
    int kernel_size; /* odd, 3 to 99; 0: the full Gaussian */
    int edge;        /* enum edge */
};

enum {
    BLUR_RADIUS_MAX = 49,  /* kernel_size 99 */
    BLUR_WEIGHT_BITS = 15, /* fixed-point weights sum to 1 << 15 exactly */
    BLUR_STORE_BITS = 7,   /* fractional bits between passes: 255 << 7 fits in 16 bits signed */
    BLUR_LEVELS_MAX = 8,   /* reduction by at most 1 << 8 */
};

/* How one axis of one plane is filtered. The axis is reduced by 1 << levels, filtered
 * with 2 * radius + 1 symmetric taps, and enlarged again (levels 0: filtered only). */
struct blur_axis {
    uint8_t levels;
    uint8_t radius;
    int16_t weight[BLUR_RADIUS_MAX + 1];    /* [k]: of the samples at -k and +k; 15-bit */
    float weight_real[BLUR_RADIUS_MAX + 1]; /* the same for the floating-point path */
};

/* Plan for one picture. axis[s] belongs to axes of planes that are reduced by 1 << s
 * against the picture; only the reductions that occur are filled. */
struct blur_plan {
    uint8_t edge; /* enum edge */
    struct blur_axis axis[3];
};

#endif
