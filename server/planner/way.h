/* SPDX-License-Identifier: MIT
 * Which ways (server/ways.def) a request for a picture can take.
 *
 * A plan tells which ways fit the picture and the request. cost.h chooses among them by predicted time, the
 * queue by load. It gives a request that a GPU does as a whole to other workers than the rest. A worker tries
 * the ways that are left in the order of the table. A GPU's way that fails leaves the request as it was, for
 * the next one. The last way, the CPU, fits every request that does not move blocks. struct outcome says
 * which way was taken. */
#ifndef BLURD_SERVER_PLANNER_WAY_H
#define BLURD_SERVER_PLANNER_WAY_H

#include <stdbool.h>

#include "server/metrics.h"

struct backend;
struct work_plan;

/* Whether the picture and the request permit that way, and this backend (NULL: there is no GPU) does now what
 * it needs of a GPU. Thread-safe. */
bool way_fits(enum way way, const struct work_plan *plan, struct backend *gpu);

#endif
