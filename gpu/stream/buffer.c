/* SPDX-License-Identifier: MIT */
#include "gpu/stream/buffer.h"

#include <stdatomic.h>

#include "core/bytes.h"
#include "core/poison.h"

/* Buffers grow in these steps, so that slightly larger pictures do not allocate each time. */
static const size_t buffer_step = (size_t)1 << 20;

/* In builds that detect reads of uninitialised memory, fills the buffer (core/poison.h). */
static enum status fill_poison(const struct gpu_buffer *buffer, const struct gpu_device *device,
                               CUstream stream, struct error *err) {
    if (poison_byte() < 0) {
        return ST_OK;
    }
    return CUDA_TRY(device->cuda, err, cuMemsetD8Async, buffer->data, (unsigned char)poison_byte(),
                    buffer->size, stream);
}

void gpu_buffer_empty_pool(struct gpu_device *device) {
    if (device->pool && atomic_exchange(&device->memory_spare, 0) > 0) {
        hang_detector_slow_begin(&device->detector);
        device->cuda->cuMemPoolTrimTo(device->pool, 0);
        hang_detector_slow_end(&device->detector);
    }
}

static void count_spare(struct gpu_device *device, size_t size) {
    size_t spare = atomic_fetch_add(&device->memory_spare, size) + size;
    if (atomic_load(&device->memory_kept) + spare > device->memory_share) {
        gpu_buffer_empty_pool(device);
    }
}

/* Leaves the buffer empty. */
static enum status free_data(struct gpu_buffer *buffer, struct gpu_device *device, CUstream stream,
                             struct error *err) {
    const struct gpu_buffer freed = *buffer;
    hang_detector_slow_begin(&device->detector);
    enum status status = device->pool ? CUDA_TRY(device->cuda, err, cuMemFreeAsync, freed.data, stream)
                                      : CUDA_TRY(device->cuda, err, cuMemFree, freed.data);
    hang_detector_slow_end(&device->detector);
    *buffer = (struct gpu_buffer){0};
    atomic_fetch_sub(&device->memory_kept, freed.size);
    if (device->pool && status == ST_OK) {
        count_spare(device, freed.size);
    }
    return status;
}

static enum status allocate(struct gpu_device *device, CUstream stream, CUdeviceptr *data, size_t size,
                            struct error *err) {
    hang_detector_slow_begin(&device->detector);
    enum status status = device->pool ? CUDA_TRY(device->cuda, err, cuMemAllocAsync, data, size, stream)
                                      : CUDA_TRY(device->cuda, err, cuMemAlloc, data, size);
    hang_detector_slow_end(&device->detector);
    return status;
}

enum status gpu_buffer_reserve(struct gpu_buffer *buffer, struct gpu_device *device, CUstream stream,
                               size_t size, struct error *err) {
    if (size <= buffer->size) {
        return fill_poison(buffer, device, stream, err);
    }
    if (buffer->data) {
        enum status status = free_data(buffer, device, stream, err);
        if (status != ST_OK) {
            return status;
        }
    }
    size = bytes_align_up(size, buffer_step);
    CUdeviceptr data = 0;
    enum status status = allocate(device, stream, &data, size, err);
    if (status == ST_OK) {
        *buffer = (struct gpu_buffer){data, size};
        atomic_fetch_add(&device->memory_kept, size);
        /* Kernels read the padding of rows, too. They discard it, but must not read other programs' data. */
        status = CUDA_TRY(device->cuda, err, cuMemsetD8Async, data, 0, size, stream);
    }
    return status == ST_OK ? fill_poison(buffer, device, stream, err) : status;
}

void gpu_buffer_finish(struct gpu_buffer *buffer, struct gpu_device *device) {
    struct error ignored;
    if (buffer->data) {
        free_data(buffer, device, NULL, &ignored); /* the stream without work: all others are non-blocking */
    }
}
