/* SPDX-License-Identifier: MIT
 * What is left out of the boxes that were found. */
#include "server/search/detection.h"

/* The box that a rectangle of `except` names best, of those that were found; BOXES_MAX: none. */
static unsigned named_by(const struct boxes *boxes, const struct parameters *parameters, uint32_t index,
                         const struct boxes_frame *frame) {
    const enum region_unit unit = (enum region_unit)parameters->input.region.unit;
    unsigned named = BOXES_MAX;
    double best = 0;
    for (unsigned i = 0; i < boxes->count; i++) {
        const struct box *box = &boxes->box[i];
        const double number[4] = {box->x, box->y, box->width, box->height};
        const double match =
            region_keep_match(&parameters->input.except, index, unit, frame->width, frame->height, number);
        if (match > best) {
            best = match;
            named = i;
        }
    }
    return named;
}

/* Returns how many there were. Places are those of the picture, without margin and grid. */
static uint32_t leave_out(struct boxes *boxes, const struct parameters *parameters,
                          const struct boxes_frame *frame) {
    bool named[BOXES_MAX + 1] = {false};
    for (uint32_t i = 0; i < parameters->input.except.count; i++) {
        named[named_by(boxes, parameters, i, frame)] = true;
    }
    const unsigned count = boxes->count;
    unsigned kept = 0;
    for (unsigned i = 0; i < count; i++) {
        if (!named[i]) {
            boxes->box[kept++] = boxes->box[i];
        }
    }
    boxes->count = kept;
    return count - kept;
}

void detection_leave_out(struct detection *detection, const struct parameters *parameters,
                         struct outcome *outcome) {
    const struct boxes_frame *frame = &detection->search[0].frame;
    for (unsigned id = 0; detection->counted >> id; id++) {
        if (!(detection->counted >> id & 1)) {
            continue;
        }
        struct boxes *boxes = &detection->found->boxes[detection_kind(detection, id)];
        if (detection->doubtful) {
            struct boxes *doubtful = boxes + detection_kinds(detection);
            boxes_leave_out(doubtful, boxes);
            leave_out(doubtful, parameters, frame);
        }
        outcome->excepted[id] += leave_out(boxes, parameters, frame);
    }
}
