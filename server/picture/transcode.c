/* SPDX-License-Identifier: MIT */
#include "server/picture/transcode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/jpeg_coefficients.h"
#include "codecs/jpeg/jpeg_splice.h"
#include "core/clock.h"
#include "core/log.h"
#include "core/processor.h"
#include "server/picture/footprint.h"
#include "server/picture/transcode_mask.h"
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

void transcode_init_output(const struct work_plan *plan, struct buf *output) {
    /* Even noise at quality 100 is smaller, with its metadata. */
    size_t pixels = (size_t)plan->encoded.width * plan->encoded.height;
    buf_init(output, pixels * 16 + (8 << 20));
}

/* One request's way over a device. */
struct transcoding {
    struct request *request;
    struct lane *lane;
    struct work_plan *plan;
    struct slot *slot;        /* holds the input and what the device reads and writes beside it */
    struct bytes input;       /* a copy of the file, or the coefficients of one with several scans */
    enum transcode_form form; /* of the input */
    int64_t read_ns;          /* time of reading coefficients */
    uint64_t picture;         /* number of the decoded picture, from the search */
    struct lane_timing search, timing;
};

static bool keeps_blocks(const struct work_plan *plan) {
    return plan_answer(plan) == ANSWER_PICTURE && plan_may_patch(plan);
}

/* The body stays the daemon's alone, whose metadata it reads again, and which others do not get to see. */
static enum status copy_file(struct transcoding *way, struct error *err) {
    const struct bytes file = way->plan->input;
    enum status status = slot_acquire(way->request->service->slots, SLOT_LENT_FILE, &way->slot, err);
    uint8_t *memory = status == ST_OK ? slot_take(way->slot, file.size, err) : NULL;
    if (!memory) {
        return err->status;
    }
    bytes_stream(memory, file.data, file.size);
    way->input = (struct bytes){memory, file.size};
    return ST_OK;
}

/* They take more memory than a file. */
static enum status read_coefficients(struct transcoding *way, struct error *err) {
    const struct work_plan *plan = way->plan;
    struct coefficients_layout layout;
    int64_t start = clock_ns();
    if (!coefficients_lay_out(&plan->picture.native, &layout)) {
        return fail(err, ST_UNSUPPORTED, "the JPEG's planes are not read as coefficients");
    }
    enum status status = slot_acquire(way->request->service->slots, SLOT_LENT_WORK, &way->slot, err);
    size_t table = jpeg_coefficients_table(&layout), lent = jpeg_coefficients_bytes(&layout) - table;
    uint8_t *memory = status == ST_OK ? slot_take(way->slot, lent, err) : NULL;
    uint8_t *own = memory ? slot_take(way->request->slot, table, err) : NULL;
    if (!own) {
        return err->status;
    }
    const struct jpeg_coefficients_way how = {
        .quick = processor_extracts_bits(), .plain = keeps_blocks(plan), .table = (uint64_t *)(void *)own};
    status = jpeg_coefficients_read_by(&how, plan->input, &plan->limits, &plan->picture.native, memory, err);
    way->input = (struct bytes){memory, coefficients_size(&layout)};
    way->read_ns = clock_ns() - start;
    return status;
}

static struct transcode job_of(struct transcoding *way, const struct chain *chain) {
    const struct work_plan *plan = way->plan;
    return (struct transcode){.chain = chain,
                              .slot = way->slot,
                              .input = way->input,
                              .form = way->form,
                              .shape = plan->picture.native,
                              .colours = plan_colours(plan),
                              .orientation = 1,
                              .quality = plan->options.quality,
                              .patch = keeps_blocks(plan),
                              .picture = &way->picture};
}

