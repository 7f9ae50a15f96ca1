/* SPDX-License-Identifier: MIT
 * The life of a picture. The steps below run in order on one worker; the first that
 * fails ends it. Sizes are known before memory is taken, and the decoded picture stays
 * as it is until the result exists, so that another backend can take over. */
#include "server/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/orient.h"
#include "core/clock.h"
#include "core/log.h"
#include "filters/chain.h"
#include "server/accept.h"
#include "server/multipart.h"
#include "server/request.h"
#include "server/service.h"

struct pipeline {
    struct request *request;
    struct worker *worker;
    struct error *err;
    struct bytes input; /* the picture's bytes, in the slot */
    struct codec_limits limits;
    struct picture picture;
    enum codec_id output;
    uint8_t orientation;        /* to be undone; 1: none */
    struct image_shape stored;  /* as decoded */
    struct image_shape upright; /* as filtered and encoded */
    struct encode_options options;
    struct chain chain;
    uint8_t *memory[2]; /* each holds the stored and the upright picture */
    struct image source, result;
    int64_t clock; /* when the current stage began */
};

static void stage_end(struct pipeline *p, enum stage stage) {
    int64_t now = clock_ns();
    p->request->outcome.stage_ns[stage] = now - p->clock;
    p->clock = now;
}

/* Takes a multipart body apart: one picture, and parameters as the other fields. */
static enum status take_part(struct pipeline *p, const struct part *part) {
    if (part->is_file) {
        if (p->input.data) {
            return fail_argument(p->err, part->name, "the body holds more than one file");
        }
        p->input = part->data;
        return ST_OK;
    }
    char value[256];
    if (part->data.size >= sizeof value || memchr(part->data.data, '\0', part->data.size)) {
        return fail_argument(p->err, part->name, "the value is too long or contains a zero byte");
    }
    memcpy(value, part->data.data, part->data.size);
    value[part->data.size] = '\0';
    return parameters_set(&p->request->parameters, part->name, value, p->err);
}

static enum status open_envelope(struct pipeline *p) {
    struct bytes body = {p->request->slot->memory, p->request->body_size};
    if (!multipart_is(p->request->content_type)) {
        p->input = body;
        return ST_OK;
    }
    struct multipart multipart;
    struct part part;
    bool found = true;
    enum status status = multipart_begin(&multipart, p->request->content_type, body, p->err);
    while (status == ST_OK && found) {
        status = multipart_next(&multipart, &part, &found, p->err);
        if (status == ST_OK && found) {
            status = take_part(p, &part);
        }
    }
    if (status == ST_OK && !p->input.data) {
        return fail(p->err, ST_CORRUPT, "the multipart body holds no file part");
    }
    return status;
}

static enum status probe(struct pipeline *p) {
    const struct config *config = p->request->service->config;
    p->limits = (struct codec_limits){
        .max_pixels = config->max_pixels,
        .max_side = config->max_side,
        .max_scans = config->max_scans,
        .max_memory = config->memory,
        .deadline_ns = p->clock + config->work_timeout_ms * 1000000,
    };
    enum status status = codec_probe(p->input, &p->limits, &p->picture, p->err);
    if (status == ST_OK) {
        p->request->outcome.width = p->picture.pixels.width;
        p->request->outcome.height = p->picture.pixels.height;
    }
    return status;
}

/* The subsampling that a planar shape has; AUTO when it has no name here (4:4:0, 4:1:1). */
static enum subsampling subsampling_of(const struct image_shape *shape) {
    unsigned shifts = (unsigned)shape->chroma_shift_x << 4 | shape->chroma_shift_y;
    return shifts == 0x11   ? SUBSAMPLING_420
           : shifts == 0x10 ? SUBSAMPLING_422
           : shifts == 0x00 ? SUBSAMPLING_444
                            : SUBSAMPLING_AUTO;
}

/* Whether the planes of the JPEG can be filtered and written as they are stored. */
static bool keeps_planes(const struct pipeline *p, const struct image_shape *upright) {
    const struct output_arguments *asked = &p->request->parameters.output;
    bool fits = asked->subsampling == SUBSAMPLING_AUTO || asked->subsampling == (int)subsampling_of(upright);
    return p->picture.native.model == PIXEL_YCBCR && p->output == CODEC_JPEG && fits &&
           asked->colorspace == COLORSPACE_NATIVE && orient_is_exact(&p->picture.native, p->orientation);
}

