/* SPDX-License-Identifier: MIT
 * Resizing: another number of pixels for the whole picture or a part of it, perhaps on a larger canvas. */
#ifndef BLURD_FILTERS_RESIZE_RESIZE_H
#define BLURD_FILTERS_RESIZE_RESIZE_H

#include "filters/argument/gravity.h"
#include "filters/blur/blur.h"
#include "filters/definition.h"
#include "filters/resize/resize_weights.h"

enum { RESIZE_SIDE_MAX = 65535 };

/* A picture is only reduced as far as the resize still shrinks it by this: docs/filters.md has the errors. */
#define RESIZE_FAST_LEAST 2.0

enum { RESIZE_REDUCTION_MAX = 3 };

/* Whether a codec may reduce the picture before it is resized. */
enum resize_shrink { RESIZE_EXACT, RESIZE_FAST };

enum resize_fit { RESIZE_INSIDE, RESIZE_CONTAIN, RESIZE_COVER, RESIZE_FILL, RESIZE_OUTSIDE };

/* What surrounds the picture: a colour, or the picture itself, which covers the canvas and is blurred. */
enum resize_ground { RESIZE_GROUND_COLOUR, RESIZE_GROUND_BLUR };

struct resize_background {
    bool given;        /* else opaque black */
    uint8_t ground;    /* enum resize_ground */
    uint8_t colour[4]; /* RESIZE_GROUND_COLOUR: red, green, blue, alpha */
    double sigma;      /* RESIZE_GROUND_BLUR: 0.1 to 500 */
};

struct resize_arguments {
    int width, height; /* 0: not given */
    double scale;      /* 0: not given */
    int fit;           /* enum resize_fit */
    int kernel;        /* enum resize_kernel */
    int shrink;        /* enum resize_shrink */
    struct gravity gravity;
    bool enlarge;
    struct resize_background background;
};

/* One axis. Pixels first to first + count - 1 of the canvas show the source; around them is background. */
struct resize_axis {
    double scale;          /* pixels of the source for a pixel of the target, above 0 */
    double begin;          /* where the target begins in the source, in pixels */
    uint32_t first, count; /* count is at least 1 */
    uint32_t canvas;       /* pixels of the result */
};

struct resize_plan {
    uint8_t kernel;     /* enum resize_kernel */
    uint8_t ground;     /* enum resize_ground */
    uint8_t coarser;    /* log2 of how much more the result's chroma planes are reduced than the source's */
    uint16_t colour[4]; /* RESIZE_GROUND_COLOUR: a sample for each channel of a pixel, or for each plane */
    struct resize_axis x, y;
    /* RESIZE_GROUND_BLUR, where a part of the canvas shows background. Both axes show source alone. */
    struct resize_axis ground_x, ground_y;
    struct blur_plan blur; /* of the canvas */
};

/* An axis in samples of a plane. */
struct resize_plane_axis {
    double scale, begin;
    uint32_t first, count, canvas;
};

/* Sides of the planes are reduced by 1 << from and 1 << to against their pictures, with to >= from. `canvas`
 * is the target plane's side. */
static inline struct resize_plane_axis resize_plane_axis(const struct resize_axis *axis, unsigned from,
                                                         unsigned to, uint32_t canvas) {
    struct resize_plane_axis plane = {axis->scale * (1u << (to - from)), axis->begin / (1u << from),
                                      axis->first >> to, 0, canvas};
    uint32_t end = axis->first + axis->count;
    plane.count = (end == axis->canvas ? canvas : end >> to) - plane.first;
    return plane;
}

/* Whether a part of the canvas shows background. */
static inline bool resize_has_background(const struct resize_plan *plan) {
    return plan->x.count < plan->x.canvas || plan->y.count < plan->y.canvas;
}

/* Whether the background is the blurred picture. */
static inline bool resize_is_blurred(const struct resize_plan *plan) {
    return plan->ground == RESIZE_GROUND_BLUR && resize_has_background(plan);
}

/* The plan that makes the background, before it is blurred by plan->blur. */
static inline struct resize_plan resize_ground_plan(const struct resize_plan *plan) {
    return (struct resize_plan){
        .kernel = plan->kernel, .coarser = plan->coarser, .x = plan->ground_x, .y = plan->ground_y};
}

/* The largest reduction, up to RESIZE_REDUCTION_MAX, that leaves RESIZE_FAST_LEAST for the resize: its source
 * may be a picture with sides divided by 1 << reduction. 0 with RESIZE_NEAREST, which needs each pixel. */
unsigned resize_reduction(const struct resize_plan *plan);

/* Changes a plan for a whole picture to one for the reduced picture. `coarser`: see struct resize_plan. */
void resize_plan_reduce(struct resize_plan *plan, unsigned reduction, unsigned coarser);

/* Changes the background of a plan for 16 bits to linear light (cpu/linear.h). */
void resize_plan_linear(struct resize_plan *plan, const struct image_shape *shape);

/* Nanoseconds on one core. */
float resize_cost(const struct resize_plan *plan, const struct cost_shape *shape, bool real);

extern const struct argument resize_argument_table[];
extern const struct filter filter_resize;

#endif
