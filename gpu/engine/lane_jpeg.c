/* SPDX-License-Identifier: MIT
 * JPEG to JPEG. */
#include "gpu/filters/gpu_chain.h"
#include "gpu/filters/orient.h"
#include "gpu/jpeg/decode.h"
#include "gpu/jpeg/encode.h"
#include "gpu/jpeg/huffman_sync.h"

/* What a job's pictures are like; the memory is the lane's. */
struct layouts {
    struct image stored, source, target; /* as the file has it; upright; filtered */
    size_t turned_size;                  /* of `stored`, when it has to be turned; as of struct journey */
    struct run run;
};

static void lay_out(struct layouts *layouts, const struct gpu_transcode *job) {
    struct image_shape upright = orient_shape(&job->shape, job->orientation);
    struct image_shape result = chain_result(job->chain, &upright);
    size_t stored_size = image_layout(&layouts->stored, &job->shape);
    image_layout(&layouts->source, &upright);
    image_layout(&layouts->target, &result);
    layouts->turned_size = orient_turns(job->orientation) ? stored_size : 0;
    layouts->run = (struct run){.chain = job->chain, .source = &layouts->source, .target = &layouts->target};
}

enum status gpu_lane_parse(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    struct layouts layouts;
    if (!lane->mark) {
        return fail(err, ST_UNSUPPORTED, "this lane was given no means for JPEGs");
    }
    if (!orient_is_exact(&job->shape, job->orientation)) {
        return fail(err, ST_UNSUPPORTED, "reduced chroma of an odd size is not turned by orientation %u here",
                    job->orientation);
    }
    lay_out(&layouts, job);
    struct journey journey = {.run = &layouts.run, .turned_size = layouts.turned_size};
    enum status status = gpu_chain_reserve(lane, &journey, err);
    if (status == ST_OK) {
        status = gpu_encode_reserve(lane, &layouts.target, job->output, job->room, err);
    }
    if (status == ST_OK) {
        status = huffman_sync_parse(lane, job->input, &job->shape, err);
    }
    return status == ST_OK ? gpu_decode_reserve(lane, err) : status;
}

/* The end of a step. */
static enum status mark(struct gpu_lane *lane, struct error *err) {
    lane->steps++;
    return CUDA_TRY(lane->device->cuda, err, cuStreamWriteValue32, lane->stream, lane->mark_device,
                    lane->steps, CU_STREAM_WRITE_VALUE_DEFAULT);
}

bool gpu_lane_reached(const struct gpu_lane *lane) {
    return *lane->mark == lane->steps;
}

enum status gpu_lane_query(const struct gpu_lane *lane, struct error *err) {
    const struct cuda *cuda = lane->device->cuda;
    CUresult result = cuda->cuEventQuery(lane->done);
    if (result == CUDA_ERROR_NOT_READY || cuda_check(cuda, result, "cuEventQuery", err) == ST_OK) {
        return ST_OK;
    }
    err->status = ST_DEVICE; /* whatever it is: kernels may still be under way */
    return ST_DEVICE;
}

/* Fills in where the chain begins: at the picture as it was decoded, or as it is turned from there. */
static enum status turn(struct gpu_lane *lane, const struct gpu_transcode *job, const struct layouts *layouts,
                        struct journey *journey, struct error *err) {
    const struct image stored = image_on_device(&layouts->stored, lane->source.data);
    if (!layouts->turned_size) {
        journey->source = stored;
        return ST_OK;
    }
    journey->source = image_on_device(&layouts->source, lane->target.data);
    return gpu_orient(lane, &stored, job->orientation, &journey->source, err);
}

static enum status enqueue(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    const struct cuda *cuda = lane->device->cuda;
    struct layouts layouts;
    lay_out(&layouts, job);
    struct image stored = image_on_device(&layouts.stored, lane->source.data);
    struct journey journey = {.run = &layouts.run, .turned_size = layouts.turned_size};
    enum status status = CUDA_TRY(cuda, err, cuEventRecord, lane->begin, lane->stream);
    if (status == ST_OK) {
        status = huffman_sync_begin(lane, job->input, err);
    }
    if (status == ST_OK) {
        status = gpu_decode_begin(lane, &stored, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->uploaded, lane->stream);
    }
    if (status == ST_OK) {
        status = turn(lane, job, &layouts, &journey, err);
    }
    if (status == ST_OK) {
        status = gpu_chain_filter(lane, &journey, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->filtered, lane->stream);
    }
    if (status == ST_OK) {
        status = gpu_encode(lane, &journey.result, job->room, job->quality, err);
    }
    if (status == ST_OK) {
        status = CUDA_TRY(cuda, err, cuEventRecord, lane->done, lane->stream);
    }
    return status == ST_OK ? mark(lane, err) : status;
}

enum status gpu_lane_begin(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    enum status status = enqueue(lane, job, err);
    return status == ST_OK ? ST_OK : lane_abandon(lane, status);
}

enum status gpu_lane_end(struct gpu_lane *lane, const struct gpu_transcode *job, size_t *size,
                         struct error *err) {
    enum status status = huffman_sync_end(lane, err);
    if (status != ST_OK) {
        return status;
    }
    *size = gpu_encode_size(lane);
    if (*size > job->room) {
        return fail(err, ST_UNSUPPORTED, "the JPEG takes %zu bytes, more than there is room for", *size);
    }
    if (gpu_encode_is_direct(lane)) {
        return ST_OK;
    }
    status = gpu_encode_fetch(lane, job->output, *size, err);
    status = status == ST_OK ? mark(lane, err) : status;
    return status == ST_OK ? ST_OK : lane_abandon(lane, status);
}
