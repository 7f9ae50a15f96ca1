/* SPDX-License-Identifier: MIT */
#include "gpu/lane.h"

#include <sched.h>
#include <string.h>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/poison.h"
#include "gpu/blend.h"
#include "gpu/blur.h"
#include "gpu/convolve.h"
#include "gpu/pixelate.h"
#include "gpu/sharpen.h"
#include "gpu/stats.h"

/* What a buffer grows by, so that pictures of slightly rising size do not allocate each time. */
static const size_t buffer_step = (size_t)1 << 20;

enum { POLL_NS = 500000 }; /* see wait_done */

static const struct cuda *lane_cuda(const struct gpu_lane *lane) {
    return lane->device->cuda;
}

/* In builds that look for memory which shows (core/poison.h). */
static enum status buffer_poison(struct gpu_lane *lane, const struct gpu_buffer *buffer, struct error *err) {
    if (poison_byte() < 0) {
        return ST_OK;
    }
    lane->fresh = true;
    return CUDA_TRY(lane_cuda(lane), err, cuMemsetD8Async, buffer->data, (unsigned char)poison_byte(),
                    buffer->size, lane->stream);
}

static enum status buffer_reserve(struct gpu_lane *lane, struct gpu_buffer *buffer, size_t size,
                                  struct error *err) {
    const struct cuda *cuda = lane_cuda(lane);
    if (size <= buffer->size) {
        return buffer_poison(lane, buffer, err);
    }
    if (buffer->data) {
        enum status status = CUDA_TRY(cuda, err, cuMemFree, buffer->data);
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
        /* Kernels read the padding of rows, too, in whole groups: what they make of it is thrown
         * away, but it shall not be what somebody else left. */
        status = CUDA_TRY(cuda, err, cuMemsetD8Async, data, 0, size, lane->stream);
        lane->fresh = true;
    }
    return status == ST_OK ? buffer_poison(lane, buffer, err) : status;
}

static void buffer_finish(struct gpu_lane *lane, struct gpu_buffer *buffer) {
    if (buffer->data) {
        lane_cuda(lane)->cuMemFree(buffer->data); /* nothing to do about a failure */
    }
    *buffer = (struct gpu_buffer){0};
}

enum status gpu_lane_scratch(struct gpu_lane *lane, size_t size, CUdeviceptr *data, struct error *err) {
    enum status status = buffer_reserve(lane, &lane->scratch, size, err);
    *data = lane->scratch.data;
    return status;
}

static enum status init_jpeg(struct gpu_lane *lane, struct error *err) {
    const struct cuda *cuda = lane_cuda(lane);
    void *mark = NULL;
    enum status status =
        CUDA_TRY(cuda, err, cuMemHostAlloc, &mark, sizeof *lane->mark, CU_MEMHOSTALLOC_DEVICEMAP);
    if (status == ST_OK) {
        lane->mark = mark;
        *lane->mark = 0;
        status = CUDA_TRY(cuda, err, cuMemHostGetDevicePointer, &lane->mark_device, mark, 0);
    }
    return status == ST_OK ? gpu_jpeg_lane_init(&lane->jpeg, &lane->device->jpeg, lane->stream, err) : status;
}

enum status gpu_lane_init(struct gpu_lane *lane, struct gpu_device *device, struct error *err) {
    *lane = (struct gpu_lane){.device = device};
    const struct cuda *cuda = device->cuda;
    enum status status = CUDA_TRY(cuda, err, cuStreamCreate, &lane->stream, CU_STREAM_NON_BLOCKING);
    CUevent *const events[] = {&lane->begin, &lane->uploaded, &lane->filtered, &lane->done};
    for (unsigned i = 0; i < sizeof events / sizeof *events && status == ST_OK; i++) {
        unsigned flags = events[i] == &lane->done ? CU_EVENT_BLOCKING_SYNC : CU_EVENT_DEFAULT;
        status = CUDA_TRY(cuda, err, cuEventCreate, events[i], flags);
    }
    return status == ST_OK && device->jpeg.decoder ? init_jpeg(lane, err) : status;
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
    gpu_jpeg_lane_finish(&lane->jpeg);
    if (lane->mark) {
        cuda->cuMemFreeHost((void *)(uintptr_t)lane->mark);
    }
    buffer_finish(lane, &lane->source);
    buffer_finish(lane, &lane->target);
    buffer_finish(lane, &lane->scratch);
    buffer_finish(lane, &lane->spare);
    buffer_finish(lane, &lane->mask);
    if (lane->stream) {
        cuda->cuStreamDestroy(lane->stream);
    }
    memset(lane, 0, sizeof *lane);
}

