/* SPDX-License-Identifier: MIT
 * `gravity=faces`: the part of a picture that is kept goes where what was found is. */
#ifndef BLURD_SERVER_SEARCH_FOCUS_H
#define BLURD_SERVER_SEARCH_FOCUS_H

#include "detect/boxes.h"
#include "server/planner/plan.h"

enum { FOCUS_BOXES = 64 /* the heaviest ones count */ };

/* Where a part of this size begins in a picture of these sides, x and y, that keeps as much as it can: of
 * each box the area times the score, times the square of the share that lies in the part, so that one whole
 * box is worth more than two halves. Of all such places it is the one whose middle is nearest to that of what
 * it keeps. False, and `begin` is unchanged: there is no box. */
bool focus_choose(const struct boxes *boxes, const uint32_t sides[2], const double size[2], double begin[2]);

/* Moves the part in each of the plan's steps that follow a search, once its boxes are read, and before any
 * are left out. Without a box it stays in the middle. A part that was moved stays there: that of an animation
 * follows the first frame in which something was found. Returns whether all have been moved. */
bool focus_apply(struct work_plan *plan);

#endif
