/* SPDX-License-Identifier: MIT
 * What becomes of the gain map of a picture: docs/hdr.md. Thread-safe for different plans. */
#ifndef BLURD_SERVER_PLANNER_HDR_PLAN_H
#define BLURD_SERVER_PLANNER_HDR_PLAN_H

#include "server/planner/plan.h"

/* Finds the map of plan->input, once the rest of the plan is made, and decides. plan_finish frees what it
 * took. */
void hdr_plan_make(struct work_plan *plan);

/* Whether the picture's file has a gain map, kept or not. */
bool hdr_plan_found(const struct work_plan *plan);

/* Appends to *chain what step `index` of the plan does to a map of this shape, at the map's scale: nothing,
 * if it would do nothing there. False if no such step can be made. The places of crops may have changed since
 * hdr_plan_make; the shape of the result never does. */
bool hdr_plan_step(const struct work_plan *plan, unsigned index, const struct image_shape *map,
                   struct chain *chain);

/* Bytes of each of the two buffers for the map, of the mask of the base (0: none), and of all memory for a
 * map, with these, codecs and the copy of the answer; 0 unless it is kept. */
size_t hdr_plan_picture_bytes(const struct work_plan *plan);
size_t hdr_plan_mask_bytes(const struct work_plan *plan);
size_t hdr_plan_bytes(const struct work_plan *plan, size_t answer);

#endif
