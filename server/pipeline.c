/* SPDX-License-Identifier: MIT
 * The life of a picture. The steps below run in order on one worker; the first that
 * fails ends it. Sizes are known before memory is taken, and the decoded picture stays
 * as it is until the result exists, so that another backend can take over. */
#include "server/pipeline.h"

#include <stdio.h>
#include <string.h>

#include "codecs/codec.h"
#include "codecs/jpeg_patch.h"
#include "codecs/orient.h"
#include "core/clock.h"
#include "core/log.h"
#include "cpu/linear.h"
#include "filters/chain.h"
#include "server/accept.h"
#include "server/area.h"
#include "server/cost.h"
#include "server/envelope.h"
#include "server/request.h"
#include "server/service.h"
#include "server/statistics.h"

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
    struct area area;
    struct image_shape filtered; /* what the filters see: the upright picture, or that in linear light */
    uint8_t *memory[2];          /* each holds the stored picture, the upright one, and a result */
    struct image source, result;
    bool decoded;              /* the source is there */
    int64_t decode_ns;         /* that this took while the filter waited for it, or followed */
    uint8_t *linear_memory[2]; /* the same in linear light; NULL: not wanted */
    int64_t clock;             /* when the current stage began */
};

static void stage_end(struct pipeline *p, enum stage stage) {
    int64_t now = clock_ns();
    p->request->outcome.stage_ns[stage] = now - p->clock;
    p->clock = now;
}

static enum status open_envelope(struct pipeline *p) {
    return envelope_open(p->request, &p->input, p->err);
}

static enum status probe(struct pipeline *p) {
    const struct config *config = &p->request->settings->config;
    p->limits = (struct codec_limits){
        .max_pixels = config->max_pixels,
        .max_side = config->max_side,
        .max_scans = config->max_scans,
        .max_memory = slot_pool_budget(p->request->service->slots),
        .deadline_ns = p->clock + config->work_timeout_ms * 1000000,
        .local_blocks = p->request->parameters.input.mode == MODE_REDACT,
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

/* Whether all filters take the planes as they are. */
static bool takes_planes(const struct parameters *parameters, const struct image_shape *planes) {
    bool all = parameters->input.colorspace == COLORSPACE_NATIVE;
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        all = all && operation->filter->planar && operation->filter->planar(&operation->arguments, planes);
    }
    return all;
}

static bool fits_subsampling(const struct pipeline *p, const struct image_shape *planes) {
    int asked = p->request->parameters.output.subsampling;
    return asked == SUBSAMPLING_AUTO || asked == (int)subsampling_of(planes);
}

/* Whether the planes of the JPEG can be filtered and written as they are stored. */
static bool keeps_planes(const struct pipeline *p, const struct image_shape *upright) {
    return p->picture.native.model == PIXEL_YCBCR && p->output == CODEC_JPEG &&
           fits_subsampling(p, upright) && takes_planes(&p->request->parameters, upright) &&
           orient_is_exact(&p->picture.native, p->orientation);
}

static bool makes_stats(const struct pipeline *p) {
    return p->request->parameters.filter && filter_id(p->request->parameters.filter) == FILTER_STATS;
}

static bool linear(const struct pipeline *p) {
    return p->request->parameters.input.colorspace == COLORSPACE_LINEAR;
}

static void choose_output(struct pipeline *p) {
    const struct output_arguments *asked = &p->request->parameters.output;
    p->output = asked->format == FORMAT_JPEG  ? CODEC_JPEG
                : asked->format == FORMAT_PNG ? CODEC_PNG
                                              : accept_choose(p->request->accept, p->picture.codec);
    p->orientation = p->request->parameters.input.autorotate ? p->picture.metadata.orientation : 1;
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
        .crew = p->worker->crew,
    };
    if (p->options.subsampling == SUBSAMPLING_AUTO && p->picture.codec == CODEC_JPEG) {
        /* `auto` is the input's also where the planes could not be kept; RGB and CMYK
         * JPEGs have full-resolution colour. */
        p->options.subsampling =
            p->picture.native.model == PIXEL_YCBCR ? subsampling_of(&planes) : SUBSAMPLING_444;
    }
    p->request->outcome.format = makes_stats(p)           ? METRIC_FORMAT_NONE
                                 : p->output == CODEC_PNG ? METRIC_FORMAT_PNG
                                                          : METRIC_FORMAT_JPEG;
    p->request->outcome.width = p->upright.width;
    p->request->outcome.height = p->upright.height;
}