/* A run on its way: the host's pictures, and those on the device. */
struct journey {
    const struct run *run;
    size_t source_size, target_size, mask_size; /* bytes; 0: no mask */
    struct image source, result;                /* result: where the last step wrote */
    struct image mask;
};

/* The picture's planes lie in one piece, in which the first one begins. */
static uint8_t *image_memory(const struct image *image) {
    return image->plane[0].data - image->plane[0].offset;
}

static struct image image_on_device(const struct image *like, CUdeviceptr data) {
    struct image image = *like;
    image_place(&image, (uint8_t *)(uintptr_t)data);
    return image;
}

static size_t image_bytes(const struct image *image) {
    struct image_shape shape = image_shape(image);
    struct image layout;
    return image_layout(&layout, &shape);
}

/* Device memory for all that the run needs. A chain goes to and fro between two buffers; the source is one of
 * them, unless the mixture under the mask needs it in the end. */
static enum status reserve(struct gpu_lane *lane, struct journey *journey, struct error *err) {
    const struct run *run = journey->run;
    journey->source_size = image_bytes(run->source);
    journey->target_size = image_bytes(run->target);
    journey->mask_size = run->mask ? image_bytes(run->mask) : 0;
    size_t larger = journey->source_size > journey->target_size ? journey->source_size : journey->target_size;
    bool spare = run->mask && run->chain->count > 1;
    enum status status = buffer_reserve(lane, &lane->source, journey->source_size, err);
    if (status == ST_OK) {
        status = buffer_reserve(lane, &lane->target, larger, err);
    }
    if (status == ST_OK && spare) {
        status = buffer_reserve(lane, &lane->spare, larger, err);
    }
    return status == ST_OK && run->mask ? buffer_reserve(lane, &lane->mask, journey->mask_size, err) : status;
}

static enum status upload(struct gpu_lane *lane, const struct image *image, CUdeviceptr to, size_t size,
                          struct image *placed, struct error *err) {
    *placed = image_on_device(image, to);
    return CUDA_TRY(lane_cuda(lane), err, cuMemcpyHtoDAsync, to, image_memory(image), size, lane->stream);
}

enum status gpu_lane_step(struct gpu_lane *lane, const struct step *step, const struct image *source,
                          const struct image *mask, const struct image *target, struct error *err) {
    switch (step->filter) {
    case FILTER_BLUR:
        return gpu_blur(lane, &step->blur, source, target, err);
    case FILTER_CONVOLVE:
        return gpu_convolve(lane, &step->convolve, source, target, err);
    case FILTER_PIXELATE:
        return gpu_pixelate(lane, &step->pixelate, source, target, err);
    case FILTER_SHARPEN:
        return gpu_sharpen(lane, &step->sharpen, source, target, err);
    case FILTER_STATS:
        return gpu_stats(lane, source, mask, target, err);
    case FILTER_COUNT:
        break;
    }
    return fail(err, ST_INTERNAL, "the chain has an unknown filter");
}

/* Statistics have looked at the mask themselves. */
static bool makes_picture(const struct chain *chain) {
    return chain->step[0].filter != FILTER_STATS;
}

