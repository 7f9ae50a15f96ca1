/* SPDX-License-Identifier: MIT */
#include "server/picture/transcode_part.h"

#include <string.h>

#include "codecs/jpeg/jpeg_splice.h"
#include "core/clock.h"
#include "server/picture/cores.h"
#include "server/picture/note_way.h"
#include "server/picture/output.h"
#include "server/planner/footprint.h"
#include "server/request.h"
#include "server/service.h"

/* The input lies in the first part of the workspace, the output in the second. */
static struct transcode partial_job(const struct work_plan *plan, const struct workspace *work) {
    return (struct transcode){.chain = &plan->chain,
                              .slot = work->slot,
                              .orientation = 1,
                              .quality = 1,
                              .output = work->memory[1],
                              .room = work->footprint.picture};
}

static enum status run_partial(const struct worker *worker, const struct transcode *job, size_t *size,
                               struct lane_timing *timing, struct error *err) {
    enum status status = lane_transcode(worker->lane[0], job, size, timing, err);
    return status == ST_OK && job->pixels && *size != job->room
               ? fail(err, ST_DEVICE, "the picture is not complete")
               : status;
}

static void count_partial(struct cores *p, const struct lane_timing *timing) {
    struct outcome *outcome = &p->request->outcome;
    outcome->stage_ns[STAGE_DECODE] += timing->upload_ns;
    outcome->stage_ns[STAGE_FILTER] += timing->filter_ns;
    outcome->stage_ns[STAGE_ENCODE] += timing->download_ns;
    note_way_taken(p->request, p->way, 0, timing->unit);
    p->clock = clock_ns();
}

enum status transcode_part_decode(struct cores *p) {
    const struct work_plan *plan = &p->plan;
    const struct bytes file = plan->input;
    struct lane_timing timing;
    struct error cause = {0};
    size_t size = 0;
    if (file.size > p->work.footprint.picture) {
        return ST_OK;
    }
    struct transcode job = partial_job(plan, &p->work);
    memcpy(p->work.memory[0], file.data, file.size);
    job.input = (struct bytes){p->work.memory[0], file.size};
    job.form = TRANSCODE_SCAN;
    job.shape = plan->picture.native;
    job.colours = plan->stored.model == PIXEL_RGB ? plan_colours(plan) : TRANSCODE_PLANES;
    job.orientation = plan->orientation;
    job.pixels = true;
    job.room = plan_shape_size(&plan->encoded);
    if (run_partial(p->worker, &job, &size, &timing, &cause) != ST_OK) {
        note_way_failed(p->request, 0, &cause);
        return ST_OK;
    }
    workspace_place(&p->result, &plan->encoded, p->work.memory[1]);
    count_partial(p, &timing);
    return cores_write(p);
}

static enum status answer_with_copy(struct request *request, const struct work_plan *plan,
                                    struct bytes encoded, struct error *err) {
    const struct image_shape written = transcode_written(&plan->encoded, plan_colours(plan));
    struct buf *body = &request->answer.body;
    struct bytes scans;
    output_init(plan, body);
    enum status status = jpeg_splice(encoded, &written, JPEG_SPLICE_MINOR, &plan->options,
                                     &plan->picture.metadata, body, &scans, err);
    return status == ST_OK ? buf_append(body, scans.data, scans.size, err) : status;
}

enum status transcode_part_encode(struct cores *p) {
    const struct work_plan *plan = &p->plan;
    struct lane_timing timing;
    struct error cause = {0};
    size_t size = 0, room = footprint_device_output(plan);
    enum status status = cores_decode(p);
    if (status != ST_OK) {
        return status;
    }
    struct transcode job = partial_job(plan, &p->work);
    job.shape = image_shape(&p->source);
    job.input = (struct bytes){p->work.memory[0], plan_shape_size(&job.shape)};
    job.form = TRANSCODE_PIXELS;
    job.colours = plan_colours(plan);
    job.quality = plan->options.quality;
    job.optimal = plan->options.optimal;
    job.room = room < job.room ? room : job.room;
    status = run_partial(p->worker, &job, &size, &timing, &cause);
    if (status == ST_OK) {
        status = answer_with_copy(p->request, plan, (struct bytes){p->work.memory[1], size}, &cause);
    }
    p->complete = status == ST_OK;
    if (p->complete) {
        count_partial(p, &timing);
    } else {
        buf_finish(&p->request->answer.body);
        note_way_failed(p->request, 0, &cause);
    }
    return ST_OK;
}
