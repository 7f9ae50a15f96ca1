/* SPDX-License-Identifier: MIT */
#include "gpu/stream/launch.h"

#include "gpu/stream/batch.h"

_Static_assert((int)EDGE_CLAMP == KERNEL_CLAMP && (int)EDGE_MIRROR == KERNEL_MIRROR &&
                   (int)EDGE_WRAP == KERNEL_WRAP && (int)EDGE_ZERO == KERNEL_ZERO,
               "kernels have the edges of filters/argument/edge.h");
_Static_assert((int)IMAGE_PLANES_MAX == KERNEL_PLANES, "and as many planes");

static int32_t kernel_edge(enum edge edge, uint32_t size) {
    if (edge == EDGE_FRAME) {
        return KERNEL_ZERO;
    }
    return size == 1 && (edge == EDGE_MIRROR || edge == EDGE_WRAP) ? KERNEL_CLAMP : (int32_t)edge;
}

struct kernel_grid gpu_launch_grid(const struct plane *plane, enum edge edge) {
    return (struct kernel_grid){
        .data = (uint64_t)(uintptr_t)plane->data,
        .stride = (int64_t)plane->stride,
        .width = (int32_t)plane->width,
        .height = (int32_t)plane->height,
        .edge_x = kernel_edge(edge, plane->width),
        .edge_y = kernel_edge(edge, plane->height),
    };
}

struct kernel_tiles gpu_launch_tiles(const struct kernel_grid *target, int32_t width, int32_t height,
                                     int32_t columns, unsigned *blocks) {
    struct kernel_tiles tiles = {
        .first_tile = (int32_t)*blocks,
        .tiles_x = (target->width + width - 1) / width,
        .width = width,
        .height = height,
        .columns = columns,
    };
    tiles.inverse = tiles.tiles_x > 1 ? UINT32_MAX / (uint32_t)tiles.tiles_x + 1 : 0;
    *blocks += (unsigned)(tiles.tiles_x * ((target->height + height - 1) / height));
    return tiles;
}

static enum status launch(struct gpu_stream *stream, const struct gpu_task *task, void *pass,
                          struct error *err) {
    return stream->gathers ? gpu_batch_add(stream->batch, task, pass, err)
                           : gpu_task_launch(task, stream->device, stream->handle, pass, err);
}

enum status gpu_launch(struct gpu_stream *stream, enum kernel kernel, void *pass, struct gpu_blocks blocks,
                       struct error *err) {
    const struct gpu_task task = {kernel, blocks, false};
    return launch(stream, &task, pass, err);
}

enum status gpu_launch_urgent(struct gpu_stream *stream, enum kernel kernel, void *pass,
                              struct gpu_blocks blocks, struct error *err) {
    const struct gpu_task task = {kernel, blocks, true};
    return launch(stream, &task, pass, err);
}
