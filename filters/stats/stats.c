/* SPDX-License-Identifier: MIT */
#include "filters/stats/stats.h"

static const struct argument stats_table[] = {{.name = NULL}};

/* 16 bits, since such planes are not padded to whole MCUs. */
struct image_shape stats_shape(void) {
    return (struct image_shape){
        .model = PIXEL_GRAY, .depth = 16, .width = sizeof(struct stats) / sizeof(uint16_t), .height = 1};
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    (void)arguments;
    (void)shape;
    (void)planned;
    (void)err;
    return ST_OK;
}

static void result(const void *planned, struct image_shape *shape) {
    (void)planned;
    *shape = stats_shape();
}

static bool valid(const void *planned, const struct image_shape *shape) {
    (void)planned;
    return shape->model != PIXEL_YCBCR;
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct none_arguments){0}, true},
    {.arguments = NULL},
};

const struct filter filter_stats = {
    .name = "stats",
    .help = "Mean, extremes, standard deviation and histogram of each channel.",
    .arguments = stats_table,
    .plan = plan,
    .result = result,
    .answer = ANSWER_STATISTICS,
    .valid = valid,
    .sample_ns = {0.4F, 1},
    .samples = samples,
};
