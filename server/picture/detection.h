/* SPDX-License-Identifier: MIT
 * Makes boxes, regions and answers of what a planned search found. A request that asks for a search fails
 * when it cannot be done: no picture leaves with what was not looked for. */
#ifndef BLURD_SERVER_PICTURE_DETECTION_H
#define BLURD_SERVER_PICTURE_DETECTION_H

#include "detect/model.h"
#include "server/planner/detection_plan.h"

struct outcome;
struct slot;

/* Takes memory for the result from `pictures`, and for what is made of it from `own`, which no other process
 * maps. Fails like slot_take. */
enum status detection_take_memory(struct detection *detection, struct slot *pictures, struct slot *own,
                                  struct error *err);

/* Finds the boxes in the chain's result, of which it uses a copy, with the detector's one of `models`.
 * ST_LIMIT when there are too many to hide all. */
enum status detection_read(struct detection *detection, struct model *const *models, struct error *err);

/* Appends a region for each box to a set in the upright picture. ST_LIMIT when the set is full. */
enum status detection_add(const struct detection *detection, const struct parameters *parameters,
                          struct region_set *set, struct error *err);

/* Appends the answer of /detect. */
enum status detection_write(const struct detection *detection, const struct parameters *parameters,
                            struct buf *body, struct error *err);

enum { DETECTION_REPORT_MAX = 4096 };

/* Writes the boxes for a header, as many as fit: "x,y,width,height,score; ...". */
void detection_report(const struct detection *detection, char text[DETECTION_REPORT_MAX]);

/* Notes the boxes for the headers of the answer, the log and the metrics. */
void detection_note(const struct detection *detection, const struct parameters *parameters,
                    struct outcome *outcome);

#endif
