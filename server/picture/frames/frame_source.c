/* SPDX-License-Identifier: MIT */
#include "server/picture/frames/frame_source.h"

enum status frame_source_read(struct frame_source *source, const struct work_plan *plan, uint8_t *memory,
                              uint32_t index, const struct image *target, struct error *err) {
    struct frames_reader *reader = &source->reader;
    enum status status = ST_OK;
    if (!source->opened) {
        frames_reader_open(reader, plan->input, &plan->frames.animation, &plan->limits, plan->stored.depth,
                           memory);
        source->opened = true;
    }
    while (status == ST_OK && reader->cursor.index <= index) {
        status = frames_reader_next(reader, err);
    }
    if (status == ST_OK) {
        frames_show(&reader->canvas, target);
    }
    return status;
}

const struct frame *frame_source_last(const struct frame_source *source) {
    return &source->reader.frame;
}

void frame_source_close(struct frame_source *source) {
    if (source->opened) {
        frames_reader_close(&source->reader);
    }
    *source = (struct frame_source){0};
}
