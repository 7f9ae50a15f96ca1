/* SPDX-License-Identifier: MIT */
#include "server/series/frame.h"

#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "detect/held/finds.h"
#include "server/message/multipart.h"
#include "server/overload.h"
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

unsigned frame_holds(const struct request *series) {
    const struct parameters *parameters = &series->parameters;
    return parameters_detect(parameters) ? (unsigned)parameters->detect.hold : 0;
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
    if (frame_holds(series) > 0) {
        frame->parameters.detect.stage = DETECT_FINDS;
        frame->parameters.detect.finds = &frame->finds;
    }
    memcpy(frame->method, series->method, sizeof frame->method);
    memcpy(frame->id, series->id, sizeof frame->id);
    memcpy(frame->outcome.backend_name, "none", sizeof "none");
    atomic_fetch_add(&service->active, 1);
    metrics_add(service->metrics, METRIC_IN_FLIGHT, 1);
    return frame;
}

enum status frame_hold(struct request *frame, const struct finds *const near[], unsigned count) {
    struct error *err = &frame->error;
    const struct finds *own = frame->finds;
    uint32_t boxes = 0;
    frame->requeued = false;
    memset(frame->outcome.stage_ns, 0, sizeof frame->outcome.stage_ns);
    frame->queued_ns = clock_ns();
    for (unsigned i = 0; i < count; i++) {
        boxes += near[i] ? near[i]->count : 0;
    }
    if (boxes == 0) {
        frame->parameters.detect.stage = DETECT_HELD;
        return ST_OK;
    }
    const size_t head = bytes_align_up(sizeof(struct held), IMAGE_ALIGNMENT);
    const size_t tracks = bytes_align_up(sizeof(struct tracks), IMAGE_ALIGNMENT);
    const size_t room = bytes_align_up(sizeof(struct region_room), IMAGE_ALIGNMENT);
    uint8_t *memory = slot_take(frame->slot, head + tracks + room + boxes * sizeof(struct track_box), err);
    if (!memory) {
        return overload_refuse(frame, REFUSAL_MEMORY, 0);
    }
    struct held *held = (struct held *)(void *)memory;
    *held = (struct held){.width = own->width,
                          .height = own->height,
                          .box = (struct track_box *)(void *)(memory + head + tracks + room),
                          .tracks = (struct tracks *)(void *)(memory + head),
                          .room = (struct region_room *)(void *)(memory + head + tracks)};
    for (unsigned i = 0; i < count; i++) {
        if (near[i]) {
            finds_scale(near[i], own->width, own->height, held->box + held->count);
            held->count += near[i]->count;
        }
    }
    frame->held = held;
    frame->parameters.detect.stage =
        DETECT_HELD; /* only now: without what is held it would be searched again */
    return ST_OK;
}