static enum status plan(struct pipeline *p) {
    const struct parameters *parameters = &p->request->parameters;
    choose_output(p);
    area_init(&p->area, parameters, p->picture.metadata.orientation, p->stored.width, p->stored.height);
    p->area.deadline_ns = p->limits.deadline_ns;
    p->filtered = p->upright;
    p->filtered.depth = linear(p) ? 16 : p->upright.depth;
    enum status status = ST_OK;
    for (unsigned i = 0; i < parameters->ops.count && status == ST_OK; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        status = chain_append(&p->chain, operation->filter, &operation->arguments, &p->filtered, p->err);
    }
    return status;
}

/* Whether what lies outside of the regions can stay as it is in the file, to the bit: nothing else was asked
 * for. */
static bool may_patch(const struct pipeline *p) {
    const struct parameters *parameters = &p->request->parameters;
    struct image_shape planes = orient_shape(&p->picture.native, p->orientation);
    return p->area.wanted && p->picture.codec == CODEC_JPEG && p->output == CODEC_JPEG &&
           p->orientation == 1 && !parameters_given(parameters, "quality") && fits_subsampling(p, &planes);
}

static size_t shape_size(const struct image_shape *shape) {
    struct image image;
    return image_layout(&image, shape);
}

/* Two pieces of memory, each of which can hold both shapes. */
static enum status take_pair(struct pipeline *p, const struct image_shape *a, const struct image_shape *b,
                             uint8_t *memory[2]) {
    size_t first = shape_size(a);
    size_t second = shape_size(b);
    if (first == 0 || second == 0) {
        return fail(p->err, ST_LIMIT, "the picture is too large for memory");
    }
    for (unsigned i = 0; i < 2; i++) {
        memory[i] = slot_take(p->request->slot, first > second ? first : second, p->err);
        if (!memory[i]) {
            return p->err->status;
        }
    }
    return ST_OK;
}

/* What codecs take by themselves, and the answer. Coefficients have two bytes each. */
static size_t library_bytes(const struct pipeline *p) {
    size_t stored = shape_size(&p->stored), upright = shape_size(&p->upright), bytes = 0;
    bool jpeg = p->picture.codec == CODEC_JPEG;
    if (jpeg && (p->picture.progressive || may_patch(p))) {
        bytes += 2 * shape_size(&p->picture.native);
    }
    if (!jpeg && !p->picture.progressive) {
        bytes += (stored < COST_ROWS_MAX ? stored : 0) + p->input.size;
    }
    if (makes_stats(p)) {
        return bytes;
    }
    if (p->output == CODEC_JPEG && p->options.progressive) {
        bytes += 2 * upright;
    }
    return bytes + cost_output_bytes(&p->request->parameters.output, p->output, upright);
}

static enum status take_memory(struct pipeline *p) {
    struct image_shape result = chain_result(&p->chain, &p->filtered);
    /* The upright picture has the stored one's samples, but other padding. */
    struct image_shape larger = shape_size(&p->stored) > shape_size(&p->upright) ? p->stored : p->upright;
    enum status status = take_pair(p, &larger, linear(p) ? &p->upright : &result, p->memory);
    if (status == ST_OK && linear(p)) {
        status = take_pair(p, &p->filtered, &result, p->linear_memory);
    }
    status = status == ST_OK ? area_take_memory(&p->area, p->request->slot, &p->stored, p->err) : status;
    return status == ST_OK ? slot_claim(p->request->slot, library_bytes(p), p->err) : status;
}

static void place(struct image *image, const struct image_shape *shape, uint8_t *memory) {
    image_layout(image, shape);
    image_place(image, memory);
}

/* Decodes once; a feed's function (core/feed.h). */
static enum status make_source(void *context, const struct progress *progress, struct error *err) {
    struct pipeline *p = context;
    if (p->decoded) {
        return ST_OK;
    }
    int64_t start = clock_ns();
    p->limits.progress = progress;
    enum status status = codec_decode(p->input, &p->picture, &p->limits, &p->source, err);
    p->limits.progress = NULL;
    p->decoded = status == ST_OK;
    p->decode_ns = clock_ns() - start;
    return status;
}

/* Whether the filters take the picture as the codec makes it: then they call for it. What is to be redacted
 * must be gone before, with regions or without. */
static bool filters_follow(const struct pipeline *p) {
    return p->orientation == 1 && !p->area.wanted && !p->area.redact && !linear(p);
}

