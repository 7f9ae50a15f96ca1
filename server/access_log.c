/* SPDX-License-Identifier: MIT */
#include "server/access_log.h"

#include <stdio.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/overload.h"
#include "server/request.h"
#include "server/routes.h"
#include "server/service.h"
#include "server/tracing/exporter.h"

/* Reasons and their counters are in the same order. */
_Static_assert((int)METRIC_REFUSED_DRAINING - (int)METRIC_REFUSED_MEMORY ==
                   (int)REFUSAL_DRAINING - (int)REFUSAL_MEMORY,
               "a counter for each reason");

static const struct {
    enum metric searches, found;
} detectors[DETECTORS] = {
#define DETECTOR(ID, name, thing, Title) [DETECTOR_##ID] = {METRIC_SEARCHES_##ID, METRIC_FOUND_##ID},
#include "detect/detectors.def"
#undef DETECTOR
};

static void count_request(const struct request *request) {
    struct metrics *metrics = request->service->metrics;
    const struct outcome *outcome = &request->outcome;
    metrics_request(metrics, routes_number(request->route), outcome->format, outcome->problem,
                    outcome->backend);
    metrics_add(metrics, METRIC_SENT_BYTES, (int64_t)request->sent);
    metrics_add(metrics, METRIC_FRAMES, (int64_t)outcome->frames);
    if (problem_is_overload(outcome->problem)) {
        metrics_add(metrics, METRIC_REFUSED_MEMORY + (enum metric)(request->refusal - REFUSAL_MEMORY), 1);
    }
}

static void count_work(const struct request *request) {
    struct metrics *metrics = request->service->metrics;
    const struct outcome *outcome = &request->outcome;
    if (outcome->stages && outcome->problem == PROBLEM_NONE) {
        metrics_add(metrics, METRIC_PIXELS, (int64_t)outcome->width * outcome->height);
        for (unsigned i = 0; i < STAGE_COUNT; i++) {
            if (i != STAGE_DETECT || outcome->searched) {
                metrics_stage(metrics, i, outcome->stage_ns[i]);
            }
        }
    }
    for (unsigned i = 0; outcome->searched >> i; i++) {
        if (outcome->searched >> i & 1) {
            metrics_add(metrics, detectors[i].searches, 1);
            metrics_add(metrics, detectors[i].found, outcome->found[i]);
        }
    }
}

/* What became of the picture, and how long that took. */
static void log_outcome(struct log_line *line, const struct outcome *outcome) {
    if (outcome->width) {
        log_number(line, "width", outcome->width);
        log_number(line, "height", outcome->height);
    }
    log_string(line, "backend", outcome->backend_name);
    if (outcome->stages && outcome->problem == PROBLEM_NONE) {
        log_string(line, "way", metrics_way_name(outcome->way));
    }
    for (unsigned i = 0; outcome->searched >> i; i++) {
        if (outcome->searched >> i & 1) {
            log_number(line, detector_get(i)->name, outcome->found[i]);
        }
    }
    for (unsigned i = 0; outcome->stages && i < STAGE_COUNT; i++) {
        char key[24];
        if (i == STAGE_DETECT && !outcome->searched) {
            continue;
        }
        snprintf(key, sizeof key, "%s_ms", metrics_stage_name(i));
        log_ms(line, key, outcome->stage_ns[i]);
    }
}

static void log_request(const struct request *request) {
    const struct outcome *outcome = &request->outcome;
    const struct problem_kind *kind = problem_kind(outcome->problem);
    struct log_line line;
    /* Probes come every second, so successful ones are logged at debug level only. */
    bool probe = request->route && request->route->answer && outcome->problem == PROBLEM_NONE;
    log_begin(&line,
              outcome->problem == PROBLEM_INTERNAL ? LOG_ERROR
              : probe                              ? LOG_DEBUG
                                                   : LOG_INFO,
              "request");
    log_string(&line, "id", request->id);
    if (request->trace.known) {
        log_string(&line, "trace_id", request->trace.trace_id);
        log_string(&line, "parent_id", request->trace.parent_id);
    }
    if (request->settings->config.log_client) {
        log_string(&line, "client", request->client);
    }
    log_string(&line, "method", request->method);
    log_string(&line, "path", request->target);
    log_number(&line, "status", request->answered ? request->answer.http_status : kind->http_status);
    if (outcome->problem != PROBLEM_NONE) {
        log_string(&line, "reason", kind->slug);
        log_string(&line, "detail", request->error.text);
    }
    log_number(&line, "in", (int64_t)request->received);
    log_number(&line, "out", (int64_t)request->sent);
    if (request->route && request->route->series) {
        log_number(&line, "frames", (int64_t)outcome->frames);
    }
    log_outcome(&line, outcome);
    log_ms(&line, "life_ms", clock_ns() - request->created_ns);
    log_end(&line);
}

void access_log_write(const struct request *request) {
    count_work(request);
    if (request->is_frame) {
        return;
    }
    count_request(request);
    if (!problem_is_overload(request->outcome.problem) || overload_may_log(request->service)) {
        log_request(request);
    }
    exporter_add(request->service->exporter, request);
}
