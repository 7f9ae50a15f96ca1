/* SPDX-License-Identifier: MIT */
#include "server/tracing/span.h"

#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "server/request.h"
#include "server/route.h"
#include "server/settings.h"

bool span_is_wanted(const struct request *request) {
    bool probe = request->route && request->route->answer && request->outcome.problem == PROBLEM_NONE;
    return !probe && (!request->trace.known || request->trace.sampled);
}

static void fill_times(struct span_record *record, const struct request *request) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    record->end_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    int64_t offset = record->end_ns - clock_ns();
    record->begin_ns = offset + request->created_ns;
    record->queued_ns = offset + (request->queued_ns ? request->queued_ns : request->created_ns);
    memcpy(record->stage_ns, request->outcome.stage_ns, sizeof record->stage_ns);
}

void span_fill(struct span_record *record, const struct request *request) {
    const struct outcome *outcome = &request->outcome;
    const struct problem_kind *kind = problem_kind(outcome->problem);
    *record = (struct span_record){
        .http_status = request->answered ? request->answer.http_status : kind->http_status,
        .width = outcome->width,
        .height = outcome->height,
        .received = request->received,
        .sent = request->sent,
        .stages = outcome->stages,
    };
    if (request->trace.known) {
        memcpy(record->trace_id, request->trace.trace_id, sizeof record->trace_id);
        memcpy(record->parent_id, request->trace.parent_id, sizeof record->parent_id);
    }
    snprintf(record->method, sizeof record->method, "%s", request->method);
    snprintf(record->path, sizeof record->path, "%.*s", SPAN_PATH_MAX - 1, request->target);
    snprintf(record->route, sizeof record->route, "%s", request->route ? request->route->path : "");
    snprintf(record->request_id, sizeof record->request_id, "%s", request->id);
    snprintf(record->client, sizeof record->client, "%s",
             request->settings->config.log_client ? request->client : "");
    snprintf(record->backend, sizeof record->backend, "%s", outcome->backend_name);
    if (outcome->problem != PROBLEM_NONE) {
        snprintf(record->problem, sizeof record->problem, "%s", kind->slug);
    }
    fill_times(record, request);
}
