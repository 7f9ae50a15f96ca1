/* SPDX-License-Identifier: MIT
 * The ways on which a GPU only decodes or only encodes a JPEG, and a worker does the other format. */
#ifndef BLURD_SERVER_PICTURE_TRANSCODE_PART_H
#define BLURD_SERVER_PICTURE_TRANSCODE_PART_H

#include "server/picture/workspace.h"
#include "server/planner/plan.h"

struct request;
struct worker;

/* Lets a device decode the picture and run the chain. Returns true when
 * *result holds the chain's result, in the workspace. After false the worker must do all of it. */
bool transcode_part_decode(struct request *request, const struct worker *worker, const struct work_plan *plan,
                           struct workspace *work, struct image *result);

/* Lets a device run the chain over `source`, which lies in work->memory[0], and encode the result. Returns
 * true when the answer's body is complete. After false the worker must filter and encode the picture. */
bool transcode_part_encode(struct request *request, const struct worker *worker, const struct work_plan *plan,
                           struct workspace *work, const struct image *source);

#endif
