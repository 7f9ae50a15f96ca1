/* SPDX-License-Identifier: MIT */
#include "server/series/frame.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "server/message/multipart.h"
#include "server/request.h"
#include "server/service.h"

enum status frame_check_series(struct request *series) {
    struct parameters *parameters = &series->parameters;
    struct error *err = &series->error;
    if (multipart_is(series->content_type)) {
        return fail(err, ST_UNSUPPORTED,
                    "a series is no form: the body is its frames, and parameters go in the query");
    }
    if (parameters->output.format != FORMAT_AUTO && parameters->output.format != FORMAT_JPEG) {
        return fail_argument(err, "format", "format: the frames of a series are JPEGs");
    }
    if (parameters->evidence.plan || parameters->evidence.report) {
        const char *name = parameters->evidence.plan ? "plan" : "report";
        return fail_argument(err, name, "%s: the answer to a series has frames only", name);
    }
    parameters->output.format = FORMAT_JPEG;
    parameters->input.series = true;
    return ST_OK;
}

struct request *frame_create(const struct request *series) {
    struct service *service = series->service;
    struct request *frame = calloc(1, sizeof *frame + 1);
    if (!frame) {
        return NULL;
    }
    frame->service = service;
    frame->settings = settings_share(series->settings);
    frame->is_frame = true;
    frame->admin = series->admin;
    frame->route = series->route;
    frame->parameters = series->parameters;
    frame->framing.chunked = true;
    frame->created_ns = clock_ns();
    frame->refusal = REFUSAL_MEMORY;
    frame->retry_after_s = 1;
    memcpy(frame->method, series->method, sizeof frame->method);
    memcpy(frame->id, series->id, sizeof frame->id);
    memcpy(frame->outcome.backend_name, "none", sizeof "none");
    atomic_fetch_add(&service->active, 1);
    metrics_add(service->metrics, METRIC_IN_FLIGHT, 1);
    return frame;
}
