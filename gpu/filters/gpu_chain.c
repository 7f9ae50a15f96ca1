/* SPDX-License-Identifier: MIT */
#include "gpu/filters/gpu_chain.h"

#include "core/clock.h"
#include "gpu/filter.h"
#include "gpu/filters/filters.h"

struct image gpu_chain_image(const struct image *like, CUdeviceptr data) {
    struct image image = *like;
    image_place(&image, (uint8_t *)(uintptr_t)data);
    return image;
}

static size_t shape_bytes(const struct image_shape *shape) {
    struct image layout;
    return image_layout(&layout, shape);
}

static size_t image_bytes(const struct image *image) {
    struct image_shape shape = image_shape(image);
    return shape_bytes(&shape);
}

static size_t larger_of(size_t a, size_t b) {
    return a > b ? a : b;
}

struct hang_detector_work gpu_chain_work(const struct chain *chain, const struct image_shape *source) {
    _Static_assert((int)FILTER_COUNT < HANG_KINDS - 1, "the last kinds are those of JPEGs");
    struct hang_detector_work work = {.steps = chain->count ? chain->count : 1};
    double most = 1;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct gpu_filter *filter = gpu_filter_get(chain->step[i].filter);
        const double times = filter->slowness ? filter->slowness(step_plan(&chain->step[i]), source) : 1;
        work.kinds |= UINT32_C(1) << chain->step[i].filter;
        most = times > most ? times : most;
    }
    work.bytes = most * (double)chain_largest(chain, source);
    return work;
}

/* Whether the source stays. Blending under the mask reads it after the first step. */
static bool keeps_source(const struct gpu_chain *chain) {
    return chain->run->mask || chain->keeps;
}

/* A chain alternates between two buffers. The source is one of them, unless it stays. After a turn the first
 * step writes to the decoded picture's buffer, else to the other. */
enum status gpu_chain_reserve(struct gpu_chain *chain, struct gpu_stream *stream, struct error *err) {
    const struct chain_run *run = chain->run;
    struct image_shape source = image_shape(run->source);
    chain->source_size = shape_bytes(&source);
    chain->target_size = image_bytes(run->target);
    chain->mask_size = run->mask ? image_bytes(run->mask) : 0;
    size_t larger = chain_largest(run->chain, &source);
    bool both = chain->turned_size || run->chain->count > 1;
    size_t first = both ? larger_of(larger, chain->turned_size) : chain->source_size;
    bool spare = keeps_source(chain) && run->chain->count > 1;
    enum status status = ST_OK;
    if (!chain->present || first > stream->source.size) {
        status = gpu_stream_reserve(stream, &stream->source, first, err);
    }
    if (status == ST_OK) {
        status = gpu_stream_reserve(stream, &stream->target, larger, err);
    }
    if (status == ST_OK && spare) {
        status = gpu_stream_reserve(stream, &stream->spare, larger, err);
    }
    return status == ST_OK && run->mask ? gpu_stream_reserve(stream, &stream->mask, chain->mask_size, err)
                                        : status;
}

static bool is_blended(const struct chain_run *run) {
    return run->mask && filter_get(run->chain->step[0].filter)->answer == ANSWER_PICTURE;
}

enum status gpu_chain_enqueue(struct gpu_chain *chain, struct gpu_stream *stream, struct error *err) {
    const struct chain_run *run = chain->run;
    const struct image_shape source = image_shape(run->source);
    const struct image *mask = run->mask ? &chain->mask : NULL;
    CUdeviceptr begin = chain->turned_size ? stream->target.data : stream->source.data;
    CUdeviceptr to = chain->turned_size ? stream->source.data : stream->target.data;
    CUdeviceptr next = keeps_source(chain) ? stream->spare.data : begin;
    struct image from = chain->source;
    enum status status = ST_OK;
    for (uint32_t i = 0; i < run->chain->count && status == ST_OK; i++) {
        struct image_shape shape = chain_shape(run->chain, &source, i + 1);
        image_layout(&chain->result, &shape);
        image_place(&chain->result, (uint8_t *)(uintptr_t)to);
        const struct step *step = &run->chain->step[i];
        status = gpu_filter_get(step->filter)->run(stream, step_plan(step), &from, mask, &chain->result, err);
        if (status == ST_OK && is_blended(run) && i + 1 == chain_masked(run->chain)) {
            status = gpu_blend(stream, &chain->source, mask, &chain->result, err);
        }
        from = chain->result;
        CUdeviceptr swap = to;
        to = next;
        next = swap;
    }
    return status;
}

/* All planes lie in one piece of memory, which begins with the first. */
static uint8_t *image_memory(const struct image *image) {
    return image->plane[0].data - image->plane[0].offset;
}

static enum status upload(struct gpu_stream *stream, const struct image *image, CUdeviceptr to, size_t size,
                          struct image *placed, struct error *err) {
    *placed = gpu_chain_image(image, to);
    return gpu_stream_upload(stream, to, image_memory(image), size, err);
}

static enum status enqueue(struct gpu_stream *stream, struct gpu_chain *chain, struct error *err) {
    const struct cuda *cuda = stream->device->cuda;
    const struct chain_run *run = chain->run;
    enum status status = CUDA_TRY(cuda, err, cuEventRecord, stream->begin, stream->handle);
    if (status == ST_OK) {
        status = upload(stream, run->source, stream->source.data, chain->source_size, &chain->source, err);
    }
    if (status == ST_OK && run->mask) {
        status = upload(stream, run->mask, stream->mask.data, chain->mask_size, &chain->mask, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, stream->uploaded, stream->handle);
    }
    if (status == ST_OK) {
        status = gpu_chain_enqueue(chain, stream, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, stream->filtered, stream->handle);
    }
    if (status == ST_OK) {
        status = gpu_stream_download(stream, image_memory(run->target),
                                     (CUdeviceptr)(uintptr_t)image_memory(&chain->result), chain->target_size,
                                     err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, stream->done, stream->handle);
    }
    return status == ST_OK ? gpu_stream_signal(stream, err) : status;
}

static void finish_result(const struct chain_run *run) {
    const struct chain *chain = run->chain;
    const struct gpu_filter *last = gpu_filter_get(chain->step[chain->count - 1].filter);
    if (last->finish) {
        last->finish(plane_row(&run->target->plane[0], 0));
    }
}

enum status gpu_chain_run(struct gpu_stream *stream, const struct chain_run *run, struct lane_timing *timing,
                          struct error *err) {
    struct gpu_chain chain = {.run = run};
    enum status status = gpu_chain_reserve(&chain, stream, err);
    if (status != ST_OK) {
        return status;
    }
    const struct image_shape source = image_shape(run->source);
    const struct hang_detector_work work = gpu_chain_work(run->chain, &source);
    struct hang_detector_watch watch;
    hang_detector_begin(&stream->device->detector, &watch, &work, clock_ns());
    status = enqueue(stream, &chain, err);
    status = status == ST_OK ? gpu_stream_wait(stream, &watch, err) : gpu_stream_abandon(stream, status);
    status = status == ST_OK ? gpu_stream_timing(stream, timing, err) : status;
    if (status == ST_OK && stream->marks) {
        hang_detector_complete(&stream->device->detector, &watch);
    }
    hang_detector_end(&stream->device->detector, &watch);
    if (status == ST_OK) {
        finish_result(run);
    }
    return status;
}
