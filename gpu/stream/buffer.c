/* SPDX-License-Identifier: MIT */
#include "gpu/stream/buffer.h"

#include <stdatomic.h>

#include "core/bytes.h"
#include "core/poison.h"

/* What a buffer grows by, so that pictures of slightly rising size do not allocate each time. */
static const size_t buffer_step = (size_t)1 << 20;

/* In builds that look for memory which shows (core/poison.h). */
static enum status fill(struct gpu_lane *lane, const struct gpu_buffer *buffer, struct error *err) {
    if (poison_byte() < 0) {
        return ST_OK;
    }
    return CUDA_TRY(lane->device->cuda, err, cuMemsetD8Async, buffer->data, (unsigned char)poison_byte(),
                    buffer->size, lane->stream);
}

enum status gpu_buffer_reserve(struct gpu_lane *lane, struct gpu_buffer *buffer, size_t size,
                               struct error *err) {
    const struct cuda *cuda = lane->device->cuda;
    if (size <= buffer->size) {
        return fill(lane, buffer, err);
    }
    if (buffer->data) {
        enum status status = CUDA_TRY(cuda, err, cuMemFree, buffer->data);
        atomic_fetch_sub(&lane->device->memory_kept, buffer->size);
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
        atomic_fetch_add(&lane->device->memory_kept, size);
        /* Kernels read the padding of rows, too, in whole groups: what they make of it is thrown
         * away, but it shall not be what somebody else left. */
        status = CUDA_TRY(cuda, err, cuMemsetD8Async, data, 0, size, lane->stream);
    }
    return status == ST_OK ? fill(lane, buffer, err) : status;
}

void gpu_buffer_finish(struct gpu_lane *lane, struct gpu_buffer *buffer) {
    if (buffer->data) {
        lane->device->cuda->cuMemFree(buffer->data); /* nothing to do about a failure */
        atomic_fetch_sub(&lane->device->memory_kept, buffer->size);
    }
    *buffer = (struct gpu_buffer){0};
}