/* Searches for faces, which become regions of the selection. */
static enum status search(struct transcoding *way, struct error *err) {
    struct request *request = way->request;
    struct work_plan *plan = way->plan;
    struct detection *detection = &plan->detection;
    struct transcode job = job_of(way, &detection->chain);
    size_t size = 0;
    enum status status = detection_take_memory(detection, way->slot, request->slot, err);
    if (status == ST_OK) {
        job.output = detection->result.plane[0].data;
        job.room = sizeof(struct face_candidates);
        status = lane_transcode(way->lane, &job, &size, &way->search, err);
    }
    status = status == ST_OK ? detection_read(detection, request->service->faces, err) : status;
    if (status != ST_OK) {
        return status;
    }
    detection_note(detection, &request->parameters, &request->outcome);
    return plan->selection.wanted
               ? detection_add(detection, &request->parameters, &plan->selection.region, err)
               : ST_OK;
}

/* Makes the answer from the device's JPEG. Its scans stay in the slot that has them, unless that holds
 * coefficients, too, or bodies hold much memory already. */
static enum status answer_with(struct transcoding *way, struct bytes encoded, bool patch, struct error *err) {
    const struct work_plan *plan = way->plan;
    const struct metadata *metadata = &plan->picture.metadata;
    struct answer *answer = &way->request->answer;
    const struct image_shape written = transcode_written(&plan->encoded, plan_colours(plan));
    struct bytes scans;
    enum status status = jpeg_splice(encoded, &written, patch ? metadata->jfif_minor : JPEG_SPLICE_MINOR,
                                     &plan->options, metadata, &answer->body, &scans, err);
    if (status != ST_OK) {
        return status;
    }
    if (way->form == TRANSCODE_COEFFICIENTS || !way->request->receives_zero_copy) {
        return buf_append(&answer->body, scans.data, scans.size, err);
    }
    answer->rest = scans;
    answer->slot = way->slot;
    way->slot = NULL;
    return ST_OK;
}

static enum status make_picture(struct transcoding *way, struct error *err) {
    struct work_plan *plan = way->plan;
    struct transcode job = job_of(way, &plan->chain);
    struct transcode_mask mask;
    bool masked;
    size_t size = 0;
    enum status status = transcode_mask_make(&mask, plan, way->slot, way->request->slot, &masked, err);
    if (status != ST_OK) {
        return status;
    }
    job.mask = masked ? &mask : NULL;
    job.orientation = plan->orientation;
    job.optimal = plan->options.optimal;
    job.room = footprint_room(plan);
    job.output = slot_take(way->slot, job.room, err);
    status = job.output ? lane_transcode(way->lane, &job, &size, &way->timing, err) : err->status;
    if (status != ST_OK) {
        return status;
    }
    return answer_with(way, (struct bytes){job.output, size}, job.patch, err);
}

static enum status run(struct transcoding *way, struct error *err) {
    struct request *request = way->request;
    struct work_plan *plan = way->plan;
    enum status status =
        way->form == TRANSCODE_COEFFICIENTS ? read_coefficients(way, err) : copy_file(way, err);
    if (status == ST_OK && plan->detection.wanted) {
        status = search(way, err);
    }
    if (status == ST_OK) {
        status = selection_count(&plan->selection, &request->parameters, &request->outcome, err);
    }
    if (status != ST_OK) {
        return status;
    }
    transcode_init_output(plan, &request->answer.body);
    return plan_answer(plan) == ANSWER_FACES
               ? detection_write(&plan->detection, &request->parameters, &request->answer.body, err)
               : make_picture(way, err);
}

static void note_success(const struct transcoding *way) {
    struct request *request = way->request;
    struct service *service = request->service;
    struct outcome *outcome = &request->outcome;
    const struct lane_timing *search = &way->search, *timing = &way->timing;
    bool picture = plan_answer(way->plan) != ANSWER_FACES;
    outcome->stage_ns[STAGE_DECODE] += way->read_ns + search->upload_ns + timing->upload_ns;
    outcome->stage_ns[STAGE_DETECT] = search->filter_ns + search->download_ns;
    outcome->stage_ns[STAGE_FILTER] = timing->filter_ns;
    outcome->stage_ns[STAGE_ENCODE] = timing->download_ns;
    outcome->backend = 1;
    outcome->device = true;
    selection_notice(&way->plan->selection, outcome->notice, sizeof outcome->notice);
    transcode_name_backend(outcome, service->backend[0], picture ? timing->unit : search->unit, "/jpeg");
    metrics_add(service->metrics, METRIC_JPEG_DEVICE, 1);
    metrics_add(service->metrics, METRIC_JPEG_SCANS, way->form == TRANSCODE_SCANS);
}

