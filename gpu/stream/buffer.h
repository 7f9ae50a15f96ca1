/* SPDX-License-Identifier: MIT
 * Device memory that grows to a high-water mark. Inside the engine process only. */
#ifndef BLURD_GPU_STREAM_BUFFER_H
#define BLURD_GPU_STREAM_BUFFER_H

#include "gpu/cuda/device.h"

struct gpu_buffer {
    CUdeviceptr data;
    size_t size;
};

/* Makes the buffer hold at least `size` bytes, aligned to 256; its contents are lost. The stream fills new
 * memory with 0, and device->memory_kept counts it. ST_BUSY without device memory, else ST_DEVICE. */
enum status gpu_buffer_reserve(struct gpu_buffer *buffer, struct gpu_device *device, CUstream stream,
                               size_t size, struct error *err);

/* Frees the memory; an empty buffer is allowed. */
void gpu_buffer_finish(struct gpu_buffer *buffer, struct gpu_device *device);

#endif
