/* SPDX-License-Identifier: MIT
 * Makes boxes, regions and answers of what planned searches found. A request that asks for them fails when
 * one cannot be done: no picture leaves with what was not looked for. */
#ifndef BLURD_SERVER_SEARCH_DETECTION_H
#define BLURD_SERVER_SEARCH_DETECTION_H

#include "detect/model.h"
#include "server/outcome.h"
#include "server/planner/detection_plan.h"

struct slot;

/* Takes memory for the results from `pictures`, and for what is made of them from `own`, which no other
 * process maps. Fails like slot_take. */
enum status detection_take_memory(struct detection *detection, struct slot *pictures, struct slot *own,
                                  struct error *err);

/* Finds the boxes in the result of the search of this index, of which it uses a copy, with the detector's one
 * of `models`; and the doubtful ones if they are wanted. ST_LIMIT when there are too many to hide all. */
enum status detection_read(struct detection *detection, unsigned index, const struct parameters *parameters,
                           struct model *const *models, struct error *err);

/* Once all searches are read: leaves out doubtful boxes of what another search has found for sure, then those
 * that `except` names, of either; and counts the latter that were found for sure. The calls below know
 * nothing of them. */
void detection_leave_out(struct detection *detection, const struct parameters *parameters,
                         struct outcome *outcome);

/* The form of the regions that hide what a detector finds. */
enum region_form detection_form(const struct detector *detector, const struct parameters *parameters);

/* Where a box of a picture is hidden, x, y, width and height in pixels: with its margin, its edges on the
 * grid. */
void detection_place(const struct box *box, const struct detector *detector, const struct boxes_frame *frame,
                     const struct parameters *parameters, double number[4]);

/* Appends a region for each box of all searches to a set in the upright picture. ST_LIMIT when the set is
 * full. */
enum status detection_add(const struct detection *detection, const struct parameters *parameters,
                          struct region_set *set, struct error *err);

/* The same for each doubtful box, and a set that has none. */
enum status detection_add_doubtful(const struct detection *detection, const struct parameters *parameters,
                                   struct region_set *set, struct error *err);

/* The box of a region that was found, by its number in its list, from 1, and the name of its class. NULL:
 * there is none. */
const struct box *detection_box(const struct detection *detection, bool doubtful, unsigned entry,
                                const char **class);

/* Appends the answer of /detect. */
enum status detection_write(const struct detection *detection, const struct parameters *parameters,
                            struct buf *body, struct error *err);

/* Writes boxes for a header, with their edges on the grid and without margin, as many as fit:
 * "x,y,width,height,score; ...". */
void detection_report(const struct boxes *boxes, int grid, const struct boxes_frame *frame,
                      char text[OUTCOME_REPORT_MAX]);

/* Notes the boxes for the headers of the answer, the log and the metrics, which count those of all frames. */
void detection_note(const struct detection *detection, const struct parameters *parameters,
                    struct outcome *outcome);

#endif
