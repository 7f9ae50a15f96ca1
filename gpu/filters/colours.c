/* SPDX-License-Identifier: MIT */
#include "core/bytes.h"
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

enum status gpu_colours_join(struct gpu_stream *stream, const struct image *planes,
                             const struct image *pixels, struct error *err) {
    struct colours_pass pass = pass_of(planes, pixels);
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, 0};
    pass.tiles = gpu_launch_tiles(&pass.pixels, TILE_WIDTH, TILE_HEIGHT, 0, &blocks.count);
    return gpu_launch(stream, KERNEL_colours_join, &pass, blocks, err);
}

enum status gpu_colours_split(struct gpu_stream *stream, const struct image *pixels, struct image *planes,
                              struct error *err) {
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, 0};
    for (unsigned i = 1; i < planes->plane_count; i++) {
        planes->plane[i].width = (uint32_t)bytes_align_up(planes->plane[i].width, BLOCK_SIDE);
    }
    struct colours_pass pass = pass_of(planes, pixels);
    pass.tiles = gpu_launch_tiles(&pass.plane[1], TILE_WIDTH, TILE_HEIGHT, 0, &blocks.count);
    return gpu_launch(stream, KERNEL_colours_split, &pass, blocks, err);
}
