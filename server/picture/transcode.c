/* SPDX-License-Identifier: MIT */
#include "server/picture/transcode.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/jpeg/jpeg_coefficients.h"
#include "codecs/jpeg/jpeg_splice.h"
#include "core/clock.h"
#include "core/processor.h"
#include "server/overload.h"
#include "server/picture/cores.h"
#include "server/picture/note_way.h"
#include "server/picture/output.h"
#include "server/picture/selection.h"
#include "server/picture/transcode_mask.h"
#include "server/planner/footprint.h"
#include "server/request.h"
#include "server/search/detection.h"
#include "server/search/focus.h"
#include "server/service.h"

/* One request of which a device does all. */
struct transcoding {
    struct cores *run;
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
static enum status copy_file(struct transcoding *work, struct error *err) {
    const struct bytes file = work->run->plan.input;
    enum status status = slot_acquire(work->run->request->service->slots, SLOT_LENT_FILE, &work->slot, err);
    uint8_t *memory = status == ST_OK ? slot_take(work->slot, file.size, err) : NULL;
    if (!memory) {
        return err->status;
    }
    bytes_stream(memory, file.data, file.size);
    work->input = (struct bytes){memory, file.size};
    return ST_OK;
}

/* They take more memory than a file. */
static enum status read_coefficients(struct transcoding *work, struct error *err) {
    const struct work_plan *plan = &work->run->plan;
    struct coefficients_layout layout;
    int64_t start = clock_ns();
    if (!coefficients_lay_out(&plan->picture.native, &layout)) {
        return fail(err, ST_UNSUPPORTED, "the JPEG's planes are not read as coefficients");
    }
    enum status status = slot_acquire(work->run->request->service->slots, SLOT_LENT_WORK, &work->slot, err);
    size_t table = jpeg_coefficients_table(&layout), lent = jpeg_coefficients_bytes(&layout) - table;
    uint8_t *memory = status == ST_OK ? slot_take(work->slot, lent, err) : NULL;
    uint8_t *own = memory ? slot_take(work->run->request->slot, table, err) : NULL;
    if (!own) {
        return err->status;
    }
    const struct jpeg_coefficients_way how = {
        .quick = processor_extracts_bits(), .plain = keeps_blocks(plan), .table = (uint64_t *)(void *)own};
    status = jpeg_coefficients_read_by(&how, plan->input, &plan->limits, &plan->picture.native, memory, err);
    work->input = (struct bytes){memory, coefficients_size(&layout)};
    work->read_ns = clock_ns() - start;
    return status;
}

static struct transcode job_of(struct transcoding *work, const struct chain *chain) {
    const struct work_plan *plan = &work->run->plan;
    return (struct transcode){.chain = chain,
                              .slot = work->slot,
                              .input = work->input,
                              .form = work->form,
                              .shape = plan->picture.native,
                              .colours = plan_colours(plan),
                              .orientation = 1,
                              .quality = plan->options.quality,
                              .patch = keeps_blocks(plan),
                              .picture = &work->picture};
}

/* Runs the search of this index. */
static enum status search_for(struct transcoding *work, unsigned index, struct error *err) {
    struct detection *detection = &work->run->plan.detection;
    struct transcode job = job_of(work, &detection->search[index].chain);
    struct lane_timing timing = {0};
    size_t size = 0;
    job.output = detection->result.plane[0].data;
    job.room = sizeof(struct candidates);
    enum status status = lane_transcode(work->run->worker->lane[0], &job, &size, &timing, err);
    work->search.unit = timing.unit;
    work->search.upload_ns += timing.upload_ns;
    work->search.filter_ns += timing.filter_ns;
    work->search.download_ns += timing.download_ns;
    return status == ST_OK ? detection_read(detection, index, &work->run->request->parameters,
                                            work->run->request->service->model, err)
                           : status;
}

/* Searches; the boxes become regions of the selection. */
static enum status search(struct transcoding *work, struct error *err) {
    struct request *request = work->run->request;
    struct work_plan *plan = &work->run->plan;
    struct detection *detection = &plan->detection;
    enum status status = detection_take_memory(detection, work->slot, request->slot, err);
    for (unsigned i = 0; i < detection->count && status == ST_OK; i++) {
        status = search_for(work, i, err);
    }
    if (status != ST_OK) {
        return status;
    }
    focus_apply(plan);
    detection_leave_out(detection, &request->parameters, &request->outcome);
    detection_note(detection, &request->parameters, &request->outcome);
    return plan->selection.wanted
               ? detection_add(detection, &request->parameters, &plan->selection.region, err)
               : ST_OK;
}

/* Makes the answer from the device's JPEG. Its scans stay in the slot that has them, unless that holds
 * coefficients, too, or bodies hold much memory already. */
static enum status answer_with(struct transcoding *work, struct bytes encoded, bool patch,
                               struct error *err) {
    const struct work_plan *plan = &work->run->plan;
    const struct metadata *metadata = &plan->picture.metadata;
    struct answer *answer = &work->run->request->answer;
    const struct image_shape written = transcode_written(&plan->encoded, plan_colours(plan));
    struct bytes scans;
    enum status status = jpeg_splice(encoded, &written, patch ? metadata->jfif_minor : JPEG_SPLICE_MINOR,
                                     &plan->options, metadata, &answer->body, &scans, err);
    if (status != ST_OK) {
        return status;
    }
    work->run->request->outcome.kept_blocks = patch;
    if (work->form == TRANSCODE_COEFFICIENTS || request_reads_answer(work->run->request) ||
        !overload_receives_zero_copy(work->run->request->service)) {
        return buf_append(&answer->body, scans.data, scans.size, err);
    }
    answer->rest = scans;
    answer->slot = work->slot;
    work->slot = NULL;
    return ST_OK;
}

static enum status make_picture(struct transcoding *work, struct error *err) {
    struct work_plan *plan = &work->run->plan;
    struct transcode job = job_of(work, &plan->chain);
    struct transcode_mask mask;
    bool masked;
    size_t size = 0;
    enum status status = transcode_mask_make(&mask, plan, work->slot, work->run->request->slot, &masked, err);
    if (status != ST_OK) {
        return status;
    }
    job.mask = masked ? &mask : NULL;
    job.orientation = plan->orientation;
    job.optimal = plan->options.optimal;
    job.room = footprint_device_output(plan);
    job.output = slot_take(work->slot, job.room, err);
    status = job.output ? lane_transcode(work->run->worker->lane[0], &job, &size, &work->timing, err)
                        : err->status;
    if (status != ST_OK) {
        return status;
    }
    return answer_with(work, (struct bytes){job.output, size}, job.patch, err);
}

static enum status run(struct transcoding *work, struct error *err) {
    struct request *request = work->run->request;
    struct work_plan *plan = &work->run->plan;
    enum status status =
        work->form == TRANSCODE_COEFFICIENTS ? read_coefficients(work, err) : copy_file(work, err);
    if (status == ST_OK && plan->detection.count > 0) {
        status = search(work, err);
    }
    if (status == ST_OK) {
        status = selection_count(&plan->selection, &request->parameters, &request->outcome, err);
    }
    if (status != ST_OK) {
        return status;
    }
    output_init(plan, &request->answer.body);
    return plan_answer(plan) == ANSWER_BOXES ? output_boxes(plan, &request->answer.body, err)
                                             : make_picture(work, err);
}

static void note_success(const struct transcoding *work) {
    struct request *request = work->run->request;
    struct outcome *outcome = &request->outcome;
    const struct lane_timing *search = &work->search, *timing = &work->timing;
    bool picture = plan_answer(&work->run->plan) != ANSWER_BOXES;
    outcome->stage_ns[STAGE_DECODE] += work->read_ns + search->upload_ns + timing->upload_ns;
    outcome->stage_ns[STAGE_DETECT] = search->filter_ns + search->download_ns;
    outcome->stage_ns[STAGE_FILTER] = timing->filter_ns;
    outcome->stage_ns[STAGE_ENCODE] = timing->download_ns;
    selection_notice(&work->run->plan.selection, outcome->notice, sizeof outcome->notice);
    note_way_taken(request, work->run->way, 0, picture ? timing->unit : search->unit);
}

/* The CPU begins with the request as it was, and may need all of the memory. */
static void note_failure(struct transcoding *work, const struct outcome *before,
                         const struct region_mark *regions, size_t used, const struct error *err) {
    struct request *request = work->run->request;
    buf_finish(&request->answer.body);
    slot_cut(request->slot, used);
    region_return(&work->run->plan.selection.region, regions);
    free(request->outcome.report);
    request->outcome = *before;
    note_way_failed(request, 0, err);
}

enum status transcode_run(struct cores *p) {
    static const enum transcode_form forms[] = {[WAY_GPU_FILE] = TRANSCODE_SCAN,
                                                [WAY_GPU_SCANS] = TRANSCODE_SCANS,
                                                [WAY_GPU_COEFFICIENTS] = TRANSCODE_COEFFICIENTS};
    struct request *request = p->request;
    struct transcoding work = {.run = p, .form = forms[p->way]};
    const struct outcome before = request->outcome;
    const struct region_mark regions = region_mark(&p->plan.selection.region);
    struct error cause = {0};
    size_t used = request->slot->used;
    enum status status = run(&work, &cause);
    slot_give_back(work.slot);
    p->complete = status == ST_OK;
    if (p->complete) {
        note_success(&work);
    } else if (status == ST_NOTHING) {
        *p->err = cause;
        return status;
    } else {
        note_failure(&work, &before, &regions, used, &cause);
    }
    return ST_OK;
}
