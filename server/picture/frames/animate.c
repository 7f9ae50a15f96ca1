/* SPDX-License-Identifier: MIT */
#include "server/picture/frames/animate.h"

#include "server/picture/selection.h"
#include "server/planner/footprint.h"
#include "server/request.h"
#include "server/search/focus.h"

/* The canvases of the writer lie behind those of the reader. */
static void begin(struct cores *p) {
    const struct frames_plan *frames = &p->plan.frames;
    struct buf *output = &p->request->answer.body;
    struct animation animation = frames->animation;
    if (p->opened) {
        return;
    }
    p->opened = true;
    animation.frames = frames->count;
    buf_init(output, footprint_animation_most(&p->plan));
    frames_writer_open(&p->writer, p->plan.output, &p->plan.encoded, &animation, &p->plan.options,
                       &p->plan.picture.metadata, output,
                       p->work.frames + frames_reader_bytes(&frames->animation, p->plan.stored.depth));
}

/* Searches the frames, from the first one that has not been. Where only a crop follows what is found, the
 * first frames will do. */
static enum status find_all(struct cores *p) {
    const struct frames_plan *frames = &p->plan.frames;
    struct found_frames *found = &p->found;
    enum status status = ST_OK;
    if (!found->first) {
        found_frames_open(found, &p->plan, p->work.found_frames);
    }
    while (status == ST_OK && !found->complete) {
        p->index = frames->first_searched + found->searched - frames->first;
        status = cores_search(p);
        if (status != ST_OK || p->gpu_failed) {
            return status;
        }
        p->decoded = false;
        status = found_frames_add(found, &p->plan, p->err);
        found->complete =
            found->searched == frames->searched || (p->plan.detection.counted == 0 && focus_apply(&p->plan));
    }
    frame_source_close(&p->frames);
    p->index = 0;
    p->searched = p->plan.selection.lenient = true;
    return status;
}

static enum status filter(struct cores *p) {
    enum status status = ST_OK;
    if (p->searched && !p->drawn) {
        status = found_frames_select(&p->found, &p->plan, p->index, p->err);
    }
    return status == ST_OK ? cores_filter(p) : status;
}

static enum status write(struct cores *p) {
    enum status status = frames_writer_add(&p->writer, &p->result, frame_source_last(&p->frames), p->err);
    p->index++;
    p->decoded = p->drawn = false;
    p->covered = p->covered || !p->plan.selection.none;
    selection_restart(&p->plan.selection, &p->plan.stored);
    cores_end_stage(p, STAGE_ENCODE);
    return status;
}

/* Something that is required has to be in some frame. If it is in none, it is not in the last one. */
static enum status check_all(struct cores *p) {
    const struct parameters *parameters = &p->request->parameters;
    struct selection *selection = &p->plan.selection;
    if (!p->searched || p->covered) {
        return ST_OK;
    }
    selection->lenient = false;
    enum status status = selection_count(selection, parameters, &p->request->outcome, p->err);
    selection_notice(selection, p->request->outcome.notice, sizeof p->request->outcome.notice);
    return status == ST_OK ? selection_check(selection, parameters, &p->plan.stored, p->err) : status;
}

enum status animate_run(struct cores *p) {
    const bool searches = p->plan.detection.count > 0 && !p->searched;
    enum status status = searches ? find_all(p) : ST_OK;
    if (p->gpu_failed) {
        return status;
    }
    begin(p);
    while (status == ST_OK && p->index < p->plan.frames.count) {
        status = filter(p);
        status = status == ST_OK ? write(p) : status;
    }
    status = status == ST_OK ? check_all(p) : status;
    status = status == ST_OK ? frames_writer_end(&p->writer, p->err) : status;
    p->complete = status == ST_OK;
    return status;
}

void animate_finish(struct cores *p) {
    frame_source_close(&p->frames);
    frames_writer_close(&p->writer);
}
