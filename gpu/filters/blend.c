/* SPDX-License-Identifier: MIT */
#include "gpu/filters/filters.h"

#include "gpu/stream/launch.h"

enum status gpu_blend(struct gpu_stream *stream, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err) {
    struct blend_pass pass = {
        .mask = gpu_launch_grid(&mask->plane[0], EDGE_CLAMP),
        .planes = source->plane_count,
        .channels = source->plane[0].channels,
        .depth = source->depth,
        .alpha = image_pixel_has_alpha(source->model),
    };
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, 0};
    for (int32_t p = 0; p < pass.planes; p++) {
        struct blend_plane *plane = &pass.plane[p];
        plane->source = gpu_launch_grid(&source->plane[p], EDGE_CLAMP);
        plane->target = gpu_launch_grid(&target->plane[p], EDGE_CLAMP);
        plane->tiles =
            gpu_launch_tiles(&plane->target, KERNEL_BLEND_WIDTH, KERNEL_THREADS_Y, 0, &blocks.count);
        plane->shift_x = source->plane[p].shift_x;
        plane->shift_y = source->plane[p].shift_y;
    }
    return gpu_launch(stream, KERNEL_blend, &pass, blocks, err);
}
