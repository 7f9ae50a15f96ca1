/* SPDX-License-Identifier: MIT */
#include "filters/morphology/morphology.h"

static const struct argument morphology_table[] = {
    {
        .name = "radius",
        .type = ARGUMENT_WHOLE,
        .offset = offsetof(struct morphology_arguments, radius),
        .minimum = 1,
        .maximum = MORPHOLOGY_RADIUS_MAX,
        .initial = 1,
        .unit = " pixels",
        .help = "Distance from a pixel to the sides of its window, a square of 2 radius + 1 pixels a side.",
    },
    {
        .name = "edge",
        .type = ARGUMENT_CHOICE,
        .offset = offsetof(struct morphology_arguments, edge),
        .initial = EDGE_CLAMP,
        .choices = edge_names,
        .help = "What lies outside the picture, as for the blur.",
    },
    {.name = NULL},
};

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    (void)shape;
    (void)err; /* all arguments are valid */
    const struct morphology_arguments *morphology = arguments;
    struct morphology_plan *plan = planned;
    plan->radius = (uint8_t)morphology->radius;
    plan->edge = (uint8_t)morphology->edge;
    return ST_OK;
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct morphology_plan *plan = planned;
    return shape->model != PIXEL_YCBCR && plan->radius >= 1 && plan->radius <= MORPHOLOGY_RADIUS_MAX &&
           plan->edge <= EDGE_ZERO;
}

static struct filter_reach reach(const void *planned) {
    const struct morphology_plan *plan = planned;
    return (struct filter_reach){.pixels = plan->radius, .grid = 1, .wraps = plan->edge == EDGE_WRAP};
}

static float cost(const void *arguments, const void *plan, const struct cost_shape *shape, bool real) {
    const struct morphology_arguments *morphology = arguments;
    (void)plan;
    return (real ? 2.2F : 0.6F) * cost_windows(shape, morphology->radius);
}

static const struct filter_sample dilate_samples[] = {
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct morphology_arguments){7, EDGE_MIRROR}, true},
    {.arguments = NULL},
};

const struct filter filter_dilate = {
    .name = "dilate",
    .help = "Bright areas grow.",
    .example = "radius=1",
    .arguments = morphology_table,
    .plan = plan,
    .valid = valid,
    .reach = reach,
    .cost = cost,
    .samples = dilate_samples,
};

static const struct filter_sample erode_samples[] = {
    {FILTER_SAMPLE_SMALL(PIXEL_RGBA, 16), &(const struct morphology_arguments){2, EDGE_ZERO}, false},
    {.arguments = NULL},
};

const struct filter filter_erode = {
    .name = "erode",
    .help = "Dark areas grow.",
    .example = "radius=1",
    .arguments = morphology_table,
    .plan = plan,
    .valid = valid,
    .reach = reach,
    .cost = cost,
    .samples = erode_samples,
};
