/* SPDX-License-Identifier: MIT
 * Runs the steps below in order on one worker, until one fails. Sizes are known before memory is taken. The
 * decoded picture stays unchanged until the result exists, so that another backend can take over. */
#include "server/picture/pipeline.h"

#include <inttypes.h>

#include "codecs/process/codec_link.h"
#include "core/clock.h"
#include "core/crew.h"
#include "core/deadline.h"
#include "core/log.h"
#include "cpu/linear.h"
#include "cpu/orient.h"
#include "server/picture/envelope.h"
#include "server/picture/failover.h"
#include "server/picture/note_way.h"
#include "server/picture/output.h"
#include "server/picture/time_spent.h"
#include "server/picture/transcode.h"
#include "server/picture/transcode_part.h"
#include "server/picture/workspace.h"
#include "server/planner/footprint.h"
#include "server/planner/plan.h"
#include "server/request.h"
#include "server/service.h"

struct pipeline {
    struct request *request;
    struct worker *worker;
    pipeline_keep *keep;
    struct error *err;
    struct work_plan plan;
    struct workspace work;
    struct image source, result;
    bool decoded;              /* `source` is complete */
    bool filtered;             /* `result` is complete, and `source` was never made */
    int64_t decode_ns;         /* time of decoding within the filter stage */
    int64_t follow_ns;         /* time of filtering and encoding during the decoder's call */
    struct encoding *encoding; /* encodes rows while filters run; NULL: the encoder runs afterwards */
    int64_t encode_ns;         /* time of encoding within the filter stage */
    int64_t clock;             /* when the current stage began */
    bool complete;             /* the answer is complete; the remaining steps are skipped */
};

static void stage_end(struct pipeline *p, enum stage stage) {
    int64_t now = clock_ns();
    p->request->outcome.stage_ns[stage] += now - p->clock;
    p->clock = now;
}

static enum status open_envelope(struct pipeline *p) {
    return envelope_open(p->request, p->err);
}

static enum metric_format format_of(const struct work_plan *plan) {
    return plan_answer(plan) == ANSWER_PICTURE ? (enum metric_format)(plan->output + 1) : METRIC_FORMAT_NONE;
}

static enum status plan(struct pipeline *p) {
    const struct request *request = p->request;
    struct outcome *outcome = &p->request->outcome;
    p->plan.parameters = &request->parameters;
    p->plan.limits =
        plan_limits(&request->settings->config, slot_pool_budget(request->service->slots), p->clock);
    p->plan.limits.link = p->worker->codecs;
    p->plan.limits.crew = p->worker->crew;
    enum status status = plan_make(&p->plan, p->request->picture, request->accept, p->err);
    if (p->plan.upright.width > 0) { /* the header was valid */
        struct image_shape whole = orient_shape(&p->plan.picture.pixels, p->plan.orientation);
        outcome->width = whole.width;
        outcome->height = whole.height;
        outcome->format = format_of(&p->plan);
    }
    p->plan.options.crew = p->worker->crew;
    p->plan.options.link = p->worker->codecs;
    p->plan.options.losses = &outcome->losses;
    return status;
}

static enum status transcode(struct pipeline *p) {
    return transcode_run(p->request, p->worker, &p->plan, &p->complete, p->err);
}

/* Ends the run here where the request has to wait in the queue again. */
static enum status keep_place(struct pipeline *p) {
    const struct job *job = &p->request->job;
    p->work.footprint = footprint_within(&p->plan, p->request->service->cpu, job->most - job->body);
    return p->keep(p->request, p->worker, footprint_sum(&p->work.footprint));
}

/* Waits for a core if this worker is one of many readers. The wait counts as a wait in the queue. */
static enum status take_core(struct pipeline *p) {
    int64_t start = clock_ns();
    enum status status = workers_core_take(p->worker, p->plan.limits.deadline_ns, p->err);
    int64_t wait_ns = clock_ns() - start;
    p->request->outcome.stage_ns[STAGE_QUEUE] += wait_ns;
    p->clock += wait_ns;
    return status;
}