/* The CPU begins with the request as it was, and may need all of the memory. */
static void note_failure(struct transcoding *way, const struct outcome *before,
                         const struct region_mark *regions, size_t used, const struct error *err) {
    struct request *request = way->request;
    struct service *service = request->service;
    bool failed = err->status == ST_DEVICE;
    buf_finish(&request->answer.body);
    slot_cut(request->slot, used);
    region_return(&way->plan->selection.region, regions);
    free(request->outcome.report);
    request->outcome = *before;
    metrics_add(service->metrics, failed ? METRIC_BACKEND_FAILURES : METRIC_JPEG_RETURNED, 1);
    log_message(failed ? LOG_WARNING : LOG_DEBUG, "backend", "%s: %s", service->backend[0]->name, err->text);
}

/* Whether the queue gave the job to a device, or lets this worker hand coefficients to one. */
static bool is_given(const struct request *request, const struct work_plan *plan) {
    bool handed = request->job.device || request->cost.handed;
    return plan->picture.progressive ? handed && !plan->limits.libjpeg : request->job.device;
}

/* A reader lets the device read the scans, another worker does that itself. */
static enum transcode_form form_of(const struct work_plan *plan, const struct worker *worker) {
    return !plan->picture.progressive  ? TRANSCODE_SCAN
           : worker->role == ROLE_READ ? TRANSCODE_SCANS
                                       : TRANSCODE_COEFFICIENTS;
}

enum status transcode_run(struct request *request, struct worker *worker, struct work_plan *plan,
                          bool *complete, struct error *err) {
    struct transcoding way = {
        .request = request, .lane = worker->lane[0], .plan = plan, .form = form_of(plan, worker)};
    const struct outcome before = request->outcome;
    const struct region_mark regions = region_mark(&plan->selection.region);
    struct error cause = {0};
    size_t used = request->slot->used;
    if (!is_given(request, plan) || !way.lane || backend_transcodes(request->service->backend[0]) == 0 ||
        !plan_may_transcode(plan)) {
        return ST_OK;
    }
    enum status status = run(&way, &cause);
    slot_give_back(way.slot);
    *complete = status == ST_OK;
    if (status == ST_OK) {
        note_success(&way);
        return ST_OK;
    }
    if (status == ST_NOTHING) {
        *err = cause;
        return status;
    }
    note_failure(&way, &before, &regions, used, &cause);
    return ST_OK;
}

/* ---- decoding only, encoding only ---- */

static bool device_helps(const struct request *request, const struct worker *worker) {
    struct service *service = request->service;
    return worker->lane[0] && backend_transcodes(service->backend[0]) > 0 &&
           backend_state(service->backend[0], NULL) == BACKEND_SERVING;
}

/* The input lies in the first part of the workspace, the output in the second. */
static struct transcode partial_job(const struct work_plan *plan, const struct workspace *work) {
    return (struct transcode){.chain = &plan->chain,
                              .slot = work->slot,
                              .orientation = 1,
                              .quality = 1,
                              .output = work->memory[1],
                              .room = work->footprint.picture};
}

/* The worker goes on with its pictures, which a device that fails leaves as they are. */
static void give_up(const struct request *request, const struct error *cause) {
    const struct service *service = request->service;
    bool failed = cause->status != ST_UNSUPPORTED && cause->status != ST_BUSY;
    metrics_add(service->metrics, failed ? METRIC_BACKEND_FAILURES : METRIC_JPEG_RETURNED, 1);
    log_message(failed ? LOG_WARNING : LOG_DEBUG, "backend", "%s: %s", service->backend[0]->name,
                cause->text);
}

