/* SPDX-License-Identifier: MIT */
#include "gpu/filters/filters.h"

#include "gpu/stream/launch.h"

enum { MIRROR_WIDTH = 128, MIRROR_HEIGHT = 32 }; /* tiles of a picture that is not transposed */

enum status gpu_orient(struct gpu_stream *stream, const struct image *source, uint8_t orientation,
                       const struct image *target, struct error *err) {
    struct orient_turn turn = orient_turn(orientation);
    struct orient_pass pass = {.planes = source->plane_count,
                               .mirror_x = turn.mirror_x,
                               .mirror_y = turn.mirror_y,
                               .size = source->plane[0].channels * (source->depth / 8)};
    struct gpu_blocks blocks = {
        0, KERNEL_THREADS_Y,
        turn.transpose ? KERNEL_ORIENT_TILE * KERNEL_ORIENT_STRIDE * (unsigned)pass.size : 0};
    int32_t width = turn.transpose ? KERNEL_ORIENT_TILE : MIRROR_WIDTH;
    int32_t height = turn.transpose ? KERNEL_ORIENT_TILE : MIRROR_HEIGHT;
    for (int32_t p = 0; p < pass.planes; p++) {
        struct orient_plane *plane = &pass.plane[p];
        plane->source = gpu_launch_grid(&source->plane[p], EDGE_CLAMP);
        plane->target = gpu_launch_grid(&target->plane[p], EDGE_CLAMP);
        plane->tiles = gpu_launch_tiles(&plane->target, width, height, 0, &blocks.count);
    }
    return gpu_launch(stream, turn.transpose ? KERNEL_orient_transpose : KERNEL_orient_mirror, &pass, blocks,
                      err);
}