static enum status decode(struct pipeline *p) {
    const struct parameters *parameters = &p->request->parameters;
    place(&p->source, &p->stored, p->memory[0]);
    place(&p->result, &p->upright, p->memory[1]);
    if (filters_follow(p)) {
        return ST_OK;
    }
    enum status status = make_source(p, NULL, p->err);
    p->decode_ns = 0;
    if (status == ST_OK) {
        status = area_draw(&p->area, parameters, &p->picture, &p->source, p->err);
    }
    if (status == ST_OK && p->orientation != 1) {
        orient_image(&p->source, p->orientation, &p->result);
        p->source = p->result;
        place(&p->result, &p->upright, p->memory[0]);
        area_turn(&p->area, p->orientation);
    }
    if (status == ST_OK) {
        struct lane *cpu = p->worker->lane[p->request->service->backend_count - 1];
        status = area_feather(&p->area, parameters, cpu, p->worker->crew, p->err);
    }
    area_notice(&p->area, p->request->outcome.notice, sizeof p->request->outcome.notice);
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
static enum status run_chain(struct pipeline *p, const struct run *run, struct lane_timing *timing) {
    struct service *service = p->request->service;
    struct outcome *outcome = &p->request->outcome;
    enum status status = fail(p->err, ST_BUSY, "no backend has memory for this worker");
    for (unsigned i = 0; i < service->backend_count; i++) {
        struct backend *backend = service->backend[i];
        if (!p->worker->lane[i] || backend_state(backend, NULL) != BACKEND_SERVING) {
            continue;
        }
        status = lane_run(p->worker->lane[i], run, timing, p->err);
        if (!p->decoded) {
            break;
        }
        if (status != ST_DEVICE) {
            outcome->backend = i + 1;
            name_backend(outcome, backend, timing->unit);
            break;
        }
        metrics_add(service->metrics, METRIC_BACKEND_FAILURES, 1);
        log_message(LOG_WARNING, "backend", "%s: %s", backend->name, p->err->text);
    }
    return status;
}

/* The picture in linear light goes through the filters instead of the picture itself. */
static enum status run_linear(struct pipeline *p, const struct run *asked, struct lane_timing *timing) {
    struct image source, result;
    struct run run = *asked;
    struct image_shape shape = chain_result(&p->chain, &p->filtered);
    place(&source, &p->filtered, p->linear_memory[0]);
    place(&result, &shape, p->linear_memory[1]);
    linear_from(&p->source, &source);
    run.source = &source;
    run.target = &result;
    enum status status = run_chain(p, &run, timing);
    if (status != ST_OK || makes_stats(p)) {
        p->result = result;
        return status;
    }
    linear_to(&result, &p->result);
    if (run.mask) { /* 16 bits do not all come back as they were */
        mask_restore(&p->result, &p->source, run.mask);
    }
    return ST_OK;
}

static enum status filter(struct pipeline *p) {
    struct outcome *outcome = &p->request->outcome;
    struct lane_timing timing = {0};
    const struct feed feed = {make_source, p};
    struct run run = {
        .chain = &p->chain,
        .slot = p->request->slot,
        .source = &p->source,
        .target = &p->result,
        .mask = p->area.wanted ? &p->area.mask : NULL,
        .crew = p->worker->crew,
        .deadline_ns = p->limits.deadline_ns,
        .feed = p->decoded ? NULL : &feed,
    };
    if (makes_stats(p)) {
        struct image_shape shape = chain_result(&p->chain, &p->filtered);
        place(&p->result, &shape, p->result.plane[0].data);
    }
    enum status status = linear(p) ? run_linear(p, &run, &timing) : run_chain(p, &run, &timing);
    stage_end(p, STAGE_FILTER);
    outcome->stage_ns[STAGE_UPLOAD] = timing.upload_ns;
    outcome->stage_ns[STAGE_DOWNLOAD] = timing.download_ns;
    outcome->stage_ns[STAGE_FILTER] -= timing.upload_ns + timing.download_ns + p->decode_ns;
    outcome->stage_ns[STAGE_DECODE] += p->decode_ns;
    return status;
}

static enum status encode_picture(struct pipeline *p, struct buf *output) {
    const struct metadata *metadata = &p->picture.metadata;
    if (may_patch(p) && jpeg_patch_possible(p->input, &p->limits)) {
        enum status status = jpeg_patch(p->input, &p->limits, &p->result, &p->area.mask, &p->options,
                                        metadata, output, p->err);
        if (status != ST_UNSUPPORTED) {
            return status;
        }
        output->size = 0; /* what is there already is a part of a file */
    }
    return codec_encode(p->output, &p->result, &p->options, metadata, output, p->err);
}

static enum status encode(struct pipeline *p) {
    struct buf *output = &p->request->answer.body;
    /* No picture of this size, noise at quality 100 and its metadata included, is larger. */
    size_t pixels = (size_t)p->upright.width * p->upright.height;
    buf_init(output, pixels * 16 + (8 << 20));
    enum status status = ST_OK;
    if (makes_stats(p)) {
        const struct stats *stats = (const struct stats *)(const void *)p->result.plane[0].data;
        status = statistics_write(stats, &p->filtered, output, p->err);
    } else {
        status = encode_picture(p, output);
    }
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
