/* SPDX-License-Identifier: MIT */
#include "gpu/stream/stream.h"

#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/poison.h"
#include "core/tuned.h"
#include "gpu/stream/batch.h"

static const struct cuda *stream_cuda(const struct gpu_stream *stream) {
    return stream->device->cuda;
}

/* The fence is among them, a counter that the device writes. */
static enum status init_marks(struct gpu_stream *stream, struct error *err) {
    const struct cuda *cuda = stream_cuda(stream);
    void *marks = NULL;
    if (!cuda->cuStreamWriteValue32) {
        return ST_OK;
    }
    enum status status =
        CUDA_TRY(cuda, err, cuMemHostAlloc, &marks, sizeof *stream->marks, CU_MEMHOSTALLOC_DEVICEMAP);
    if (status != ST_OK) {
        return status;
    }
    memset(marks, 0, sizeof *stream->marks);
    stream->marks = marks;
    return CUDA_TRY(cuda, err, cuMemHostGetDevicePointer, &stream->marks_device, marks, 0);
}

enum status gpu_stream_init(struct gpu_stream *stream, struct gpu_device *device, struct error *err) {
    *stream = (struct gpu_stream){.device = device, .trim_epoch = atomic_load(&device->trim_epoch)};
    const struct cuda *cuda = device->cuda;
    enum status status = CUDA_TRY(cuda, err, cuStreamCreate, &stream->handle, CU_STREAM_NON_BLOCKING);
    CUevent *const events[] = {&stream->begin, &stream->uploaded, &stream->filtered, &stream->done};
    for (unsigned i = 0; i < sizeof events / sizeof *events && status == ST_OK; i++) {
        unsigned flags = events[i] == &stream->done ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DEFAULT;
        status = CUDA_TRY(cuda, err, cuEventCreate, events[i], flags);
    }
    return status == ST_OK ? init_marks(stream, err) : status;
}

static void free_buffers(struct gpu_stream *stream) {
    struct gpu_buffer *const buffers[] = {&stream->source, &stream->target, &stream->scratch,
                                          &stream->spare,  &stream->mask,   &stream->ground};
    for (unsigned i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        gpu_buffer_finish(buffers[i], stream->device);
    }
}

void gpu_stream_finish(struct gpu_stream *stream) {
    if (!stream->device) {
        return;
    }
    const struct cuda *cuda = stream_cuda(stream);
    CUevent const events[] = {stream->begin, stream->uploaded, stream->filtered, stream->done};
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i]) {
            cuda->cuEventDestroy(events[i]);
        }
    }
    gpu_batch_destroy(stream->batch);
    free_buffers(stream);
    if (stream->marks) {
        cuda->cuMemFreeHost((void *)(uintptr_t)stream->marks);
    }
    if (stream->handle) {
        cuda->cuStreamDestroy(stream->handle);
    }
    memset(stream, 0, sizeof *stream);
}

static enum status flush(struct gpu_stream *stream, struct error *err) {
    return stream->gathers ? gpu_batch_flush(stream->batch, err) : ST_OK;
}

void gpu_stream_gather(struct gpu_stream *stream) {
    if (!stream->batch) {
        stream->batch = gpu_batch_create(stream->device, stream->handle);
    }
    stream->gathers = stream->batch != NULL;
}

enum status gpu_stream_upload(struct gpu_stream *stream, CUdeviceptr to, const void *from, size_t size,
                              struct error *err) {
    enum status status = flush(stream, err);
    return status == ST_OK
               ? CUDA_TRY(stream_cuda(stream), err, cuMemcpyHtoDAsync, to, from, size, stream->handle)
               : status;
}

enum status gpu_stream_download(struct gpu_stream *stream, void *to, CUdeviceptr from, size_t size,
                                struct error *err) {
    enum status status = flush(stream, err);
    return status == ST_OK
               ? CUDA_TRY(stream_cuda(stream), err, cuMemcpyDtoHAsync, to, from, size, stream->handle)
               : status;
}

enum status gpu_stream_copy(struct gpu_stream *stream, CUdeviceptr to, CUdeviceptr from, size_t size,
                            struct error *err) {
    enum status status = flush(stream, err);
    return status == ST_OK
               ? CUDA_TRY(stream_cuda(stream), err, cuMemcpyDtoDAsync, to, from, size, stream->handle)
               : status;
}

enum status gpu_stream_fill(struct gpu_stream *stream, CUdeviceptr to, uint8_t value, size_t size,
                            struct error *err) {
    enum status status = flush(stream, err);
    return status == ST_OK
               ? CUDA_TRY(stream_cuda(stream), err, cuMemsetD8Async, to, value, size, stream->handle)
               : status;
}

enum status gpu_stream_reserve(struct gpu_stream *stream, struct gpu_buffer *buffer, size_t size,
                               struct error *err) {
    bool works = size > buffer->size || poison_byte() >= 0;
    enum status status = works ? flush(stream, err) : ST_OK;
    return status == ST_OK ? gpu_buffer_reserve(buffer, stream->device, stream->handle, size, err) : status;
}

