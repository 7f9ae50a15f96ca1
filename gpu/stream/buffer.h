/* SPDX-License-Identifier: MIT
 * Device memory that grows to a high-water mark. Inside the engine process only.
 *
 * cuMemFree waits for the kernels of all streams. So buffers come from the device's memory pool and go back
 * to it in the order of a stream, for which no other stream waits. The driver does not count what a pool
 * keeps for later, so this module does: buffers (device->memory_kept) and what they have given back to the
 * pool (device->memory_spare) together take at most device->memory_share, or what the buffers take alone.
 * Each engine process counts its own memory. A device without pools uses cuMemAlloc and cuMemFree. */
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

/* Frees the memory, which no enqueued work may use; an empty buffer is allowed. */
void gpu_buffer_finish(struct gpu_buffer *buffer, struct gpu_device *device);

/* Gives the memory that buffers have freed from the pool to the driver, for other processes. Thread-safe. */
void gpu_buffer_empty_pool(struct gpu_device *device);

#endif
