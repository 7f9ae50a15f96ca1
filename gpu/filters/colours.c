/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/bytes.h"
#include "filters/colour/light.h"
#include "gpu/filters/filters.h"
#include "gpu/stream/launch.h"

enum {
    TILE_WIDTH = 128,
    TILE_HEIGHT = 32,
    BLOCK_SIDE = 8,
    SMOOTH_WIDTH = 3 /* least chroma samples a row */
};

/* libjpeg mixes samples of chroma that is halved along one axis or both, in rows that are not too short. */
static bool is_smooth(const struct plane *chroma) {
    bool wide = chroma->shift_x == 1 && chroma->shift_y <= 1 && chroma->width >= SMOOTH_WIDTH;
    return wide || (chroma->shift_x == 0 && chroma->shift_y == 1);
}

static struct colours_pass pass_of(const struct image *planes, const struct image *pixels) {
    struct colours_pass pass = {.pixels = gpu_launch_grid(&pixels->plane[0], EDGE_CLAMP),
                                .shift_x = planes->plane[1].shift_x,
                                .shift_y = planes->plane[1].shift_y,
                                .smooth = is_smooth(&planes->plane[1])};
    for (unsigned i = 0; i < planes->plane_count; i++) {
        pass.plane[i] = gpu_launch_grid(&planes->plane[i], EDGE_CLAMP);
    }
    return pass;
}

/* In linear light the launch has a table, and so has the shared memory of each block. */
static enum status start(struct gpu_stream *stream, const struct colours_pass *pass, bool linear,
                         enum kernel kernel, enum kernel linear_kernel, const uint16_t *table, unsigned count,
                         struct error *err) {
    struct colours_linear_pass whole = {.pass = *pass};
    struct gpu_blocks blocks = {count, KERNEL_THREADS_Y, linear ? sizeof whole.table : 0};
    if (!linear) {
        return gpu_launch(stream, kernel, &whole.pass, blocks, err);
    }
    memcpy(whole.table, table, sizeof whole.table);
    return gpu_launch(stream, linear_kernel, &whole, blocks, err);
}

enum status gpu_ycc_to_rgb(struct gpu_stream *stream, const struct image *planes, const struct image *pixels,
                           struct error *err) {
    struct colours_pass pass = pass_of(planes, pixels);
    unsigned count = 0;
    pass.tiles = gpu_launch_tiles(&pass.pixels, TILE_WIDTH, TILE_HEIGHT, 0, &count);
    return start(stream, &pass, pixels->depth == 16, KERNEL_ycc_to_rgb, KERNEL_ycc_to_rgb_linear,
                 light_table()->light, count, err);
}

enum status gpu_rgb_to_ycc(struct gpu_stream *stream, const struct image *pixels, struct image *planes,
                           struct error *err) {
    unsigned count = 0;
    for (unsigned i = 1; i < planes->plane_count; i++) {
        planes->plane[i].width = (uint32_t)bytes_align_up(planes->plane[i].width, BLOCK_SIDE);
    }
    struct colours_pass pass = pass_of(planes, pixels);
    pass.tiles = gpu_launch_tiles(&pass.plane[1], TILE_WIDTH, TILE_HEIGHT, 0, &count);
    return start(stream, &pass, pixels->depth == 16, KERNEL_rgb_to_ycc, KERNEL_rgb_to_ycc_linear,
                 light_table()->least, count, err);
}
