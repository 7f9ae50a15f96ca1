/* SPDX-License-Identifier: MIT
 * Gaussian blur: arguments, and the plan that every backend reads. docs/filters.md has the arithmetic. */
#ifndef BLURD_FILTERS_BLUR_BLUR_H
#define BLURD_FILTERS_BLUR_BLUR_H

#include <stdint.h>

#include "filters/argument/edge.h"
#include "filters/definition.h"

struct blur_arguments {
    double sigma;    /* pixels of the picture, 0.1 to 500 */
    int kernel_size; /* odd, 3 to 99; 0: the full Gaussian */
    int edge;        /* enum edge, without EDGE_FRAME */
};

enum {
    BLUR_RADIUS_MAX = 49,       /* kernel_size 99 */
    BLUR_REDUCED_RADIUS = 16,   /* largest radius of a reduced axis: 4 times its remaining sigma */
    BLUR_WEIGHT_BITS = 15,      /* fixed-point weights sum to 1 << 15 exactly */
    BLUR_STORE_BITS = 7,        /* fractional bits between passes: 255 << 7 fits in 16 bits signed */
    BLUR_LEVELS_MAX = 8,        /* reduction by at most 1 << 8 */
    BLUR_STAGES_MAX = 3,        /* each reduces by at most 1 << 3 */
    BLUR_STAGE_RADIUS_MAX = 14, /* 2 * (8 - 1) */
    BLUR_TAPS_ENLARGE = 4,      /* cubic B-spline */
};

/* Filter of one axis of one plane. The axis is reduced by 1 << levels, filtered with 2 * radius + 1 symmetric
 * taps, and enlarged again (levels 0: filtered only). */
struct blur_axis {
    uint8_t levels;
    uint8_t radius;
    int16_t weight[BLUR_RADIUS_MAX + 1];     /* [k]: of the samples at -k and +k; 15-bit */
    float weight_float[BLUR_RADIUS_MAX + 1]; /* the same for the floating-point path */
};

/* Plan for one picture. axis[s] belongs to axes of planes that are reduced by 1 << s against the picture;
 * only the reductions that occur are filled. */
struct blur_plan {
    uint8_t edge; /* enum edge */
    struct blur_axis axis[3];
};

/* One stage of the reduction of an axis: sample j of its result is the weighted sum of its input around
 * sample j << shift. The weights, box * box * box * box, are exact in both forms. */
struct blur_stage {
    uint8_t shift;                             /* reduces by 1 << shift: 1, 2 or 3 */
    uint8_t radius;                            /* 2 * ((1 << shift) - 1) */
    int16_t weight[BLUR_STAGE_RADIUS_MAX + 1]; /* [k]: of the samples at -k and +k; 15-bit */
    float weight_float[BLUR_STAGE_RADIUS_MAX + 1];
};

void blur_plan_make(struct blur_plan *plan, const struct blur_arguments *arguments,
                    const struct image_shape *shape);

/* Fills the stages of a reduction by 1 << levels, in order, and returns their number: by 8 as often as
 * possible, then by the rest. */
unsigned blur_stages(unsigned levels, struct blur_stage stage[BLUR_STAGES_MAX]);

/* Fills the weights of the low-resolution samples u-1 .. u+2 for full-resolution position (u << levels) +
 * phase, phase < 1 << levels. The 15-bit form sums to 1 << 15 exactly. */
void blur_enlarge(unsigned levels, unsigned phase, int16_t weight[BLUR_TAPS_ENLARGE],
                  float weight_float[BLUR_TAPS_ENLARGE]);

/* The sample outside a plane under EDGE_ZERO, which is black: 128 for Cb and Cr of PIXEL_YCBCR, else 0. In
 * samples of the picture. */
unsigned blur_border(enum pixel_model model, unsigned plane);

/* Whether planning could have made every number for this shape. Checks plans of other processes. */
bool blur_plan_valid(const struct blur_plan *plan, const struct image_shape *shape);

/* What pixels depend on (filters/definition.h). */
struct filter_reach blur_plan_reach(const struct blur_plan *plan);

extern const struct filter filter_blur;

#endif