static enum status take_memory(struct pipeline *p) {
    p->work.lends = !plan_moves_blocks(&p->plan) && failover_lends(p->request, p->worker);
    return workspace_open(&p->work, p->request, &p->plan, p->err);
}

static enum status move_blocks(struct pipeline *p) {
    if (!plan_moves_blocks(&p->plan)) {
        return ST_OK;
    }
    transcode_init_output(&p->plan, &p->request->answer.body);
    p->complete = true;
    note_way_taken(p->request, WAY_BLOCKS, p->request->service->backend_count - 1, -1);
    enum status status = output_move_blocks(&p->plan, &p->request->answer.body, p->err);
    stage_end(p, STAGE_ENCODE);
    return status;
}

static enum status run_chain(struct pipeline *p, const struct chain_run *run, struct lane_timing *timing) {
    const struct failover failover = {p->request, p->worker, &p->work, &p->plan, &p->decoded};
    return failover_run(&failover, run, timing, p->err);
}

/* Measures the time that the consumers of rows take. */
struct timed {
    const struct progress *progress;
    int64_t *ns;
};

static void tell_timed(void *context, uint32_t rows) {
    const struct timed *timed = context;
    int64_t start = clock_ns();
    progress_tell(timed->progress, rows);
    *timed->ns += clock_ns() - start;
}

/* The producer's function (core/producer.h); decodes only once. */
static enum status make_source(void *context, const struct progress *progress, struct error *err) {
    struct pipeline *p = context;
    if (p->decoded) {
        return ST_OK;
    }
    int64_t start = clock_ns();
    struct timed timed = {progress, &p->follow_ns};
    p->plan.limits.progress = &(const struct progress){tell_timed, &timed};
    enum status status =
        codec_decode(p->request->picture, &p->plan.picture, &p->plan.limits, &p->source, err);
    p->plan.limits.progress = NULL;
    p->decoded = status == ST_OK;
    p->decode_ns = clock_ns() - start - p->follow_ns;
    return status;
}

/* Whether filters process rows while the codec decodes. Redaction must come before any filter. */
static bool filters_follow(const struct pipeline *p) {
    return p->plan.orientation == 1 && !p->plan.selection.wanted && !p->plan.selection.redact &&
           !plan_is_linear(&p->plan) && !p->plan.detection.wanted;
}

static enum status turn(struct pipeline *p) {
    enum status status =
        orient_image(&p->source, p->plan.orientation, &p->result, p->plan.limits.deadline_ns, p->err);
    p->source = p->result;
    workspace_place(&p->result, &p->plan.upright, p->work.memory[0]);
    return status == ST_OK ? selection_turn(&p->plan.selection, p->plan.orientation, p->err) : status;
}

static enum status make_soft(struct pipeline *p) {
    enum status status =
        workspace_lend(&p->work, &p->plan, p->request->service->cpu, p->worker->crew, p->err);
    const struct mask_feathering how = {
        .feather = p->request->parameters.input.feather,
        .lane = p->worker->lane[p->request->service->backend_count - 1],
        .crew = p->worker->crew,
        .deadline_ns = p->plan.limits.deadline_ns,
        .working = p->work.working,
    };
    return status == ST_OK ? selection_feather(&p->plan.selection, &how, p->err) : status;
}

/* Decodes the picture and searches it for faces, whose regions are added to the selection. Where the filters
 * take another form of it, they have it decoded again, in the same memory. */