enum status gpu_stream_scratch(struct gpu_stream *stream, size_t size, CUdeviceptr *data, struct error *err) {
    enum status status = gpu_stream_reserve(stream, &stream->scratch, size, err);
    *data = stream->scratch.data;
    return status;
}

/* An interrupt wakes a thread that sleeps on an event late. So the thread polls and yields before it sleeps,
 * and then sleeps for a part of the time that it has waited. */
static void rest(int64_t waited) {
    int64_t ns = waited / TUNED_GPU_REST_PART;
    if (waited < TUNED_GPU_POLL_NS) {
        sched_yield();
    } else {
        nanosleep(&(struct timespec){.tv_nsec = (long)(ns < TUNED_GPU_REST_NS ? ns : TUNED_GPU_REST_NS)},
                  NULL);
    }
}

enum status gpu_stream_wait(struct gpu_stream *stream, struct hang_detector_watch *watch, struct error *err) {
    if (!stream->marks) {
        return CUDA_TRY(stream_cuda(stream), err, cuEventSynchronize, stream->done);
    }
    enum status status = ST_OK;
    int64_t begin = clock_ns();
    hang_detector_handed(&stream->device->detector, watch, begin);
    while (!gpu_stream_reached(stream) && (status = gpu_stream_check(stream, watch, err)) == ST_OK) {
        rest(clock_ns() - begin);
    }
    return status;
}

enum status gpu_stream_abandon(struct gpu_stream *stream, enum status status) {
    if (stream->gathers) {
        gpu_batch_drop(stream->batch);
        stream->gathers = false;
    }
    stream_cuda(stream)->cuStreamSynchronize(stream->handle);
    return status;
}

enum status gpu_stream_signal(struct gpu_stream *stream, struct error *err) {
    enum status status = flush(stream, err);
    stream->gathers = false;
    if (status != ST_OK || !stream->marks) {
        return status;
    }
    stream->steps++;
    return CUDA_TRY(stream_cuda(stream), err, cuStreamWriteValue32, stream->handle,
                    stream->marks_device + offsetof(struct kernel_marks, fence), stream->steps,
                    CU_STREAM_WRITE_VALUE_DEFAULT);
}

bool gpu_stream_reached(const struct gpu_stream *stream) {
    return stream->marks->fence == stream->steps;
}

static enum status ask_driver(const struct gpu_stream *stream, struct error *err) {
    const struct cuda *cuda = stream_cuda(stream);
    CUresult result = cuda->cuStreamQuery(stream->handle);
    if (result == CUDA_ERROR_NOT_READY || cuda_check(cuda, result, "cuStreamQuery", err) == ST_OK) {
        return ST_OK;
    }
    err->status = ST_DEVICE; /* for any error, since kernels may be running */
    return ST_DEVICE;
}

enum status gpu_stream_check(const struct gpu_stream *stream, struct hang_detector_watch *watch,
                             struct error *err) {
    switch (hang_detector_check(&stream->device->detector, watch, clock_ns())) {
    case HANG_ASK:
        return ask_driver(stream, err);
    case HANG_LOST:
        if (stream->marks && gpu_stream_reached(stream)) {
            break; /* since the caller looked, which may be a while ago */
        }
        return fail(err, ST_DEVICE, "the GPU has done nothing for %.0f ms", clock_ns_to_ms(watch->quiet));
    case HANG_WAIT:
        break;
    }
    return ST_OK;
}

static enum status elapsed(struct gpu_stream *stream, CUevent from, CUevent to, int64_t *ns,
                           struct error *err) {
    float ms = 0;
    enum status status = CUDA_TRY(stream_cuda(stream), err, cuEventElapsedTime, &ms, from, to);
    *ns = (int64_t)((double)ms * 1e6);
    return status;
}

enum status gpu_stream_timing(struct gpu_stream *stream, struct lane_timing *timing, struct error *err) {
    enum status status = elapsed(stream, stream->begin, stream->uploaded, &timing->upload_ns, err);
    if (status == ST_OK) {
        status = elapsed(stream, stream->uploaded, stream->filtered, &timing->filter_ns, err);
    }
    if (status == ST_OK) {
        status = elapsed(stream, stream->filtered, stream->done, &timing->download_ns, err);
    }
    return status;
}

int64_t gpu_stream_between(const struct gpu_stream *stream, enum kernel_stamp from, enum kernel_stamp to) {
    uint64_t begin = stream->marks->ns[from], end = stream->marks->ns[to];
    return begin > 0 && end > begin ? (int64_t)(end - begin) : 0;
}

bool gpu_stream_is_stale(const struct gpu_stream *stream) {
    return stream->device && stream->trim_epoch != atomic_load(&stream->device->trim_epoch);
}

bool gpu_stream_trim(struct gpu_stream *stream, enum status status) {
    struct gpu_device *device = stream->device;
    if (status == ST_DEVICE) {
        return false;
    }
    bool full = status == ST_BUSY || atomic_load(&device->memory_kept) > device->memory_share;
    if (full && !gpu_stream_is_stale(stream)) {
        atomic_fetch_add(&device->trim_epoch, 1);
    }
    if (!gpu_stream_is_stale(stream)) {
        return false;
    }
    free_buffers(stream);
    stream->trim_epoch = atomic_load(&device->trim_epoch);
    return true;
}
