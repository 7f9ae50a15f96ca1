/* SPDX-License-Identifier: MIT
 * Grids over planes, tiles over grids, and the launch of a kernel. */
#ifndef BLURD_GPU_STREAM_LAUNCH_H
#define BLURD_GPU_STREAM_LAUNCH_H

#include "filters/argument/edge.h"
#include "gpu/cuda/kernels.h"
#include "gpu/stream/stream.h"
#include "gpu/stream/task.h"

/* The grid of a plane on the device. Along an axis with one sample, mirror and wrap become clamp. EDGE_FRAME
 * reads as EDGE_ZERO. */
struct kernel_grid gpu_launch_grid(const struct plane *plane, enum edge edge);

/* Cuts `target` into tiles, which follow the *blocks tiles already in the launch, and adds to *blocks. */
struct kernel_tiles gpu_launch_tiles(const struct kernel_grid *target, int32_t width, int32_t height,
                                     int32_t columns, unsigned *blocks);

/* Enqueues the kernel; while the stream gathers launches (gpu_stream_gather), with the next ones. */
enum status gpu_launch(struct gpu_stream *stream, enum kernel kernel, void *pass, struct gpu_blocks blocks,
                       struct error *err);

/* As gpu_launch, but the kernel's blocks begin before waiting blocks of other streams. Meant for kernels of
 * few blocks, since the rest of a picture waits for them. Without priorities in the driver the same as
 * gpu_launch. */
enum status gpu_launch_urgent(struct gpu_stream *stream, enum kernel kernel, void *pass,
                              struct gpu_blocks blocks, struct error *err);

#endif
