/* SPDX-License-Identifier: MIT */
#include "filters/pixelate/pixelate.h"

static const struct argument pixelate_table[] = {
    {
        .name = "block",
        .type = ARGUMENT_WHOLE,
        .offset = offsetof(struct pixelate_arguments, block),
        .minimum = 1,
        .maximum = PIXELATE_BLOCK_MAX,
        .initial = 16,
        .unit = " pixels",
        .help = "Side of a tile in pixels.",
    },
    {.name = NULL},
};

static bool whole_in_planes(uint32_t block, const struct image_shape *shape) {
    return shape->model != PIXEL_YCBCR ||
           (block % (1u << shape->chroma_shift_x) == 0 && block % (1u << shape->chroma_shift_y) == 0);
}

static enum status plan(const void *arguments, const struct image_shape *shape, void *planned,
                        struct error *err) {
    (void)shape;
    (void)err; /* every block is valid */
    struct pixelate_plan *plan = planned;
    plan->block = (uint32_t)((const struct pixelate_arguments *)arguments)->block;
    return ST_OK;
}

static bool planar(const void *arguments, const struct image_shape *shape) {
    return whole_in_planes((uint32_t)((const struct pixelate_arguments *)arguments)->block, shape);
}

static bool valid(const void *planned, const struct image_shape *shape) {
    uint32_t block = ((const struct pixelate_plan *)planned)->block;
    return block >= 1 && block <= PIXELATE_BLOCK_MAX && whole_in_planes(block, shape);
}

static struct filter_reach reach(const void *planned) {
    return (struct filter_reach){.grid = ((const struct pixelate_plan *)planned)->block};
}

static uint32_t redacts(const void *arguments) {
    return (uint32_t)((const struct pixelate_arguments *)arguments)->block;
}

static float cost(const void *arguments, const void *plan, const struct cost_shape *shape, bool real) {
    const float tile_ns = 2.5F; /* a tile and channel */
    float block = (float)((const struct pixelate_arguments *)arguments)->block;
    (void)plan;
    return ((real ? 1 : 0.15F) + tile_ns / (block * block)) * cost_samples(shape, COST_ALONE);
}

static const struct filter_sample samples[] = {
    {FILTER_SAMPLE_PLANES, &(const struct pixelate_arguments){8}, true},
    {FILTER_SAMPLE_LARGE(PIXEL_RGB, 8), &(const struct pixelate_arguments){130}, false},
    {.arguments = NULL},
};

const struct filter filter_pixelate = {
    .name = "pixelate",
    .help = "Tiles of one colour.",
    .example = "block=16",
    .arguments = pixelate_table,
    .plan = plan,
    .planar = planar,
    .valid = valid,
    .reach = reach,
    .redacts = redacts,
    .cost = cost,
    .samples = samples,
};
