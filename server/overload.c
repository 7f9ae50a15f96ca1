/* SPDX-License-Identifier: MIT */
#include "server/overload.h"

#include <inttypes.h>

#include "core/clock.h"
#include "core/numbers.h"
#include "core/tuned.h"
#include "server/message/multipart.h"
#include "server/planner/footprint.h"
#include "server/planner/intent.h"
#include "server/request.h"
#include "server/route.h"
#include "server/service.h"

enum {
    RETRY_MAX_S = 60,
    LINES_MAX = 50, /* log lines a second */
};

static int64_t max_wait_of(const struct request *request) {
    return request->settings->config.work_timeout_ms * 1000000;
}

enum status overload_refuse(struct request *request, enum refusal refusal, int64_t wait_ns) {
    struct error *err = &request->error;
    double ms = clock_ns_to_ms(wait_ns);
    int64_t seconds = wait_ns / 1000000000 + 1;
    request->refusal = refusal;
    request->retry_after_s = (unsigned)(seconds < RETRY_MAX_S ? seconds : RETRY_MAX_S);
    switch (refusal) {
    case REFUSAL_QUEUE:
        return fail(err, ST_BUSY, "%u requests are waiting, as many as the option queue allows",
                    request->service->config->queue);
    case REFUSAL_WAIT:
        return fail(err, ST_BUSY, "the wait for a worker would be %.0f ms, longer than a request may wait",
                    ms);
    case REFUSAL_STANDING:
        return fail(err, ST_BUSY, "there is more work than can be done; the wait would be %.0f ms", ms);
    case REFUSAL_LARGE:
        return fail(err, ST_BUSY, "there is more work than can be done; large pictures have to wait");
    case REFUSAL_AGE:
        return fail(err, ST_BUSY, "there is more work than can be done; given up after waiting %.0f ms", ms);
    case REFUSAL_DEADLINE:
        return fail(err, ST_BUSY, "no worker or memory was free for %.0f ms, as long as a request may wait",
                    ms);
    case REFUSAL_DRAINING:
        return fail(err, ST_BUSY, "the server is shutting down");
    default:
        return fail(err, ST_BUSY, "the memory for request bodies is in use");
    }
}

enum status overload_start_workers(struct service *service, unsigned count, const struct workers_calls *calls,
                                   struct error *err) {
    const struct config *config = service->config;
    const struct workers_options options = {
        .limits = {.workers = count,
                   .devices = service->gpu_concurrency,
                   .entropy_decodes = service->entropy_decodes,
                   .shared = config->jpeg_codec != CHOICE_jpeg_codec_gpu,
                   .queue = config->queue,
                   .memory = slot_pool_budget(service->slots),
                   .target_ns = config->queue_target_ms * 1000000,
                   .interval_ns = config->queue_interval_ms * 1000000},
        .backends = service->backend,
        .backend_count = service->backend_count,
        .codecs = service->codecs,
        .metrics = service->metrics,
        .slots = service->slots,
        .calls = *calls,
    };
    return workers_create(&service->workers, &options, err);
}

uint64_t overload_body_most(const struct request *request) {
    uint64_t most = room_most_body(slot_pool_budget(request->service->slots));
    uint64_t limit = request->settings->config.max_body;
    return limit < most ? limit : most;
}

enum status overload_check_size(struct request *request, uint64_t size) {
    uint64_t most = overload_body_most(request);
    bool by_memory = most < request->settings->config.max_body;
    return size <= most ? ST_OK
                        : fail(&request->error, ST_TOO_LARGE,
                               "the body is larger than the limit of %" PRIu64 " bytes%s", most,
                               by_memory ? ", which is a quarter of the option memory" : "");
}

enum status overload_gate(struct request *request) {
    struct service *service = request->service;
    uint64_t body =
        request->route->series ? 0 : request->framing.content_length; /* is never there as a whole */
    if (!overload_has_room(service, body)) {
        return overload_refuse(request, REFUSAL_MEMORY, 0);
    }
    int64_t wait_ns;
    enum refusal refusal = workers_gate(service->workers, max_wait_of(request), &wait_ns);
    return refusal == REFUSAL_NONE ? ST_OK : overload_refuse(request, refusal, wait_ns);
}

enum status overload_check_body(struct request *request) {
    return overload_has_room(request->service, 0) ? ST_OK : overload_refuse(request, REFUSAL_MEMORY, 0);
}

/* All that bodies may hold now. Without workers no job runs. */
static uint64_t body_budget(const struct service *service) {
    const struct room idle = {.budget = slot_pool_budget(service->slots)};
    return service->workers ? workers_body_room(service->workers) : room_for_bodies(&idle);
}

bool overload_has_room(const struct service *service, uint64_t bytes) {
    return slot_pool_files(service->slots) + bytes <= body_budget(service);
}

bool overload_receives_zero_copy(const struct service *service) {
    return slot_pool_files(service->slots) < body_budget(service) / 2;
}

/* What admission control counts. A picture that is too large for a request is only done by a device, which
 * needs little of that memory, or refused; of an unrecognised one the size is guessed. */