static enum status search(struct pipeline *p) {
    struct detection *detection = &p->plan.detection;
    const struct parameters *parameters = &p->request->parameters;
    const struct chain_run run = {.chain = &detection->chain,
                                  .slot = p->work.slot,
                                  .source = &p->source,
                                  .target = &detection->result,
                                  .crew = p->worker->crew,
                                  .deadline_ns = p->plan.limits.deadline_ns};
    struct lane_timing timing = {0};
    struct error cause = {0};
    workspace_place(&p->source, &p->plan.searched, p->work.memory[0]);
    enum status status = make_source(p, NULL, p->err);
    stage_end(p, STAGE_DECODE);
    if (status != ST_OK) {
        return status;
    }
    status = run_chain(p, &run, &timing);
    p->decoded = !plan_searches_apart(&p->plan);
    status = status == ST_OK ? detection_read(detection, p->request->service->faces, p->err) : status;
    if (status == ST_CORRUPT || status == ST_UNSUPPORTED) { /* of the model; the picture is fine */
        cause = *p->err;
        return fail(p->err, ST_INTERNAL, "faces cannot be searched for: %.200s", cause.text);
    }
    if (status == ST_OK) {
        detection_note(detection, parameters, &p->request->outcome);
        stage_end(p, STAGE_DETECT);
    }
    return status == ST_OK && p->plan.selection.wanted
               ? detection_add(detection, parameters, &p->plan.selection.region, p->err)
               : status;
}

static enum status decode_only(struct pipeline *p) {
    p->filtered = transcode_part_decode(p->request, p->worker, &p->plan, &p->work, &p->result);
    p->clock = p->filtered ? clock_ns() : p->clock;
    return ST_OK;
}

static enum status decode(struct pipeline *p) {
    const struct parameters *parameters = &p->request->parameters;
    if (p->filtered) {
        return ST_OK;
    }
    enum status status = p->plan.detection.wanted ? search(p) : ST_OK;
    workspace_place(&p->source, &p->plan.stored, p->work.memory[0]);
    workspace_place(&p->result, &p->plan.upright, p->work.memory[1]);
    if (status == ST_OK) {
        status = selection_count(&p->plan.selection, parameters, &p->request->outcome, p->err);
    }
    if (status != ST_OK || plan_answer(&p->plan) == ANSWER_BOXES || filters_follow(p)) {
        return status;
    }
    status = make_source(p, NULL, p->err);
    p->decode_ns = 0;
    if (status == ST_OK) {
        status = selection_draw(&p->plan.selection, parameters, &p->plan.picture, &p->plan.limits, &p->source,
                                p->err);
    }
    if (status == ST_OK && p->plan.orientation != 1) {
        status = turn(p);
    }
    if (status == ST_OK && selection_is_soft(&p->plan.selection, parameters)) {
        status = make_soft(p);
    }
    selection_notice(&p->plan.selection, p->request->outcome.notice, sizeof p->request->outcome.notice);
    stage_end(p, STAGE_DECODE);
    return status;
}

static enum status encode_only(struct pipeline *p) {
    if (p->filtered || !transcode_part_may_encode(p->request, p->worker, &p->plan)) {
        return ST_OK;
    }
    enum status status = make_source(p, NULL, p->err);
    p->decode_ns = 0;
    stage_end(p, STAGE_DECODE);
    p->complete =
        status == ST_OK && transcode_part_encode(p->request, p->worker, &p->plan, &p->work, &p->source);
    p->clock = p->complete ? clock_ns() : p->clock;
    return status;
}