static void choose_output(struct pipeline *p) {
    const struct output_arguments *asked = &p->request->parameters.output;
    p->output = asked->format == FORMAT_JPEG  ? CODEC_JPEG
                : asked->format == FORMAT_PNG ? CODEC_PNG
                                              : accept_choose(p->request->accept, p->picture.codec);
    p->orientation = asked->autorotate ? p->picture.metadata.orientation : 1;
    struct image_shape planes = orient_shape(&p->picture.native, p->orientation);
    p->stored = keeps_planes(p, &planes) ? p->picture.native : p->picture.pixels;
    p->upright = orient_shape(&p->stored, p->orientation);
    p->options = (struct encode_options){
        .quality = (uint8_t)asked->quality,
        .subsampling = (enum subsampling)asked->subsampling,
        .progressive = asked->progressive,
        .effort = (uint8_t)asked->effort,
        .keep_metadata = asked->metadata == METADATA_KEEP,
        .upright = p->orientation != 1,
        .deadline_ns = p->limits.deadline_ns,
    };
    if (p->options.subsampling == SUBSAMPLING_AUTO && p->picture.codec == CODEC_JPEG) {
        /* `auto` is the input's also where the planes could not be kept; RGB and CMYK
         * JPEGs have full-resolution colour. */
        p->options.subsampling =
            p->picture.native.model == PIXEL_YCBCR ? subsampling_of(&planes) : SUBSAMPLING_444;
    }
    p->request->outcome.format = p->output == CODEC_PNG ? METRIC_FORMAT_PNG : METRIC_FORMAT_JPEG;
    p->request->outcome.width = p->upright.width;
    p->request->outcome.height = p->upright.height;
}

static enum status plan(struct pipeline *p) {
    choose_output(p);
    const struct parameters *parameters = &p->request->parameters;
    return chain_append(&p->chain, parameters->filter, &parameters->arguments, &p->upright, p->err);
}

static enum status take_memory(struct pipeline *p) {
    struct image stored, upright;
    size_t stored_size = image_layout(&stored, &p->stored);
    size_t upright_size = image_layout(&upright, &p->upright);
    size_t size = stored_size > upright_size ? stored_size : upright_size;
    if (stored_size == 0 || upright_size == 0) {
        return fail(p->err, ST_LIMIT, "the picture is too large for memory");
    }
    for (unsigned i = 0; i < 2; i++) {
        p->memory[i] = slot_take(p->request->slot, size, p->err);
        if (!p->memory[i]) {
            return p->err->status;
        }
    }
    return ST_OK;
}

static enum status decode(struct pipeline *p) {
    image_layout(&p->source, &p->stored);
    image_place(&p->source, p->memory[0]);
    image_layout(&p->result, &p->upright);
    image_place(&p->result, p->memory[1]);
    enum status status = codec_decode(p->input, &p->picture, &p->limits, &p->source, p->err);
    if (status == ST_OK && p->orientation != 1) {
        orient_image(&p->source, p->orientation, &p->result);
        p->source = p->result;
        image_layout(&p->result, &p->upright);
        image_place(&p->result, p->memory[0]);
    }
    stage_end(p, STAGE_DECODE);
    return status;
}

/* "cpu/avx512", "cuda:0". */
static void name_backend(struct outcome *outcome, const struct backend *backend, int unit) {
    int length = snprintf(outcome->backend_name, sizeof outcome->backend_name, "%s", backend->name);
    if (unit >= 0 && length > 0 && (size_t)length < sizeof outcome->backend_name) {
        snprintf(outcome->backend_name + length, sizeof outcome->backend_name - (size_t)length, ":%d", unit);
    }
}

/* The first backend that does it; the last in the list is the CPU, which does not fail. */
static enum status filter(struct pipeline *p) {
    struct service *service = p->request->service;
    struct outcome *outcome = &p->request->outcome;
    struct lane_timing timing = {0};
    const struct run run = {
        .chain = &p->chain,
        .slot = p->request->slot,
        .source = &p->source,
        .target = &p->result,
    };
    enum status status = fail(p->err, ST_BUSY, "no backend has memory for this worker");
    for (unsigned i = 0; i < service->backend_count; i++) {
        struct backend *backend = service->backend[i];
        if (!p->worker->lane[i] || backend_state(backend, NULL) != BACKEND_SERVING) {
            continue;
        }
        status = lane_run(p->worker->lane[i], &run, &timing, p->err);
        if (status != ST_DEVICE) {
            outcome->backend = i + 1;
            name_backend(outcome, backend, timing.unit);
            break;
        }
        metrics_add(service->metrics, METRIC_BACKEND_FAILURES, 1);
        log_message(LOG_WARNING, "backend", "%s: %s", backend->name, p->err->text);
    }
    stage_end(p, STAGE_FILTER);
    outcome->stage_ns[STAGE_UPLOAD] = timing.upload_ns;
    outcome->stage_ns[STAGE_DOWNLOAD] = timing.download_ns;
    outcome->stage_ns[STAGE_FILTER] -= timing.upload_ns + timing.download_ns;
    return status;
}

static enum status encode(struct pipeline *p) {
    struct buf *output = &p->request->answer.body;
    /* No picture of this size, noise at quality 100 and its metadata included, is larger. */
    size_t pixels = (size_t)p->upright.width * p->upright.height;
    buf_init(output, pixels * 16 + (8 << 20));
    enum status status =
        codec_encode(p->output, &p->result, &p->options, &p->picture.metadata, output, p->err);
    stage_end(p, STAGE_ENCODE);
    return status;
}

enum status pipeline_run(struct request *request, struct worker *worker) {
    static enum status (*const steps[])(struct pipeline *) = {
        open_envelope, probe, plan, take_memory, decode, filter, encode,
    };
    struct pipeline p = {.request = request, .worker = worker, .err = &request->error, .clock = clock_ns()};
    enum status status = ST_OK;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0] && status == ST_OK; i++) {
        status = steps[i](&p);
    }
    return status;
}
