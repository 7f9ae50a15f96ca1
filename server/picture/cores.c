/* SPDX-License-Identifier: MIT */
#include "server/picture/cores.h"

#include "core/clock.h"
#include "core/crew.h"
#include "cpu/linear.h"
#include "cpu/orient.h"
#include "server/picture/note_way.h"
#include "server/picture/output.h"
#include "server/picture/selection.h"
#include "server/request.h"
#include "server/search/code_reader.h"
#include "server/search/detection.h"
#include "server/search/focus.h"
#include "server/service.h"

void cores_end_stage(struct cores *p, enum stage stage) {
    int64_t now = clock_ns();
    p->request->outcome.stage_ns[stage] += now - p->clock;
    p->clock = now;
}

/* A GPU may not support the model of a detector. */
static enum status run_chain(struct cores *p, const struct chain_run *asked, struct lane_timing *timing) {
    const struct service *service = p->request->service;
    struct chain_run run = *asked;
    bool gpu = p->way == WAY_GPU_FILTER;
    unsigned backend = gpu ? 0 : service->backend_count - 1;
    enum status status =
        gpu ? ST_OK : workspace_take_working(&p->work, &p->plan, service->cpu, p->worker->crew, p->err);
    run.working = p->work.working;
    status = status == ST_OK ? lane_run(p->worker->lane[backend], &run, timing, p->err) : status;
    p->gpu_failed = gpu && p->decoded && (status == ST_DEVICE || status == ST_UNSUPPORTED);
    if (p->decoded && !p->gpu_failed) {
        note_way_taken(p->request, p->way, backend, timing->unit);
    } else if (p->gpu_failed && status == ST_DEVICE) {
        note_way_failed(p->request, backend, p->err);
    }
    return status;
}

/* Measures the time that the consumers of rows take. */
struct timed {
    const struct progress *progress;
    int64_t *ns;
};

static void report_timed(void *context, uint32_t rows) {
    const struct timed *timed = context;
    int64_t start = clock_ns();
    progress_tell(timed->progress, rows);
    *timed->ns += clock_ns() - start;
}

/* The producer's function (core/producer.h); decodes only once. */
static enum status make_source(void *context, const struct progress *progress, struct error *err) {
    struct cores *p = context;
    if (p->decoded) {
        return ST_OK;
    }
    int64_t start = clock_ns();
    struct timed timed = {progress, &p->follow_ns};
    p->plan.limits.progress = &(const struct progress){report_timed, &timed};
    const struct frames_plan *frames = &p->plan.frames;
    enum status status = frames->count > 0 ? frame_source_read(&p->frames, &p->plan, p->work.frames,
                                                               frames->first + p->index, &p->source, err)
                                           : codec_decode(p->request->picture, &p->plan.picture,
                                                          &p->plan.limits, &p->source, err);
    p->plan.limits.progress = NULL;
    p->decoded = status == ST_OK;
    p->decode_ns = clock_ns() - start - p->follow_ns;
    return status;
}

/* Whether filters process rows while the codec decodes. Redaction must come before any filter. */
static bool filters_follow(const struct cores *p) {
    return p->plan.orientation == 1 && !p->plan.selection.wanted && !p->plan.selection.redact &&
           !plan_is_linear(&p->plan) && p->plan.detection.count == 0 && p->plan.frames.count == 0;
}

static enum status turn(struct cores *p) {
    enum status status =
        orient_image(&p->source, p->plan.orientation, &p->result, p->plan.limits.deadline_ns, p->err);
    p->source = p->result;
    workspace_place(&p->result, &p->plan.upright, p->work.memory[0]);
    return status == ST_OK ? selection_turn(&p->plan.selection, p->plan.orientation, p->err) : status;
}

static enum status feather(struct cores *p) {
    enum status status =
        workspace_take_working(&p->work, &p->plan, p->request->service->cpu, p->worker->crew, p->err);
    const struct mask_feathering how = {
        .feather = p->request->parameters.input.feather,
        .lane = p->worker->lane[p->request->service->backend_count - 1],
        .crew = p->worker->crew,
        .deadline_ns = p->plan.limits.deadline_ns,
        .working = p->work.working,
    };
    return status == ST_OK ? selection_feather(&p->plan.selection, &how, p->err) : status;
}

