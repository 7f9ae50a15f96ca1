/* SPDX-License-Identifier: MIT
 * Reads the header and then tries the ways of server/ways.def on one worker, until one makes the answer.
 * Sizes are known before memory is taken. The decoded picture stays unchanged until the result exists, so
 * that another way can take over. */
#include "server/picture/pipeline.h"

#include <inttypes.h>

#include "codecs/process/codec_link.h"
#include "core/clock.h"
#include "core/deadline.h"
#include "core/log.h"
#include "cpu/orient.h"
#include "server/evidence/redaction_list.h"
#include "server/evidence/report.h"
#include "server/evidence/verification.h"
#include "server/hdr/hdr.h"
#include "server/overload.h"
#include "server/picture/cores.h"
#include "server/picture/envelope.h"
#include "server/picture/frames/animate.h"
#include "server/picture/move_blocks.h"
#include "server/picture/note_way.h"
#include "server/picture/output.h"
#include "server/picture/time_spent.h"
#include "server/picture/transcode.h"
#include "server/picture/transcode_part.h"
#include "server/planner/footprint.h"
#include "server/planner/hdr_plan.h"
#include "server/request.h"
#include "server/search/hold.h"
#include "server/service.h"

static enum metric_format format_of(const struct work_plan *plan) {
    return plan_answer(plan) == ANSWER_PICTURE ? (enum metric_format)(plan->output + 1) : METRIC_FORMAT_NONE;
}

static enum status plan(struct cores *p) {
    const struct request *request = p->request;
    struct outcome *outcome = &p->request->outcome;
    p->plan.parameters = &request->parameters;
    p->plan.limits =
        plan_limits(&request->settings->config, slot_pool_budget(request->service->slots), p->clock);
    p->plan.limits.link = p->worker->codecs;
    p->plan.limits.crew = p->worker->crew;
    enum status status = plan_make(&p->plan, p->request->picture, request->accept, p->err);
    if (status == ST_OK) {
        hdr_plan_make(&p->plan);
    }
    if (p->plan.upright.width > 0) { /* the header was valid */
        struct image_shape whole = orient_shape(&p->plan.picture.pixels, p->plan.orientation);
        outcome->width = whole.width;
        outcome->height = whole.height;
        outcome->format = format_of(&p->plan);
        outcome->animated = frames_plan_animates(&p->plan.frames);
    }
    p->plan.options.crew = p->worker->crew;
    p->plan.options.link = p->worker->codecs;
    p->plan.options.losses = &outcome->losses;
    return status;
}

/* Waits for a core where workers outnumber them. The wait counts as a wait in the queue. */
static enum status take_core(struct cores *p) {
    int64_t start = clock_ns();
    enum status status = workers_core_take(p->worker, p->plan.limits.deadline_ns, p->err);
    int64_t wait_ns = clock_ns() - start;
    p->request->outcome.stage_ns[STAGE_QUEUE] += wait_ns;
    p->clock += wait_ns;
    return status;
}

/* Whether the picture, the request, the GPU and the worker permit the way. After the memory is taken, GPUs
 * get what lies in memory that they may map; no other process ever maps the rest. */
static bool is_open(const struct cores *p, enum way way) {
    const struct service *service = p->request->service;
    bool core = way == WAY_BLOCKS || way == WAY_CPU;
    return way_fits(way, &p->plan, service_gpu(service)) &&
           p->worker->lane[core ? service->backend_count - 1 : 0] && (core || p->work.lends || !p->work.slot);
}

/* Does what all ways need on which cores do a part. Ends the run where the request has to wait in the queue
 * again. */
static enum status take_memory(struct cores *p) {
    const struct job *job = &p->request->job;
    p->work.footprint = footprint_within(&p->plan, p->request->service->cpu, job->most - job->body);
    enum status status = overload_check_needs(p->request, p->worker, footprint_sum(&p->work.footprint));
    status = status == ST_OK ? take_core(p) : status;
    p->work.lends = is_open(p, WAY_GPU_FILTER);
    return status == ST_OK ? workspace_open(&p->work, p->request, &p->plan, p->err) : status;
}

static enum status run_on_cores(struct cores *p) {
    return frames_plan_animates(&p->plan.frames) ? animate_run(p) : cores_run(p);
}

static enum status move_blocks(struct cores *p) {
    output_init(&p->plan, &p->request->answer.body);
    note_way_taken(p->request, WAY_BLOCKS, p->request->service->backend_count - 1, -1);
    enum status status = move_blocks_write(&p->plan, &p->request->answer.body, p->err);
    p->complete = status == ST_OK;
    cores_end_stage(p, STAGE_ENCODE);
    return status;
}

