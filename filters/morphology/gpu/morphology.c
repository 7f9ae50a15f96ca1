/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"

#include "core/bytes.h"
#include "gpu/stream/launch.h"

static enum status run(struct gpu_stream *stream, const struct morphology_plan *plan, bool largest,
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

static enum status dilate(struct gpu_stream *stream, const void *plan, const struct image *source,
                          const struct image *mask, const struct image *target, struct error *err) {
    (void)mask;
    return run(stream, plan, true, source, target, err);
}

static enum status erode(struct gpu_stream *stream, const void *plan, const struct image *source,
                         const struct image *mask, const struct image *target, struct error *err) {
    (void)mask;
    return run(stream, plan, false, source, target, err);
}

const struct gpu_filter gpu_filter_dilate = {.run = dilate};
const struct gpu_filter gpu_filter_erode = {.run = erode};
