/* SPDX-License-Identifier: MIT */
#include "gpu/engine/lane.h"

#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include "core/clock.h"
#include "gpu/filters/gpu_chain.h"
#include "gpu/jpeg/encode.h"
#include "gpu/jpeg/huffman_sync.h"
#include "gpu/stream/buffer.h"

enum { POLL_NS = 500000 }; /* see wait_done */

static const struct cuda *lane_cuda(const struct gpu_lane *lane) {
    return lane->device->cuda;
}

enum status gpu_lane_scratch(struct gpu_lane *lane, size_t size, CUdeviceptr *data, struct error *err) {
    enum status status = gpu_buffer_reserve(lane, &lane->scratch, size, err);
    *data = lane->scratch.data;
    return status;
}

enum status gpu_lane_init(struct gpu_lane *lane, struct gpu_device *device, struct error *err) {
    *lane = (struct gpu_lane){.device = device, .purges = atomic_load(&device->purges)};
    const struct cuda *cuda = device->cuda;
    enum status status = CUDA_TRY(cuda, err, cuStreamCreate, &lane->stream, CU_STREAM_NON_BLOCKING);
    CUevent *const events[] = {&lane->begin, &lane->uploaded, &lane->filtered, &lane->done};
    for (unsigned i = 0; i < sizeof events / sizeof *events && status == ST_OK; i++) {
        unsigned flags = events[i] == &lane->done ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DEFAULT;
        status = CUDA_TRY(cuda, err, cuEventCreate, events[i], flags);
    }
    return status;
}

enum status gpu_lane_init_jpeg(struct gpu_lane *lane, struct error *err) {
    const struct cuda *cuda = lane_cuda(lane);
    void *mark = NULL;
    if (!cuda->cuStreamWriteValue32) {
        return fail(err, ST_UNSUPPORTED, "this driver lacks the function cuStreamWriteValue32");
    }
    enum status status =
        CUDA_TRY(cuda, err, cuMemHostAlloc, &mark, sizeof *lane->mark, CU_MEMHOSTALLOC_DEVICEMAP);
    if (status == ST_OK) {
        lane->mark = mark;
        *lane->mark = 0;
        status = CUDA_TRY(cuda, err, cuMemHostGetDevicePointer, &lane->mark_device, mark, 0);
    }
    if (status == ST_OK) {
        status = huffman_sync_init(lane, err);
    }
    return status == ST_OK ? gpu_encode_init(lane, err) : status;
}

static void drop_buffers(struct gpu_lane *lane) {
    struct gpu_buffer *const buffers[] = {
        &lane->source, &lane->target,      &lane->scratch, &lane->spare,
        &lane->mask,   &lane->sync.memory, &lane->values,  &lane->encode.memory,
    };
    for (unsigned i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        gpu_buffer_finish(lane, buffers[i]);
    }
}

bool gpu_lane_is_stale(const struct gpu_lane *lane) {
    return lane->device && lane->purges != atomic_load(&lane->device->purges);
}

void gpu_lane_settle(struct gpu_lane *lane, enum status status) {
    struct gpu_device *device = lane->device;
    if (status == ST_DEVICE) {
        return;
    }
    bool full = status == ST_BUSY || atomic_load(&device->memory_kept) > device->memory_share;
    if (full && !gpu_lane_is_stale(lane)) {
        atomic_fetch_add(&device->purges, 1);
    }
    if (gpu_lane_is_stale(lane)) {
        drop_buffers(lane);
        lane->purges = atomic_load(&device->purges);
    }
}

void gpu_lane_finish(struct gpu_lane *lane) {
    if (!lane->device) {
        return;
    }
    const struct cuda *cuda = lane_cuda(lane);
    CUevent const events[] = {lane->begin, lane->uploaded, lane->filtered, lane->done};
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++) {
        if (events[i]) {
            cuda->cuEventDestroy(events[i]);
        }
    }
    drop_buffers(lane);
    huffman_sync_finish(lane);
    gpu_encode_finish(lane);
    if (lane->mark) {
        cuda->cuMemFreeHost((void *)(uintptr_t)lane->mark);
    }
    if (lane->stream) {
        cuda->cuStreamDestroy(lane->stream);
    }
    memset(lane, 0, sizeof *lane);
}

