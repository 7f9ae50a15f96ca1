/* SPDX-License-Identifier: MIT */
#include "gpu/stream/launch.h"

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

enum status gpu_launch(struct gpu_stream *stream, enum kernel kernel, void *pass, struct gpu_blocks blocks,
                       struct error *err) {
    struct gpu_device *device = stream->device;
    void *parameters[] = {pass};
    return CUDA_TRY(device->cuda, err, cuLaunchKernel, device->program.kernel[kernel], blocks.count, 1, 1,
                    KERNEL_THREADS_X, blocks.threads_y, 1, blocks.shared, stream->handle, parameters, NULL);
}

enum status gpu_launch_urgent(struct gpu_stream *stream, enum kernel kernel, void *pass,
                              struct gpu_blocks blocks, struct error *err) {
    struct gpu_device *device = stream->device;
    if (device->urgent == 0) {
        return gpu_launch(stream, kernel, pass, blocks, err);
    }
    void *parameters[] = {pass};
    CUlaunchAttribute priority = {.id = CU_LAUNCH_ATTRIBUTE_PRIORITY, .value.priority = device->urgent};
    const CUlaunchConfig config = {.gridDimX = blocks.count,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = KERNEL_THREADS_X,
                                   .blockDimY = blocks.threads_y,
                                   .blockDimZ = 1,
                                   .sharedMemBytes = blocks.shared,
                                   .hStream = stream->handle,
                                   .attrs = &priority,
                                   .numAttrs = 1};
    return CUDA_TRY(device->cuda, err, cuLaunchKernelEx, &config, device->program.kernel[kernel], parameters,
                    NULL);
}
