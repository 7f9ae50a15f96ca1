/* SPDX-License-Identifier: MIT
 * What is found in the frames of an animation, which are all searched before the first one is answered, and
 * which of it is hidden in each. */
#ifndef BLURD_SERVER_PICTURE_FRAMES_FOUND_FRAMES_H
#define BLURD_SERVER_PICTURE_FRAMES_FOUND_FRAMES_H

#include "server/planner/plan.h"
#include "server/search/hold.h"

/* Zero-initialise. */
struct found_frames {
    uint32_t searched; /* frames, from frames_plan.first_searched on */
    uint32_t *first; /* the index of the first box of each of them, and one behind the last; NULL: not open */
    struct track_box *box;
    struct tracks *tracks;
    bool complete;           /* nothing is left to be searched */
    struct region_mark mark; /* of the regions that all frames have */
};

/* Lays it into the memory that footprint_lay_out_found says. */
void found_frames_open(struct found_frames *found, const struct work_plan *plan, uint8_t *memory);

/* Adds what was found in the next frame. ST_LIMIT: there is no room for it. */
enum status found_frames_add(struct found_frames *found, const struct work_plan *plan, struct error *err);

/* Once the search is complete: sets the regions of the plan's selection to those of an answered frame;
 * `index` counts answered frames from 0. Fails like hold_add. */
enum status found_frames_select(const struct found_frames *found, struct work_plan *plan, uint32_t index,
                                struct error *err);

#endif