static enum status run_chain(struct gpu_lane *lane, struct journey *journey, struct error *err) {
    const struct run *run = journey->run;
    const struct image *mask = run->mask ? &journey->mask : NULL;
    CUdeviceptr to = lane->target.data;
    CUdeviceptr next = run->mask ? lane->spare.data : lane->source.data;
    struct image from = journey->source;
    enum status status = ST_OK;
    for (uint32_t i = 0; i < run->chain->count && status == ST_OK; i++) {
        journey->result = image_on_device(run->target, to);
        status = gpu_lane_step(lane, &run->chain->step[i], &from, mask, &journey->result, err);
        from = journey->result;
        CUdeviceptr swap = to;
        to = next;
        next = swap;
    }
    return status == ST_OK && mask && makes_picture(run->chain)
               ? gpu_blend(lane, &journey->source, mask, &journey->result, err)
               : status;
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
        status = run_chain(lane, journey, err);
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

/* What is under way must not outlive the caller's memory; its outcome changes nothing. */
static enum status abandon(struct gpu_lane *lane, enum status status) {
    lane_cuda(lane)->cuStreamSynchronize(lane->stream);
    return status;
}

enum status gpu_lane_run(struct gpu_lane *lane, const struct run *run, struct lane_timing *timing,
                         struct error *err) {
    struct journey journey = {.run = run};
    enum status status = reserve(lane, &journey, err);
    if (status != ST_OK) {
        return status;
    }
    status = enqueue(lane, &journey, err);
    status = status == ST_OK ? wait_done(lane, err) : abandon(lane, status);
    return status == ST_OK ? gpu_lane_timing(lane, timing, err) : status;
}

/* ---- JPEG to JPEG ---- */

/* What a job's pictures are like; the memory is the lane's. */
struct layouts {
    struct image source, target;
    struct run run;
};

static void lay_out(struct layouts *layouts, const struct gpu_transcode *job) {
    struct image_shape result = chain_result(job->chain, &job->shape);
    image_layout(&layouts->source, &job->shape);
    image_layout(&layouts->target, &result);
    layouts->run = (struct run){.chain = job->chain, .source = &layouts->source, .target = &layouts->target};
}

enum status gpu_lane_parse(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    struct layouts layouts;
    if (!lane->jpeg.jpeg) {
        return fail(err, ST_UNSUPPORTED, "this GPU has no hardware decoders");
    }
    lay_out(&layouts, job);
    struct journey journey = {.run = &layouts.run};
    enum status status = reserve(lane, &journey, err);
    if (status == ST_OK && lane->fresh) { /* the decoder would overtake the filling of new memory */
        status = CUDA_TRY(lane_cuda(lane), err, cuStreamSynchronize, lane->stream);
        lane->fresh = status != ST_OK;
    }
    return status == ST_OK ? gpu_jpeg_parse(&lane->jpeg, job->input, err) : status;
}

/* The end of a step. */
static enum status mark(struct gpu_lane *lane, struct error *err) {
    lane->steps++;
    return CUDA_TRY(lane_cuda(lane), err, cuStreamWriteValue32, lane->stream, lane->mark_device, lane->steps,
                    CU_STREAM_WRITE_VALUE_DEFAULT);
}

bool gpu_lane_reached(const struct gpu_lane *lane) {
    return *lane->mark == lane->steps;
}

enum status gpu_lane_decode(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    const struct cuda *cuda = lane_cuda(lane);
    struct layouts layouts;
    lay_out(&layouts, job);
    struct image source = image_on_device(&layouts.source, lane->source.data);
    enum status status = CUDA_TRY(cuda, err, cuEventRecord, lane->begin, lane->stream);
    if (status == ST_OK) {
        status = gpu_jpeg_decode(&lane->jpeg, &source, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->uploaded, lane->stream);
    }
    if (status == ST_OK) {
        status = mark(lane, err);
    }
    return status == ST_OK ? ST_OK : abandon(lane, status);
}

enum status gpu_lane_encode(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    const struct cuda *cuda = lane_cuda(lane);
    struct layouts layouts;
    lay_out(&layouts, job);
    struct journey journey = {.run = &layouts.run,
                              .source = image_on_device(&layouts.source, lane->source.data)};
    enum status status = run_chain(lane, &journey, err);
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->filtered, lane->stream);
    }
    if (status == ST_OK) {
        status = gpu_jpeg_encode(&lane->jpeg, &journey.result, &job->options, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->done, lane->stream);
    }
    if (status == ST_OK) {
        status = mark(lane, err);
    }
    return status == ST_OK ? ST_OK : abandon(lane, status);
}

enum status gpu_lane_fetch(struct gpu_lane *lane, const struct gpu_transcode *job, size_t *size,
                           struct error *err) {
    enum status status = gpu_jpeg_size(&lane->jpeg, size, err);
    if (status == ST_OK && *size > job->room) {
        return fail(err, ST_UNSUPPORTED, "the JPEG takes %zu bytes, more than there is room for", *size);
    }
    if (status == ST_OK) {
        status = gpu_jpeg_fetch(&lane->jpeg, job->output, *size, err);
    }
    if (status == ST_OK) {
        status = mark(lane, err);
    }
    return status == ST_OK ? ST_OK : abandon(lane, status);
}