/* The picture's planes lie in one piece, in which the first one begins. */
static uint8_t *image_memory(const struct image *image) {
    return image->plane[0].data - image->plane[0].offset;
}

static enum status upload(struct gpu_lane *lane, const struct image *image, CUdeviceptr to, size_t size,
                          struct image *placed, struct error *err) {
    *placed = image_on_device(image, to);
    return CUDA_TRY(lane_cuda(lane), err, cuMemcpyHtoDAsync, to, image_memory(image), size, lane->stream);
}

static enum status enqueue(struct gpu_lane *lane, struct journey *journey, struct error *err) {
    const struct cuda *cuda = lane_cuda(lane);
    const struct run *run = journey->run;
    enum status status = CUDA_TRY(cuda, err, cuEventRecord, lane->begin, lane->stream);
    if (status == ST_OK) {
        status = upload(lane, run->source, lane->source.data, journey->source_size, &journey->source, err);
    }
    if (status == ST_OK && run->mask) {
        status = upload(lane, run->mask, lane->mask.data, journey->mask_size, &journey->mask, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->uploaded, lane->stream);
    }
    if (status == ST_OK) {
        status = gpu_chain_filter(lane, journey, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->filtered, lane->stream);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuMemcpyDtoHAsync, image_memory(run->target),
                          (CUdeviceptr)(uintptr_t)image_memory(&journey->result), journey->target_size,
                          lane->stream);
    }
    return status == ST_OK ? CUDA_TRY(cuda, err, cuEventRecord, lane->done, lane->stream) : status;
}

static enum status elapsed(struct gpu_lane *lane, CUevent from, CUevent to, int64_t *ns, struct error *err) {
    float ms = 0;
    enum status status = CUDA_TRY(lane_cuda(lane), err, cuEventElapsedTime, &ms, from, to);
    *ns = (int64_t)((double)ms * 1e6);
    return status;
}

enum status gpu_lane_timing(struct gpu_lane *lane, struct lane_timing *timing, struct error *err) {
    enum status status = elapsed(lane, lane->begin, lane->uploaded, &timing->upload_ns, err);
    if (status == ST_OK) {
        status = elapsed(lane, lane->uploaded, lane->filtered, &timing->filter_ns, err);
    }
    if (status == ST_OK) {
        status = elapsed(lane, lane->filtered, lane->done, &timing->download_ns, err);
    }
    return status;
}

/* Waits until the stream has reached `done`. A thread that sleeps on an event is woken by an
 * interrupt, 0.2 to 0.8 ms later (measured on a virtual machine with an H200), while most
 * pictures are done in a quarter of a millisecond: so it asks for a while, giving way to other
 * threads, and sleeps only then. */
static enum status wait_done(struct gpu_lane *lane, struct error *err) {
    const struct cuda *cuda = lane_cuda(lane);
    int64_t until = clock_ns() + POLL_NS;
    CUresult result;
    while ((result = cuda->cuEventQuery(lane->done)) == CUDA_ERROR_NOT_READY && clock_ns() < until) {
        sched_yield();
    }
    return result == CUDA_ERROR_NOT_READY ? CUDA_TRY(cuda, err, cuEventSynchronize, lane->done)
                                          : cuda_check(cuda, result, "cuEventQuery", err);
}

enum status lane_abandon(struct gpu_lane *lane, enum status status) {
    lane_cuda(lane)->cuStreamSynchronize(lane->stream);
    return status;
}

enum status gpu_lane_run(struct gpu_lane *lane, const struct run *run, struct lane_timing *timing,
                         struct error *err) {
    struct journey journey = {.run = run};
    enum status status = gpu_chain_reserve(lane, &journey, err);
    if (status != ST_OK) {
        return status;
    }
    status = enqueue(lane, &journey, err);
    status = status == ST_OK ? wait_done(lane, err) : lane_abandon(lane, status);
    return status == ST_OK ? gpu_lane_timing(lane, timing, err) : status;
}