/* Converts the picture to linear light, filters it and converts the result back. */
static enum status run_linear(struct pipeline *p, const struct chain_run *asked, struct lane_timing *timing) {
    struct image source, result;
    struct chain_run run = *asked;
    struct image_shape shape = chain_result(&p->plan.chain, &p->plan.filtered);
    workspace_place(&source, &p->plan.filtered, p->work.linear[0]);
    workspace_place(&result, &shape, p->work.linear[1]);
    run.source = &source;
    run.target = &result;
    enum status status = linear_from(run.crew, run.deadline_ns, &p->source, &source, p->err);
    status = status == ST_OK ? run_chain(p, &run, timing) : status;
    if (status != ST_OK || plan_answer(&p->plan) == ANSWER_STATISTICS) {
        p->result = result;
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
    struct pipeline *p = context;
    int64_t start = clock_ns();
    codec_encode_rows(p->encoding, rows);
    p->encode_ns += clock_ns() - start;
}

/* Whether the filters' output is the result, in whole rows from the top. */
static bool encoder_follows(const struct pipeline *p) {
    return !p->plan.selection.wanted && !plan_is_linear(&p->plan) && plan_answer(&p->plan) == ANSWER_PICTURE;
}

static enum status open_output(struct pipeline *p) {
    struct buf *output = &p->request->answer.body;
    transcode_init_output(&p->plan, output);
    workspace_place(&p->result, &p->plan.encoded, p->result.plane[0].data);
    return encoder_follows(p) ? codec_encode_begin(p->plan.output, &p->result, &p->plan.options,
                                                   &p->plan.picture.metadata, output, &p->encoding, p->err)
                              : ST_OK;
}

/* Redaction before a step that moves pixels needs no mask behind it. */
static bool has_mask(const struct pipeline *p) {
    return p->plan.selection.wanted && (chain_masked(&p->plan.chain) > 0);
}

static enum status filter(struct pipeline *p) {
    if (plan_answer(&p->plan) == ANSWER_BOXES || p->filtered) {
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
    stage_end(p, STAGE_FILTER);
    outcome->stage_ns[STAGE_UPLOAD] = timing.upload_ns;
    outcome->stage_ns[STAGE_DOWNLOAD] = timing.download_ns;
    outcome->stage_ns[STAGE_FILTER] -= timing.upload_ns + timing.download_ns + p->decode_ns + p->encode_ns;
    outcome->stage_ns[STAGE_DECODE] += p->decode_ns;
    return status;
}

static enum status encode(struct pipeline *p) {
    enum status status;
    if (p->encoding) {
        status = codec_encode_end(p->encoding, true, p->err);
        p->encoding = NULL;
    } else {
        status = output_write(&p->plan, &p->result, &p->request->answer.body, p->err);
    }
    stage_end(p, STAGE_ENCODE);
    p->request->outcome.stage_ns[STAGE_ENCODE] += p->encode_ns;
    return status;
}

/* The answer stays in memory until it is sent, longer than the slot that claimed the memory for it. */
static void count_memory(const struct pipeline *p) {
    struct request *request = p->request;
    request->answer_bytes = request->answer.body.capacity;
    slot_pool_count(request->service->slots, (int64_t)request->answer_bytes);
    log_message(LOG_DEBUG, "memory", "%s: predicted %" PRIu64 " bytes beside the body, took %zu with it",
                request->id, request->job.ways[request->job.way].bytes,
                request->slot->used + workspace_bytes(&p->work));
}

enum status pipeline_run(struct request *request, struct worker *worker, pipeline_keep *keep) {
    static enum status (*const steps[])(struct pipeline *) = {
        open_envelope, plan,   transcode,   keep_place,  take_core, take_memory, move_blocks,
        decode_only,   decode, encode_only, open_output, filter,    encode,
    };
    struct pipeline p = {
        .request = request, .worker = worker, .keep = keep, .err = &request->error, .clock = clock_ns()};
    const struct time_spent begun = time_spent_begin(request, worker);
    request->outcome.way = WAY_CPU; /* unless another one succeeds */
    enum status status = ST_OK;
    for (unsigned i = 0; i < sizeof steps / sizeof steps[0] && status == ST_OK && !p.complete; i++) {
        status = steps[i](&p);
    }
    time_spent_end(&begun, request, worker);
    if (status != ST_LIMIT || deadline_left(p.plan.limits.deadline_ns) > 0) {
        request->outcome.idle_ns = 0; /* it is not for want of time */
    }
    if (p.encoding) { /* a step before `encode` failed */
        codec_encode_end(p.encoding, false, NULL);
    }
    count_memory(&p);
    codec_link_clear(worker->codecs);
    metrics_add(request->service->metrics, METRIC_CODEC_FAULTS, codec_link_faults(worker->codecs));
    codec_picture_finish(&p.plan.picture);
    selection_finish(&p.plan.selection);
    workspace_close(&p.work);
    workers_core_give(worker);
    return status;
}
