/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"

#include <string.h>

#include "gpu/stream/launch.h"

_Static_assert((int)MATRIX_SIDE_MAX == KERNEL_CONVOLVE_SIDE, "the kernel has room for every matrix");

static void fill_weights(struct convolve_pass *pass, const struct convolve_plan *plan) {
    for (unsigned y = 0; y < plan->height && !plan->separable; y++) {
        memcpy(pass->weight + (size_t)y * KERNEL_CONVOLVE_STRIDE, plan->weight + (size_t)y * plan->width,
               plan->width * sizeof *plan->weight);
    }
    if (plan->separable) {
        memcpy(pass->weight, plan->row, sizeof plan->row);
        memcpy(pass->column, plan->column, sizeof plan->column);
    }
}

/* Rows of the tile with their margins, and the excess that the last lanes read. */
static unsigned shared_bytes(const struct convolve_plan *plan) {
    unsigned values = (KERNEL_CONVOLVE_HEIGHT + plan->height - 1u) * KERNEL_COLUMNS;
    return KERNEL_ROW_TABLE * sizeof(int32_t) + (values + KERNEL_CONVOLVE_SIDE * 4) * (unsigned)sizeof(float);
}

/* Prefers the kernel for this size and kind of sample to the general one. */
static enum kernel choose_kernel(const struct convolve_pass *pass) {
    static const struct {
        int32_t side, channels;
        enum kernel kernel;
    } small[] = {
        {3, 1, KERNEL_convolve_3x3_1},
        {3, 3, KERNEL_convolve_3x3_3},
        {5, 1, KERNEL_convolve_5x5_1},
        {5, 3, KERNEL_convolve_5x5_3},
    };
    for (size_t i = 0; i < sizeof small / sizeof *small && pass->depth == 8 && !pass->alpha; i++) {
        if (pass->width == small[i].side && pass->height == small[i].side &&
            pass->channels == small[i].channels) {
            return small[i].kernel;
        }
    }
    return KERNEL_convolve;
}

static enum status run(struct gpu_stream *stream, const void *planned, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct convolve_plan *plan = planned;
    (void)mask;
    const struct plane *plane = &source->plane[0];
    struct convolve_pass pass = {
        .source = gpu_launch_grid(plane, (enum edge)plan->edge),
        .target = gpu_launch_grid(&target->plane[0], (enum edge)plan->edge),
        .channels = plane->channels,
        .depth = source->depth,
        .alpha = image_pixel_has_alpha(source->model),
        .width = plan->width,
        .height = plan->height,
        .separable = plan->separable,
        .filter_alpha = plan->alpha,
        .frame = plan->edge == EDGE_FRAME,
        .divisor = plan->divisor,
        .bias = plan->bias,
        .inverse = 1 / plan->divisor,
    };
    enum kernel kernel = choose_kernel(&pass);
    fill_weights(&pass, plan);
    if (kernel == KERNEL_convolve) {
        struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, shared_bytes(plan)};
        int32_t width = KERNEL_COLUMNS / plane->channels - (plan->width - 1);
        pass.tiles =
            gpu_launch_tiles(&pass.target, width, KERNEL_CONVOLVE_HEIGHT, KERNEL_COLUMNS, &blocks.count);
        return gpu_launch(stream, kernel, &pass, blocks, err);
    }
    struct gpu_blocks blocks = {0, KERNEL_CONVOLVE_SMALL_THREADS_Y, KERNEL_ROW_TABLE * sizeof(int32_t)};
    pass.tiles = gpu_launch_tiles(&pass.target, KERNEL_CONVOLVE_SMALL_WIDTH / plane->channels,
                                  KERNEL_CONVOLVE_SMALL_HEIGHT, 0, &blocks.count);
    return gpu_launch(stream, kernel, &pass, blocks, err);
}

const struct gpu_filter gpu_filter_convolve = {.run = run};
