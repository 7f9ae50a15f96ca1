/* SPDX-License-Identifier: MIT */
#include "filters/median/median.h"

static const struct argument median_table[] = {
    {
        .name = "radius",
        .type = ARGUMENT_WHOLE,
        .offset = offsetof(struct median_arguments, radius),
        .minimum = 1,
        .maximum = MEDIAN_RADIUS_MAX,
        .initial = 1,
        .unit = " pixels",
        .help = "Distance from a pixel to the sides of its window, a square of 2 radius + 1 pixels a side.",
    },
    {
        .name = "edge",
        .type = ARGUMENT_CHOICE,
        .offset = offsetof(struct median_arguments, edge),
        .initial = EDGE_CLAMP,
        .choices = edge_names,
        .help = "What lies outside the picture, as for the blur.",
    },
    {.name = NULL},
};

static bool whole_in_planes(uint32_t radius, const struct image_shape *shape) {
    return shape->model != PIXEL_YCBCR ||
           (radius % (1u << shape->chroma_shift_x) == 0 && radius % (1u << shape->chroma_shift_y) == 0);
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    (void)shape;
    (void)err; /* all arguments are valid */
    const struct median_arguments *median = arguments;
    struct median_plan *plan = planned;
    plan->radius = (uint8_t)median->radius;
    plan->edge = (uint8_t)median->edge;
    return ST_OK;
}

static bool planar(const void *arguments, const struct image_shape *shape) {
    return whole_in_planes((uint32_t)((const struct median_arguments *)arguments)->radius, shape);
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct median_plan *plan = planned;
    return plan->radius >= 1 && plan->radius <= MEDIAN_RADIUS_MAX && plan->edge <= EDGE_ZERO &&
           whole_in_planes(plan->radius, shape);
}

static bool paints(const void *arguments) {
    return ((const struct median_arguments *)arguments)->edge == EDGE_ZERO;
}

/* Small windows are sorted by networks, unless pixels have weights. */
static struct filter_reach reach(const void *planned) {
    const struct median_plan *plan = planned;
    return (struct filter_reach){.pixels = plan->radius, .grid = 1, .wraps = plan->edge == EDGE_WRAP};
}

static float cost(const void *arguments, const void *plan, const struct cost_shape *shape, bool real) {
    static const float histogram_ns[2] = {20, 70}, network_ns[2] = {2, 3.3F}; /* by bytes of a sample */
    const float alpha_ns = 28;                                                /* of 8 bits */
    const int network_radius = 2;
    const struct median_arguments *median = arguments;
    float ns = histogram_ns[shape->wide];
    if (median->radius <= network_radius && !shape->alpha) {
        ns = network_ns[shape->wide];
    } else if (shape->alpha && !shape->wide) {
        ns = alpha_ns;
    }
    (void)plan;
    (void)real;
    return ns * cost_windows(shape, median->radius);
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_PLANES, &(const struct median_arguments){4, EDGE_CLAMP}, false},
    {FILTER_SAMPLE_SMALL(PIXEL_RGBA, 8), &(const struct median_arguments){3, EDGE_WRAP}, false},
    {.arguments = NULL},
};

const struct filter filter_median = {
    .name = "median",
    .help = "The median of a window: removes specks and keeps edges.",
    .example = "radius=1",
    .arguments = median_table,
    .plan = plan,
    .planar = planar,
    .valid = valid,
    .reach = reach,
    .paints = paints,
    .cost = cost,
    .device_sample_ns = 0.1F, /* for every radius */
    .samples = samples,
};
