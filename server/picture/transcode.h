/* SPDX-License-Identifier: MIT
 * The ways on which a GPU does all of a JPEG (server/ways.def). */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_H
#define BLURD_SERVER_PICTURE_TRANSCODE_H

#include "server/planner/plan.h"
#include "server/planner/way.h"

struct request;
struct worker;

/* Runs a request on one of these ways, which is open to it, and sets *complete when the answer's body is
 * complete. Faces are searched for first, in the same decoded picture. After nearly any failure the CPU takes
 * the whole job, since its codecs give the better error messages: *complete is false, and the plan and the
 * outcome are as before. ST_NOTHING: a request that requires a region has none. */
enum status transcode_run(struct request *request, struct worker *worker, enum way way,
                          struct work_plan *plan, bool *complete, struct error *err);

/* Initialises the buffer of the answer's body. */
void transcode_init_output(const struct work_plan *plan, struct buf *output);

#endif
