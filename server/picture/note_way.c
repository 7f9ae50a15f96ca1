/* SPDX-License-Identifier: MIT */
#include "server/picture/note_way.h"

#include <stdio.h>

#include "core/log.h"
#include "server/request.h"
#include "server/service.h"

void note_way_taken(struct request *request, enum way way, unsigned backend, int unit) {
    struct outcome *outcome = &request->outcome;
    char number[13] = "";
    if (unit >= 0) {
        snprintf(number, sizeof number, ":%d", unit);
    }
    outcome->way = way;
    outcome->backend = backend + 1;
    snprintf(outcome->backend_name, sizeof outcome->backend_name, "%.12s%s%s",
             request->service->backend[backend]->name, number, way <= WAY_GPU_COEFFICIENTS ? "/jpeg" : "");
}

void note_way_failed(const struct request *request, unsigned backend, const struct error *cause) {
    const struct service *service = request->service;
    bool failed = cause->status == ST_DEVICE;
    metrics_add(service->metrics, failed ? METRIC_BACKEND_FAILURES : METRIC_JPEG_RETURNED, 1);
    log_message(failed ? LOG_WARNING : LOG_DEBUG, "backend", "%s: %s", service->backend[backend]->name,
                cause->text);
}
