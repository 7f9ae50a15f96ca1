/* SPDX-License-Identifier: MIT */
#include "gpu/stream/buffer.h"

#include <stdatomic.h>

#include "core/bytes.h"
#include "core/poison.h"

/* What a buffer grows by, so that pictures of slightly rising size do not allocate each time. */
static const size_t buffer_step = (size_t)1 << 20;

/* Fills the buffer in builds that look for memory read before it is written (core/poison.h). */
static enum status fill_poison(const struct gpu_buffer *buffer, const struct gpu_device *device,
                               CUstream stream, struct error *err) {
    if (poison_byte() < 0) {
        return ST_OK;
    }
    return CUDA_TRY(device->cuda, err, cuMemsetD8Async, buffer->data, (unsigned char)poison_byte(),
                    buffer->size, stream);
}

enum status gpu_buffer_reserve(struct gpu_buffer *buffer, struct gpu_device *device, CUstream stream,
                               size_t size, struct error *err) {
    const struct cuda *cuda = device->cuda;
    if (size <= buffer->size) {
        return fill_poison(buffer, device, stream, err);
    }
    if (buffer->data) {
        enum status status = CUDA_TRY(cuda, err, cuMemFree, buffer->data);
        atomic_fetch_sub(&device->memory_kept, buffer->size);
        *buffer = (struct gpu_buffer){0};
        if (status != ST_OK) {
            return status;
        }
    }
    size = align_up(size, buffer_step);
    CUdeviceptr data = 0;
    enum status status = CUDA_TRY(cuda, err, cuMemAlloc, &data, size);
    if (status == ST_OK) {
        *buffer = (struct gpu_buffer){data, size};
        atomic_fetch_add(&device->memory_kept, size);
        /* Kernels also read the padding of rows, in whole groups. The results are not used, but other
         * programs' data must not be read. */
        status = CUDA_TRY(cuda, err, cuMemsetD8Async, data, 0, size, stream);
    }
    return status == ST_OK ? fill_poison(buffer, device, stream, err) : status;
}

void gpu_buffer_finish(struct gpu_buffer *buffer, struct gpu_device *device) {
    if (buffer->data) {
        device->cuda->cuMemFree(buffer->data); /* a failure changes nothing */
        atomic_fetch_sub(&device->memory_kept, buffer->size);
    }
    *buffer = (struct gpu_buffer){0};
}
