/* SPDX-License-Identifier: MIT */
#include "server/picture/failover.h"

#include "server/picture/note_way.h"
#include "server/request.h"
#include "server/service.h"

static enum status take_working(const struct failover *failover, struct error *err) {
    return workspace_lend(failover->work, failover->plan, failover->request->service->cpu,
                          failover->worker->crew, err);
}

bool failover_lends(const struct request *request, const struct worker *worker) {
    const struct service *service = request->service;
    bool serves = false;
    for (unsigned i = 0; i + 1 < service->backend_count; i++) {
        serves |= worker->lane[i] && backend_state(service->backend[i], NULL) == BACKEND_SERVING;
    }
    return serves && request->parameters.input.backend != BACKEND_CPU;
}

enum status failover_run(const struct failover *failover, const struct chain_run *asked,
                         struct lane_timing *timing, struct error *err) {
    struct chain_run run = *asked;
    struct service *service = failover->request->service;
    enum status status = fail(err, ST_BUSY, "no backend has memory for this worker");
    for (unsigned i = failover->work->lends ? 0 : service->backend_count - 1; i < service->backend_count;
         i++) {
        struct backend *backend = service->backend[i];
        if (!failover->worker->lane[i] || backend_state(backend, NULL) != BACKEND_SERVING) {
            continue;
        }
        status = backend == service->cpu ? take_working(failover, err) : ST_OK;
        run.working = failover->work->working;
        status = status == ST_OK ? lane_run(failover->worker->lane[i], &run, timing, err) : status;
        if (!*failover->decoded) {
            break;
        }
        if (status == ST_UNSUPPORTED && backend != service->cpu) {
            continue;
        }
        if (status != ST_DEVICE) {
            note_way_taken(failover->request, backend == service->cpu ? WAY_CPU : WAY_GPU_FILTER, i,
                           timing->unit);
            break;
        }
        note_way_left(failover->request, i, err);
    }
    return status;
}