static enum status run_partial(const struct worker *worker, const struct transcode *job, size_t *size,
                               struct lane_timing *timing, struct error *err) {
    enum status status = lane_transcode(worker->lane[0], job, size, timing, err);
    return status == ST_OK && job->pixels && *size != job->room
               ? fail(err, ST_DEVICE, "the picture is not complete")
               : status;
}

static void count_partial(struct request *request, const struct lane_timing *timing) {
    struct outcome *outcome = &request->outcome;
    outcome->stage_ns[STAGE_DECODE] += timing->upload_ns;
    outcome->stage_ns[STAGE_FILTER] += timing->filter_ns;
    outcome->stage_ns[STAGE_ENCODE] += timing->download_ns;
    outcome->backend = 1;
    transcode_name_backend(outcome, request->service->backend[0], timing->unit, "");
    metrics_add(request->service->metrics, METRIC_JPEG_PARTLY, 1);
}

bool transcode_decode(struct request *request, const struct worker *worker, const struct work_plan *plan,
                      struct workspace *work, struct image *result) {
    const struct bytes file = plan->input;
    struct lane_timing timing;
    struct error cause = {0};
    size_t size = 0;
    if (!plan_may_decode_only(plan) || !device_helps(request, worker) ||
        file.size > work->footprint.picture) {
        return false;
    }
    struct transcode job = partial_job(plan, work);
    memcpy(work->memory[0], file.data, file.size);
    job.input = (struct bytes){work->memory[0], file.size};
    job.form = TRANSCODE_SCAN;
    job.shape = plan->picture.native;
    job.colours = plan->stored.model == PIXEL_RGB ? plan_colours(plan) : TRANSCODE_PLANES;
    job.orientation = plan->orientation;
    job.pixels = true;
    job.room = plan_shape_size(&plan->encoded);
    if (run_partial(worker, &job, &size, &timing, &cause) != ST_OK) {
        give_up(request, &cause);
        return false;
    }
    workspace_place(result, &plan->encoded, work->memory[1]);
    count_partial(request, &timing);
    return true;
}

static enum status answer_with_copy(struct request *request, const struct work_plan *plan,
                                    struct bytes encoded, struct error *err) {
    const struct image_shape written = transcode_written(&plan->encoded, plan_colours(plan));
    struct buf *body = &request->answer.body;
    struct bytes scans;
    transcode_init_output(plan, body);
    enum status status = jpeg_splice(encoded, &written, JPEG_SPLICE_MINOR, &plan->options,
                                     &plan->picture.metadata, body, &scans, err);
    return status == ST_OK ? buf_append(body, scans.data, scans.size, err) : status;
}

bool transcode_may_encode(const struct request *request, const struct worker *worker,
                          const struct work_plan *plan) {
    return plan_may_encode_only(plan) && device_helps(request, worker);
}

bool transcode_encode(struct request *request, const struct worker *worker, const struct work_plan *plan,
                      struct workspace *work, const struct image *source) {
    struct lane_timing timing;
    struct error cause = {0};
    size_t size = 0, room = footprint_room(plan);
    struct transcode job = partial_job(plan, work);
    job.shape = image_shape(source);
    job.input = (struct bytes){work->memory[0], plan_shape_size(&job.shape)};
    job.form = TRANSCODE_PIXELS;
    job.colours = plan_colours(plan);
    job.quality = plan->options.quality;
    job.optimal = plan->options.optimal;
    job.room = room < job.room ? room : job.room;
    enum status status = run_partial(worker, &job, &size, &timing, &cause);
    if (status == ST_OK) {
        status = answer_with_copy(request, plan, (struct bytes){work->memory[1], size}, &cause);
    }
    if (status != ST_OK) {
        buf_finish(&request->answer.body);
        give_up(request, &cause);
        return false;
    }
    count_partial(request, &timing);
    return true;
}
