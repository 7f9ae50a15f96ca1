/* SPDX-License-Identifier: MIT */
#include "gpu/filters/filters.h"

#include "core/bytes.h"
#include "gpu/stream/launch.h"

enum status gpu_morphology(struct gpu_stream *stream, const struct morphology_plan *plan, bool largest,
                           const struct image *source, const struct image *target, struct error *err) {
    const struct plane *plane = &source->plane[0];
    struct morphology_pass pass = {
        .source = gpu_launch_grid(plane, (enum edge)plan->edge),
        .target = gpu_launch_grid(&target->plane[0], EDGE_CLAMP),
        .channels = plane->channels,
        .depth = source->depth,
        .alpha = image_pixel_has_alpha(source->model),
        .radius = plan->radius,
        .largest = largest,
    };
    const size_t samples = (size_t)plane->width * plane->channels;
    const size_t stride = bytes_align_up(samples * sizeof(uint32_t), IMAGE_ALIGNMENT);
    CUdeviceptr middle = 0;
    enum status status = gpu_stream_scratch(stream, stride * plane->height, &middle, err);
    if (status != ST_OK) {
        return status;
    }
    pass.middle = (struct kernel_grid){.data = middle,
                                       .stride = (int64_t)stride,
                                       .width = (int32_t)samples,
                                       .height = (int32_t)plane->height};
    struct gpu_blocks columns = {0, KERNEL_THREADS_Y, 0}, rows = {0, KERNEL_THREADS_Y, 0};
    pass.columns = gpu_launch_tiles(&pass.middle, KERNEL_THREADS_X, KERNEL_THREADS_Y * KERNEL_RANK_RUN, 0,
                                    &columns.count);
    pass.rows =
        gpu_launch_tiles(&pass.target, KERNEL_THREADS_X * KERNEL_RANK_RUN, KERNEL_THREADS_Y, 0, &rows.count);
    status = gpu_launch(stream, KERNEL_morphology_columns, &pass, columns, err);
    return status == ST_OK ? gpu_launch(stream, KERNEL_morphology_rows, &pass, rows, err) : status;
}

/* Samples of a tile with its margins, and their weights. */
static unsigned shared_bytes(const struct median_plan *plan, bool alpha) {
    unsigned side = KERNEL_MEDIAN_TILE + 2u * plan->radius;
    return side * side * (unsigned)sizeof(uint16_t) * (alpha ? 2 : 1);
}

enum status gpu_median(struct gpu_stream *stream, const struct median_plan *plan, const struct image *source,
                       const struct image *target, struct error *err) {
    struct median_pass pass = {
        .planes = source->plane_count,
        .channels = source->plane[0].channels,
        .depth = source->depth,
        .alpha = image_pixel_has_alpha(source->model),
    };
    struct gpu_blocks blocks = {0, KERNEL_THREADS_Y, shared_bytes(plan, pass.alpha)};
    for (int32_t p = 0; p < pass.planes; p++) {
        struct median_plane *plane = &pass.plane[p];
        plane->source = gpu_launch_grid(&source->plane[p], (enum edge)plan->edge);
        plane->target = gpu_launch_grid(&target->plane[p], EDGE_CLAMP);
        plane->tiles =
            gpu_launch_tiles(&plane->target, KERNEL_MEDIAN_TILE, KERNEL_MEDIAN_TILE, 0, &blocks.count);
        plane->radius_x = plan->radius >> source->plane[p].shift_x;
        plane->radius_y = plan->radius >> source->plane[p].shift_y;
        plane->border = p > 0 ? 128 : 0;
    }
    return gpu_launch(stream, KERNEL_median_tiles, &pass, blocks, err);
}
