/* SPDX-License-Identifier: MIT */
#include "filters/redact/redact.h"

static const struct argument no_arguments[] = {{.name = NULL}};

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    static const struct adjust_arguments nothing = {
        .brightness = 1, .contrast = 1, .saturation = 1, .gamma = 1, .keep_model = true};
    (void)arguments;
    return filter_adjust.plan(&nothing, shape, planned, err);
}

static bool planar(const void *arguments, const struct image_shape *shape) {
    (void)arguments;
    (void)shape;
    return true;
}

static struct filter_reach reach(const void *planned) {
    (void)planned;
    return (struct filter_reach){.grid = 1};
}

static bool valid(const void *planned, const struct image_shape *shape) {
    return ((const struct adjust_plan *)planned)->model == (uint8_t)shape->model &&
           filter_adjust.valid(planned, shape);
}

/* Flat. */
static uint32_t redacts(const void *arguments) {
    (void)arguments;
    return 0;
}

const struct filter filter_redact = {
    .name = "redact",
    .help = "What is named or found is overwritten for good: boxes of one colour.",
    .example = "detect=faces,text",
    .arguments = no_arguments,
    .plan = plan,
    .planar = planar,
    .valid = valid,
    .reach = reach,
    .redacts = redacts,
    .conceals = true,
    .sample_ns = {0.1F, 0.1F},
};
