/* SPDX-License-Identifier: MIT
 * Runs a chain on the first backend that does it. */
#ifndef BLURD_SERVER_PICTURE_FAILOVER_H
#define BLURD_SERVER_PICTURE_FAILOVER_H

#include "filters/backend.h"
#include "server/picture/workspace.h"
#include "server/planner/plan.h"

struct request;
struct worker;

/* What a run belongs to. */
struct failover {
    struct request *request;
    struct worker *worker;
    struct workspace *work;
    const struct work_plan *plan;
    const bool *decoded; /* the source is complete, so that another backend can repeat the run */
};

/* Whether a backend that is another process may get the request's pictures, so that they have to lie in
 * memory which that maps. The CPU does all others, in memory that no other process ever maps. */
bool failover_lends(const struct request *request, const struct worker *worker);

/* Tries the backends in order. The CPU is the last one and does not fail. A GPU may not support a model of
 * the search for faces. Names the backend in the request's outcome. Fails like lane_run. */
enum status failover_run(const struct failover *failover, const struct chain_run *asked,
                         struct lane_timing *timing, struct error *err);

#endif
