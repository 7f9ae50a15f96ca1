/* SPDX-License-Identifier: MIT */
#include "server/work.h"

#include <stddef.h>

#include "core/clock.h"
#include "server/answer.h"
#include "server/overload.h"
#include "server/picture/pipeline.h"
#include "server/request.h"
#include "server/service.h"

enum { LATE_SHARE = 10 }; /* see work_judge_late */

enum status work_judge_late(struct request *request, enum status status) {
    int64_t idle = request->outcome.idle_ns, limit = request->settings->config.work_timeout_ms * 1000000;
    if (status != ST_LIMIT || idle < limit / LATE_SHARE) {
        return status;
    }
    overload_refuse(request, REFUSAL_DEADLINE, idle);
    return fail(
        &request->error, ST_BUSY,
        "the picture had a processor for %.0f ms of the time limit of %.0f ms; others had it meanwhile",
        clock_ns_to_ms(idle < limit ? limit - idle : 0), clock_ns_to_ms(limit));
}

void work_learn(struct request *request, enum role role, int64_t real_ns) {
    struct cost_model *model = &request->service->cost;
    const struct outcome *outcome = &request->outcome;
    if (outcome->way == WAY_GPU_FILE && request->cost.ways[WAY_GPU_FILE].table_ns > 0) {
        cost_learn_device(model, &request->cost, real_ns);
    } else if (role == ROLE_ANY || role == ROLE_LARGE) { /* others wait for the device */
        cost_learn(model, &request->cost, outcome->way, real_ns, outcome->stage_ns[STAGE_DETECT]);
        if (role == ROLE_ANY && request->job.ways[WAY_GPU_FILE].ns > 0) {
            cost_doubt_device(model);
        }
    }
}

static struct request *request_of(struct job *job) {
    return (struct request *)(void *)((char *)job - offsetof(struct request, job));
}

/* Another worker may have the request when this returns. */
static void requeue(struct request *request) {
    enum status status = overload_requeue(request);
    if (status != ST_OK && request->is_frame) {
        request->transport->resume(request);
    } else if (status != ST_OK) {
        request_give_slot_back(request);
        answer_problem(request, problem_of(status));
        request->transport->resume(request);
    }
}

void work_run(struct job *job, struct worker *worker) {
    struct request *request = request_of(job);
    struct outcome *outcome = &request->outcome;
    outcome->stages = true;
    outcome->stage_ns[STAGE_QUEUE] = clock_ns() - request->queued_ns;
    struct error *err = &request->error;
    enum status status = request->transport->is_gone(request)
                             ? fail(err, ST_CANCELLED, "the client closed the connection")
                             : work_judge_late(request, pipeline_run(request, worker));
    if (request->needed > 0) {
        requeue(request);
        return;
    }
    /* What a frame was searched for is not its answer: its body is read again. */
    const bool searched = status == ST_OK && request->parameters.detect.stage == DETECT_FINDS;
    if (!searched) {
        request_give_slot_back(request);
    }
    outcome->stage_ns[STAGE_TOTAL] = clock_ns() - request->queued_ns;
    job->served = status == ST_OK;
    if (job->served) {
        int64_t lasted_ns = outcome->stage_ns[STAGE_TOTAL] - outcome->stage_ns[STAGE_QUEUE];
        if (!outcome->animated) {
            work_learn(request, worker->role, worker->role == ROLE_LARGE ? outcome->computed_ns : lasted_ns);
        }
    }
    if (job->served && !searched) {
        metrics_way(request->service->metrics, outcome->way);
        answer_picture(request);
    } else if (!job->served) {
        answer_problem(request, problem_of(status));
    }
    workers_done(request->service->workers, job);
    request->transport->resume(request);
}

void work_refuse(struct job *job, enum refusal refusal) {
    struct request *request = request_of(job);
    struct outcome *outcome = &request->outcome;
    outcome->stages = true;
    outcome->stage_ns[STAGE_QUEUE] = outcome->stage_ns[STAGE_TOTAL] = clock_ns() - request->queued_ns;
    enum status status = overload_refuse(request, refusal, outcome->stage_ns[STAGE_QUEUE]);
    if (!request->is_frame) {
        request_give_slot_back(request);
        answer_problem(request, problem_of(status));
    }
    request->transport->resume(request);
}
