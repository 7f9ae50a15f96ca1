/* SPDX-License-Identifier: MIT
 * JPEG to JPEG. */
#include "gpu/journey.h"

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
    enum status status = journey_reserve(lane, &journey, err);
    if (status == ST_OK && lane->fresh) { /* the decoder would overtake the filling of new memory */
        status = CUDA_TRY(lane->device->cuda, err, cuStreamSynchronize, lane->stream);
        lane->fresh = status != ST_OK;
    }
    return status == ST_OK ? gpu_jpeg_parse(&lane->jpeg, job->input, err) : status;
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

enum status gpu_lane_decode(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    const struct cuda *cuda = lane->device->cuda;
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
    return status == ST_OK ? ST_OK : lane_abandon(lane, status);
}

enum status gpu_lane_encode(struct gpu_lane *lane, const struct gpu_transcode *job, struct error *err) {
    const struct cuda *cuda = lane->device->cuda;
    struct layouts layouts;
    lay_out(&layouts, job);
    struct journey journey = {.run = &layouts.run,
                              .source = image_on_device(&layouts.source, lane->source.data)};
    enum status status = journey_filter(lane, &journey, err);
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
    return status == ST_OK ? ST_OK : lane_abandon(lane, status);
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
    return status == ST_OK ? ST_OK : lane_abandon(lane, status);
}
