/* SPDX-License-Identifier: MIT */
#include "server/picture/animate.h"

#include "server/picture/selection.h"
#include "server/planner/footprint.h"
#include "server/request.h"

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

static enum status write(struct cores *p) {
    enum status status = frames_writer_add(&p->writer, &p->result, frame_source_last(&p->frames), p->err);
    p->index++;
    p->decoded = p->drawn = false;
    selection_restart(&p->plan.selection, &p->plan.stored);
    cores_end_stage(p, STAGE_ENCODE);
    return status;
}

enum status animate_run(struct cores *p) {
    enum status status = ST_OK;
    begin(p);
    while (status == ST_OK && p->index < p->plan.frames.count) {
        status = cores_filter(p);
        status = status == ST_OK ? write(p) : status;
    }
    status = status == ST_OK ? frames_writer_end(&p->writer, p->err) : status;
    p->complete = status == ST_OK;
    return status;
}

void animate_finish(struct cores *p) {
    frame_source_close(&p->frames);
    frames_writer_close(&p->writer);
}