/* Runs the search of this index over the decoded picture. */
static enum status search_for(struct cores *p, unsigned index) {
    struct detection *detection = &p->plan.detection;
    const struct codes_reader reader = code_reader_make(p->worker->codecs);
    const struct chain_run run = {.chain = &detection->search[index].chain,
                                  .slot = p->work.slot,
                                  .source = &p->source,
                                  .target = &detection->result,
                                  .crew = p->worker->crew,
                                  .reader = p->worker->codecs ? &reader : NULL,
                                  .deadline_ns = p->plan.limits.deadline_ns};
    struct lane_timing timing = {0};
    enum status status = run_chain(p, &run, &timing);
    if (p->gpu_failed) {
        return status;
    }
    status = status == ST_OK ? detection_read(detection, index, &p->request->parameters,
                                              p->request->service->model, p->err)
                             : status;
    if (status == ST_CORRUPT || status == ST_UNSUPPORTED) { /* of the model; the picture is fine */
        const struct error cause = *p->err;
        return fail(p->err, ST_INTERNAL, "%s cannot be searched for: %.200s",
                    detector_get(detectors_first(detection->search[index].detectors))->name, cause.text);
    }
    return status;
}

/* Where the filters take another form of the picture, they have it decoded again, in the same memory. */
enum status cores_search(struct cores *p) {
    struct detection *detection = &p->plan.detection;
    const struct parameters *parameters = &p->request->parameters;
    workspace_place_source(&p->work, &p->source, &p->plan.searched);
    enum status status = make_source(p, NULL, p->err);
    cores_end_stage(p, STAGE_DECODE);
    for (unsigned i = 0; i < detection->count && status == ST_OK; i++) {
        status = search_for(p, i);
    }
    if (status == ST_OK && !p->gpu_failed) {
        p->decoded = !plan_searches_apart(&p->plan);
        focus_apply(&p->plan);
        detection_leave_out(detection, parameters, &p->request->outcome);
        detection_note(detection, parameters, &p->request->outcome);
        cores_end_stage(p, STAGE_DETECT);
    }
    return status;
}

/* Searches a picture; a region for each box is added to the selection. */
static enum status search(struct cores *p) {
    enum status status = cores_search(p);
    return status == ST_OK && !p->gpu_failed && p->plan.selection.wanted
               ? detection_add(&p->plan.detection, &p->request->parameters, &p->plan.selection.region, p->err)
               : status;
}

static enum status decode(struct cores *p) {
    const struct parameters *parameters = &p->request->parameters;
    if (p->drawn) {
        return ST_OK;
    }
    enum status status = p->plan.detection.count > 0 && !p->searched ? search(p) : ST_OK;
    workspace_place_source(&p->work, &p->source, &p->plan.stored);
    workspace_place(&p->result, &p->plan.upright, p->work.memory[1]);
    if (status == ST_OK) {
        status = selection_count(&p->plan.selection, parameters, &p->request->outcome, p->err);
    }
    if (status != ST_OK || plan_answer(&p->plan) == ANSWER_BOXES || filters_follow(p)) {
        p->drawn = status == ST_OK;
        return status;
    }
    status = make_source(p, NULL, p->err);
    p->decode_ns = 0;
    if (status == ST_OK) {
        status = selection_draw(&p->plan.selection, parameters, &p->plan.picture, &p->source, p->err);
    }
    if (status == ST_OK && p->plan.orientation != 1) {
        status = turn(p);
    }
    if (status == ST_OK && selection_is_soft(&p->plan.selection, parameters)) {
        status = feather(p);
    }
    p->drawn = status == ST_OK; /* not before all is hidden: another way may go on from here */
    selection_notice(&p->plan.selection, p->request->outcome.notice, sizeof p->request->outcome.notice);
    cores_end_stage(p, STAGE_DECODE);
    return status;
}

/* Converts the picture to linear light, filters it and converts the result back. */
static enum status run_linear(struct cores *p, const struct chain_run *asked, struct lane_timing *timing) {
    struct image source, result;
    struct chain_run run = *asked;
    struct image_shape shape = chain_result(&p->plan.chain, &p->plan.filtered);
    workspace_place(&source, &p->plan.filtered, p->work.linear[0]);
    workspace_place(&result, &shape, p->work.linear[1]);
    run.source = &source;
    run.target = &result;
    enum status status = linear_from(run.crew, run.deadline_ns, &p->source, &source, p->err);
    status = status == ST_OK ? run_chain(p, &run, timing) : status;
    if (status == ST_OK && plan_answer(&p->plan) == ANSWER_STATISTICS) {
        p->result = result;
        return ST_OK;
    }
    if (status != ST_OK) {
        return status;
    }
    status = linear_to(run.crew, run.deadline_ns, &result, &p->result, p->err);
    bool in_place = chain_masked(run.chain) == run.chain->count;
    if (run.mask && in_place && status == ST_OK) { /* converting to linear light and back loses bits */
        status = mask_restore(run.crew, run.deadline_ns, &p->result, &p->source, run.mask, p->err);
    }
    return status;
}