static uint64_t bytes_beside_body(const struct request *request, const struct intent *intent,
                                  uint64_t needed) {
    uint64_t most = request->job.most - request->job.body;
    bool by_device = request->cost.ways[WAY_GPU_FILE].ns > 0 || request->cost.general == WAY_GPU_COEFFICIENTS;
    uint64_t instead = !intent->known ? most : by_device ? footprint_beside_device(&intent->plan) : 0;
    return needed <= most ? needed : instead < most ? instead : most;
}

/* A form is searched for its picture until envelope_open has read it. */
static struct cost predict(const struct request *request, struct intent *intent) {
    const struct config *config = &request->settings->config;
    const struct service *service = request->service;
    const struct codec_limits limits = {.max_pixels = config->max_pixels,
                                        .max_side = config->max_side,
                                        .libjpeg = config->jpeg_library == CHOICE_jpeg_library_turbo};
    bool opened = request->picture.data != NULL;
    struct bytes body = {request->slot->memory, request->body_size};
    intent_make(intent, opened ? request->picture : body, opened ? "" : request->content_type,
                request->accept, &request->parameters, &limits);
    return cost_predict(&service->cost, intent, service_gpu(service),
                        service->config->jpeg_codec == CHOICE_jpeg_codec_gpu);
}

void overload_estimate(struct request *request) {
    const uint64_t budget = slot_pool_budget(request->service->slots);
    struct job *job = &request->job;
    struct intent intent = {0};
    request->cost = predict(request, &intent);
    const struct cost *cost = &request->cost;
    const struct footprint footprint = footprint_of(&intent.plan, request->service->cpu);
    const uint64_t needed = footprint_sum(&footprint);
    *job = (struct job){.general = cost->general,
                        .way = cost->way,
                        .body = request->body_size,
                        .most = room_most(budget),
                        .max_wait_ns = max_wait_of(request)};
    const uint64_t bytes = bytes_beside_body(request, &intent, needed);
    job->ways[WAY_GPU_FILE] = (struct job_way){cost->ways[WAY_GPU_FILE].ns, bytes};
    job->ways[cost->general] = (struct job_way){cost->ways[cost->general].ns, bytes};
    if (cost->general == WAY_GPU_COEFFICIENTS) {
        job->ways[WAY_GPU_SCANS] =
            (struct job_way){cost->ways[WAY_GPU_SCANS].ns, footprint_beside_device(&intent.plan)};
    }
    if (room_is_lone(budget, needed)) {
        slot_cut(request->slot, request->slot->used); /* what it had before is for others */
    }
}

static enum status submit(struct request *request) {
    int64_t wait_ns;
    enum refusal refusal = workers_submit(request->service->workers, &request->job, &wait_ns);
    return refusal == REFUSAL_NONE ? ST_OK : overload_refuse(request, refusal, wait_ns);
}

enum status overload_submit(struct request *request) {
    overload_estimate(request);
    return submit(request);
}

/* Whether the fields and parts of a form made a large job of what was queued as another. */
static bool is_large_form(const struct request *request) {
    if (request->job.kind == JOB_LARGE || !multipart_is(request->content_type)) {
        return false;
    }
    struct intent intent = {0};
    const struct cost cost = predict(request, &intent);
    return workers_is_large(request->service->workers, cost.ways[cost.general].ns);
}

enum status overload_check_needs(struct request *request, const struct worker *worker, uint64_t needed) {
    const struct job *job = &request->job;
    bool possible = needed > 0 && needed + job->body <= job->most; /* else it is refused for good */
    if (!possible || request->requeued) {
        return ST_OK;
    }
    bool covered = job->way == WAY_GPU_SCANS || needed <= job->ways[job->way].bytes ||
                   workers_grow(request->service->workers, &request->job, needed);
    if (covered && (worker->role == ROLE_LARGE || !is_large_form(request))) {
        return ST_OK;
    }
    request->needed = needed;
    return fail(&request->error, ST_BUSY, "the request has to wait again, for what it needs");
}

enum status overload_requeue(struct request *request) {
    struct job *job = &request->job;
    workers_done(request->service->workers, job);
    overload_estimate(request);
    job->ways[WAY_GPU_FILE].ns = job->ways[WAY_GPU_SCANS].ns = 0; /* a worker has tried them */
    job->way = job->general;
    job->ways[job->way].bytes = max_size(job->ways[job->way].bytes, request->needed);
    job->max_wait_ns = max_i64(0, job->max_wait_ns - (clock_ns() - request->queued_ns)); /* of both waits */
    request->needed = 0;
    request->requeued = true;
    return submit(request);
}

unsigned overload_in_flight(const struct service *service) {
    const bool gpu =
        service->backend_count > 1 && backend_state(service->backend[0], NULL) == BACKEND_SERVING;
    const unsigned workers = service->config->workers ? service->config->workers : service->cores;
    return gpu ? TUNED_IN_FLIGHT : 2 * workers;
}

bool overload_may_log(struct service *service) {
    int64_t second = clock_ns() / 1000000000;
    if (atomic_exchange(&service->refusal_second, second) != second) {
        atomic_store(&service->refusal_lines, 0);
    }
    bool may = atomic_fetch_add(&service->refusal_lines, 1) < LINES_MAX;
    metrics_add(service->metrics, METRIC_REFUSED_UNLOGGED, !may);
    return may;
}