/* Begins with the way that the queue chose, if a GPU does all of it, and goes on with those after BLOCKS. */
static enum status try_ways(struct cores *p) {
    static enum status (*const tries[WAY_COUNT])(struct cores *) = {
        [WAY_GPU_FILE] = transcode_run,           [WAY_GPU_SCANS] = transcode_run,
        [WAY_GPU_COEFFICIENTS] = transcode_run,   [WAY_BLOCKS] = move_blocks,
        [WAY_GPU_DECODE] = transcode_part_decode, [WAY_GPU_ENCODE] = transcode_part_encode,
        [WAY_GPU_FILTER] = run_on_cores,          [WAY_CPU] = run_on_cores,
    };
    enum way chosen = p->request->job.way;
    enum status status = ST_OK;
    for (p->way = chosen < WAY_BLOCKS ? chosen : WAY_BLOCKS; p->way < WAY_COUNT && !p->complete;
         p->way = p->way < WAY_BLOCKS ? WAY_BLOCKS : p->way + 1) {
        p->gpu_failed = false;
        status = p->way == WAY_BLOCKS ? take_memory(p) : ST_OK;
        status = status == ST_OK && is_open(p, p->way) ? tries[p->way](p) : status;
        if (status != ST_OK && !p->gpu_failed) {
            return status;
        }
    }
    return p->complete ? ST_OK : fail(p->err, ST_BUSY, "no backend has memory for this worker");
}

/* The answer stays in memory until it is sent, longer than the slot that claimed the memory for it. */
static void count_memory(const struct cores *p) {
    struct request *request = p->request;
    request->answer_bytes = request->answer.body.capacity;
    slot_pool_count(request->service->slots, (int64_t)request->answer_bytes);
    log_message(LOG_DEBUG, "memory", "%s: predicted %" PRIu64 " bytes beside the body, took %zu with it",
                request->id, request->job.ways[request->job.way].bytes,
                request->slot->used + workspace_bytes(&p->work));
}

/* Once, as the request may be queued again. */
static enum status add_held(struct request *request, struct error *err) {
    const struct held *held = request->held;
    request->held = NULL;
    return held ? hold_add(held, &request->parameters, &request->parameters.input.region, err) : ST_OK;
}

/* Does what the request is about, unless a report is to be verified without the picture. */
static enum status run(struct cores *p) {
    struct request *request = p->request;
    enum status status = ST_OK;
    if (!request->verification || request->picture.data) {
        status = redaction_list_check(&request->parameters, request->picture, p->err);
        status = status == ST_OK ? add_held(request, p->err) : status;
        status = status == ST_OK ? plan(p) : status;
        if (status == ST_OK && request->verification && p->plan.frames.count > 0) {
            status =
                fail(p->err, ST_UNSUPPORTED, "the picture is animated; reports are about still pictures");
        }
        status = status == ST_OK ? try_ways(p) : status;
    }
    if (status == ST_OK && p->complete) {
        hdr_add(request, &p->plan, p->worker);
    }
    if (status == ST_OK && request->verification) {
        status = verification_answer(request, &p->plan, p->err);
    }
    return status == ST_OK && request->parameters.evidence.report ? report_add(request, &p->plan, p->err)
                                                                  : status;
}

enum status pipeline_run(struct request *request, struct worker *worker) {
    struct cores p = {.request = request, .worker = worker, .err = &request->error, .clock = clock_ns()};
    const struct time_spent begun = time_spent_begin(request, worker);
    request->outcome.way = WAY_CPU; /* unless another one succeeds */
    enum status status = envelope_open(request, p.err);
    status = status == ST_OK ? run(&p) : status;
    envelope_explain(request, status);
    time_spent_end(&begun, request, worker);
    if (status != ST_LIMIT || deadline_left(p.plan.limits.deadline_ns) > 0) {
        request->outcome.idle_ns = 0; /* it is not for want of time */
    }
    if (p.encoding) { /* what comes before its end failed */
        codec_encode_end(p.encoding, false, NULL);
    }
    animate_finish(&p);
    count_memory(&p);
    codec_link_clear(worker->codecs);
    metrics_add(request->service->metrics, METRIC_CODEC_FAULTS, codec_link_faults(worker->codecs));
    plan_finish(&p.plan);
    workspace_close(&p.work);
    workers_core_give(worker);
    return status;
}