static void encode_rows(void *context, uint32_t rows) {
    struct cores *p = context;
    int64_t start = clock_ns();
    codec_encode_rows(p->encoding, rows);
    p->encode_ns += clock_ns() - start;
}

/* Whether the filters' output is the result, in whole rows from the top. */
static bool encoder_follows(const struct cores *p) {
    return !p->plan.selection.wanted && !plan_is_linear(&p->plan) && plan_answer(&p->plan) == ANSWER_PICTURE;
}

static enum status open_output(struct cores *p) {
    struct buf *output = &p->request->answer.body;
    if (p->opened) {
        return ST_OK;
    }
    p->opened = true;
    output_init(&p->plan, output);
    workspace_place(&p->result, &p->plan.encoded, p->result.plane[0].data);
    return encoder_follows(p) ? codec_encode_begin(p->plan.output, &p->result, &p->plan.options,
                                                   &p->plan.picture.metadata, output, &p->encoding, p->err)
                              : ST_OK;
}

/* Redaction before a step that moves pixels needs no mask behind it. */
static bool has_mask(const struct cores *p) {
    return p->plan.selection.wanted && (chain_masked(&p->plan.chain) > 0);
}

static enum status filter(struct cores *p) {
    if (plan_answer(&p->plan) == ANSWER_BOXES) {
        return ST_OK;
    }
    struct outcome *outcome = &p->request->outcome;
    struct lane_timing timing = {0};
    const struct producer producer = {make_source, p};
    const struct progress progress = {encode_rows, p};
    struct chain_run run = {
        .chain = &p->plan.chain,
        .slot = p->work.slot,
        .source = &p->source,
        .target = &p->result,
        .mask = has_mask(p) ? &p->plan.selection.mask : NULL,
        .crew = p->worker->crew,
        .deadline_ns = p->plan.limits.deadline_ns,
        .producer = p->decoded ? NULL : &producer,
        .progress = p->encoding ? &progress : NULL,
    };
    enum status status =
        plan_is_linear(&p->plan) ? run_linear(p, &run, &timing) : run_chain(p, &run, &timing);
    cores_end_stage(p, STAGE_FILTER);
    outcome->stage_ns[STAGE_UPLOAD] += timing.upload_ns;
    outcome->stage_ns[STAGE_DOWNLOAD] += timing.download_ns;
    outcome->stage_ns[STAGE_FILTER] -= timing.upload_ns + timing.download_ns + p->decode_ns + p->encode_ns;
    outcome->stage_ns[STAGE_DECODE] += p->decode_ns;
    outcome->stage_ns[STAGE_ENCODE] += p->encode_ns;
    p->decode_ns = p->encode_ns = 0;
    return status;
}

static enum status encode(struct cores *p) {
    enum status status;
    if (p->encoding) {
        status = codec_encode_end(p->encoding, true, p->err);
        p->encoding = NULL;
    } else {
        status = output_write(&p->plan, &p->result, &p->request->outcome.kept_blocks,
                              &p->request->answer.body, p->err);
    }
    p->complete = status == ST_OK;
    cores_end_stage(p, STAGE_ENCODE);
    return status;
}

enum status cores_decode(struct cores *p) {
    enum status status = decode(p);
    status = status == ST_OK ? make_source(p, NULL, p->err) : status;
    p->decode_ns = 0;
    cores_end_stage(p, STAGE_DECODE);
    return status;
}

enum status cores_write(struct cores *p) {
    enum status status = open_output(p);
    return status == ST_OK ? encode(p) : status;
}

enum status cores_filter(struct cores *p) {
    enum status status = decode(p);
    workspace_place(&p->result, &p->plan.encoded, p->result.plane[0].data);
    return status == ST_OK ? filter(p) : status;
}

enum status cores_run(struct cores *p) {
    enum status status = decode(p);
    status = status == ST_OK ? open_output(p) : status;
    status = status == ST_OK ? filter(p) : status;
    return status == ST_OK ? encode(p) : status;
}
