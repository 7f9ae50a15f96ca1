/* SPDX-License-Identifier: MIT
 * The frames of an animation, one after the other, in place of what a codec decodes. */
#ifndef BLURD_SERVER_PICTURE_FRAMES_FRAME_SOURCE_H
#define BLURD_SERVER_PICTURE_FRAMES_FRAME_SOURCE_H

#include "server/planner/plan.h"

/* Zero-initialise. */
struct frame_source {
    struct frames_reader reader;
    bool opened;
};

/* Resolves the frames up to this one, and copies the canvas to `target`, which has the shape plan->stored.
 * Indices may only grow. `memory` has footprint->frames bytes; it and the plan must outlive the source. Fails
 * like frames_reader_next. */
enum status frame_source_read(struct frame_source *source, const struct work_plan *plan, uint8_t *memory,
                              uint32_t index, const struct image *target, struct error *err);

/* The frame that was read last: how long it is shown. */
const struct frame *frame_source_last(const struct frame_source *source);

void frame_source_close(struct frame_source *source);

#endif
