/* SPDX-License-Identifier: MIT */
#include "filters/placeholder/placeholder.h"

#define AT(member) offsetof(struct placeholder_arguments, member)

static const struct argument placeholder_table[] = {
    {
        .name = "components_x",
        .type = ARGUMENT_WHOLE,
        .offset = AT(components_x),
        .minimum = 1,
        .maximum = PLACEHOLDER_COMPONENTS_MAX,
        .initial = 4,
        .help = "Components of the BlurHash across the picture.",
    },
    {
        .name = "components_y",
        .type = ARGUMENT_WHOLE,
        .offset = AT(components_y),
        .minimum = 1,
        .maximum = PLACEHOLDER_COMPONENTS_MAX,
        .initial = 3,
        .help = "Components of the BlurHash down the picture.",
    },
    {.name = NULL},
};

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    static const struct resize_arguments thumbnail = {
        .width = PLACEHOLDER_SIDE, .height = PLACEHOLDER_SIDE, .fit = RESIZE_INSIDE, .kernel = RESIZE_AREA};
    (void)arguments; /* they matter after the thumbnail is made */
    return filter_resize.plan(&thumbnail, shape, &((struct placeholder_plan *)planned)->resize, err);
}

static void result(const void *planned, struct image_shape *shape) {
    filter_resize.result(&((const struct placeholder_plan *)planned)->resize, shape);
}

static bool valid(const void *planned, const struct image_shape *shape) {
    const struct resize_plan *resize = &((const struct placeholder_plan *)planned)->resize;
    return shape->model != PIXEL_YCBCR && filter_resize.valid(resize, shape) &&
           resize->x.canvas <= PLACEHOLDER_SIDE && resize->y.canvas <= PLACEHOLDER_SIDE;
}

/* Hashes and colours of the thumbnail, and the files that are tried for the data URL. */
static float cost(const void *arguments, const void *made, const struct cost_shape *shape, bool real) {
    const float files_ns = 400e3F, thumbnail_ns = 60; /* a pixel of it */
    const struct placeholder_plan *plan = made;
    (void)arguments;
    if (!plan) {
        return filter_placeholder.sample_ns[real] * cost_samples(shape, COST_ALONE) + files_ns;
    }
    float pixels = (float)plan->resize.x.canvas * (float)plan->resize.y.canvas;
    return resize_cost(&plan->resize, shape, real) + files_ns + thumbnail_ns * pixels;
}

const struct filter filter_placeholder = {
    .name = "placeholder",
    .help = "BlurHash, ThumbHash, colours and a data URL, to show before the picture.",
    .arguments = placeholder_table,
    .plan = plan,
    .result = result,
    .answer = ANSWER_PLACEHOLDER,
    .moves = true,
    .valid = valid,
    .sample_ns = {0.4F, 0.8F},
    .cost = cost,
};
