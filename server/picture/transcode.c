/* SPDX-License-Identifier: MIT */
#include "server/picture/transcode.h"

#include <stdio.h>

#include "codecs/jpeg/jpeg_splice.h"
#include "core/log.h"
#include "server/picture/footprint.h"
#include "server/request.h"
#include "server/service.h"

void transcode_name_backend(struct outcome *outcome, const struct backend *backend, int unit,
                            const char *codec) {
    char number[16] = "";
    if (unit >= 0) {
        snprintf(number, sizeof number, ":%d", unit);
    }
    snprintf(outcome->backend_name, sizeof outcome->backend_name, "%.12s%s%s", backend->name, number, codec);
}

void transcode_init_output(const struct plan *plan, struct buf *output) {
    /* Even noise at quality 100 is smaller, with its metadata. */
    size_t pixels = (size_t)plan->encoded.width * plan->encoded.height;
    buf_init(output, pixels * 16 + (8 << 20));
}

static enum status run(struct request *request, struct lane *lane, const struct plan *plan,
                       struct lane_timing *timing, struct error *err) {
    struct buf *output = &request->answer.body;
    struct transcode job = {
        .chain = &plan->chain,
        .slot = request->slot,
        .input = plan->input,
        .shape = plan->stored,
        .orientation = plan->orientation,
        .quality = plan->options.quality,
        .room = footprint_room(plan),
    };
    size_t size = 0;
    request->slot->shared = true;
    job.output = slot_take(request->slot, job.room, err);
    enum status status = job.output ? lane_transcode(lane, &job, &size, timing, err) : err->status;
    if (status != ST_OK) {
        return status;
    }
    transcode_init_output(plan, output);
    status = jpeg_splice((struct bytes){job.output, size}, &plan->encoded, &plan->options,
                         &plan->picture.metadata, output, err);
    if (status != ST_OK) {
        buf_finish(output);
    }
    return status;
}

bool transcode_run(struct request *request, struct worker *worker, const struct plan *plan,
                   struct error *err) {
    struct service *service = request->service;
    struct outcome *outcome = &request->outcome;
    struct backend *backend = service->backend[0];
    struct lane *lane = worker->lane[0];
    struct lane_timing timing;
    size_t used = request->slot->used;
    if (!request->job.device || !lane || backend_transcodes(backend) == 0 || !plan_may_transcode(plan)) {
        return false;
    }
    enum status status = run(request, lane, plan, &timing, err);
    if (status != ST_OK) {
        slot_cut(request->slot, used); /* the CPU may need all of the memory */
        bool failed = status == ST_DEVICE;
        metrics_add(service->metrics, failed ? METRIC_BACKEND_FAILURES : METRIC_JPEG_RETURNED, 1);
        log_message(failed ? LOG_WARNING : LOG_DEBUG, "backend", "%s: %s", backend->name, err->text);
        return false;
    }
    outcome->stage_ns[STAGE_DECODE] += timing.upload_ns;
    outcome->stage_ns[STAGE_FILTER] = timing.filter_ns;
    outcome->stage_ns[STAGE_ENCODE] = timing.download_ns;
    outcome->backend = 1;
    outcome->device = true;
    transcode_name_backend(outcome, backend, timing.unit, "/jpeg");
    metrics_add(service->metrics, METRIC_JPEG_DEVICE, 1);
    return true;
}
