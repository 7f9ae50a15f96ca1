/* SPDX-License-Identifier: MIT
 * Makes regions of finds that are held over the frames of an animation or a series: those of one are hidden
 * in its neighbours, too (docs/animations.md). */
#ifndef BLURD_SERVER_SEARCH_HOLD_H
#define BLURD_SERVER_SEARCH_HOLD_H

#include "detect/held/finds.h"
#include "server/planner/detection_plan.h"

/* Writes where all that was found is hidden to at most `room` boxes. ST_LIMIT: there are more, or more than
 * FINDS_MAX. */
enum status hold_collect(const struct detection *detection, const struct parameters *parameters,
                         struct track_box *box, uint32_t room, uint32_t *count, struct error *err);

/* The same in memory of its own, which the caller frees. ST_BUSY without memory. */
enum status hold_find(const struct detection *detection, const struct parameters *parameters,
                      struct finds **finds, struct error *err);

/* Appends regions that cover all boxes to the set, without what `keep` names. Changes them. ST_LIMIT when the
 * set is full. */
enum status hold_add(const struct held *held, const struct parameters *parameters, struct region_set *set,
                     struct error *err);

#endif
