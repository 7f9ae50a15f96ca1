/* SPDX-License-Identifier: MIT */
#include "gpu/filters/gpu_chain.h"

#include "gpu/filters/blend.h"
#include "gpu/filters/blur.h"
#include "gpu/filters/convolve.h"
#include "gpu/filters/pixelate.h"
#include "gpu/filters/sharpen.h"
#include "gpu/filters/stats.h"
#include "gpu/stream/buffer.h"

struct image image_on_device(const struct image *like, CUdeviceptr data) {
    struct image image = *like;
    image_place(&image, (uint8_t *)(uintptr_t)data);
    return image;
}

static size_t image_bytes(const struct image *image) {
    struct image_shape shape = image_shape(image);
    struct image layout;
    return image_layout(&layout, &shape);
}

static size_t larger_of(size_t a, size_t b) {
    return a > b ? a : b;
}

/* Device memory for all that the run needs. A chain goes to and fro between two buffers; the source is one of
 * them, unless the mixture under the mask needs it in the end. After a turn the first step writes to where
 * the decoded picture was, else to the other one. */
enum status gpu_chain_reserve(struct gpu_lane *lane, struct journey *journey, struct error *err) {
    const struct run *run = journey->run;
    journey->source_size = image_bytes(run->source);
    journey->target_size = image_bytes(run->target);
    journey->mask_size = run->mask ? image_bytes(run->mask) : 0;
    size_t larger = larger_of(journey->source_size, journey->target_size);
    size_t first = journey->turned_size ? larger_of(larger, journey->turned_size) : journey->source_size;
    bool spare = run->mask && run->chain->count > 1;
    enum status status = gpu_buffer_reserve(lane, &lane->source, first, err);
    if (status == ST_OK) {
        status = gpu_buffer_reserve(lane, &lane->target, larger, err);
    }
    if (status == ST_OK && spare) {
        status = gpu_buffer_reserve(lane, &lane->spare, larger, err);
    }
    return status == ST_OK && run->mask ? gpu_buffer_reserve(lane, &lane->mask, journey->mask_size, err)
                                        : status;
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

static bool makes_picture(const struct chain *chain) {
    return chain->step[0].filter != FILTER_STATS;
}

enum status gpu_chain_filter(struct gpu_lane *lane, struct journey *journey, struct error *err) {
    const struct run *run = journey->run;
    const struct image *mask = run->mask ? &journey->mask : NULL;
    CUdeviceptr begin = journey->turned_size ? lane->target.data : lane->source.data;
    CUdeviceptr to = journey->turned_size ? lane->source.data : lane->target.data;
    CUdeviceptr next = run->mask ? lane->spare.data : begin;
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
