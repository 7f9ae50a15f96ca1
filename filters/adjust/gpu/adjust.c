/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"

#include <string.h>

#include "gpu/stream/launch.h"

enum { TILE_WIDTH = 128, TILE_HEIGHT = 32 };

_Static_assert((int)ADJUST_CURVE == KERNEL_CURVE && (int)ADJUST_FINE == KERNEL_CURVE_FINE,
               "the kernels know the curve");

static enum status run(struct gpu_stream *stream, const void *planned, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct adjust_plan *plan = planned;
    (void)mask;
    bool alpha = image_pixel_has_alpha(source->model);
    bool from = source->plane[0].channels - alpha > 1, to = target->plane[0].channels - alpha > 1;
    struct adjust_pass pass = {
        .planes = target->plane_count, .depth = source->depth, .alpha = alpha, .curved = plan->curved};
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, sizeof plan->curve};
    for (int32_t p = 0; p < pass.planes; p++) {
        struct adjust_plane *plane = &pass.plane[p];
        plane->source = gpu_launch_grid(&source->plane[p], EDGE_CLAMP);
        plane->target = gpu_launch_grid(&target->plane[p], EDGE_CLAMP);
        plane->tiles = gpu_launch_tiles(&plane->target, TILE_WIDTH, TILE_HEIGHT, 0, &blocks.count);
    }
    memcpy(pass.matrix, plan->matrix, sizeof pass.matrix);
    memcpy(pass.curve, plan->curve, sizeof pass.curve);
    enum kernel kernel = from ? to ? KERNEL_adjust_3_3 : KERNEL_adjust_3_1
                         : to ? KERNEL_adjust_1_3
                              : KERNEL_adjust_1_1;
    return gpu_launch(stream, kernel, &pass, blocks, err);
}

const struct gpu_filter gpu_filter_adjust = {.run = run};
const struct gpu_filter gpu_filter_redact = {.run = run}; /* an adjustment, too */
