/* SPDX-License-Identifier: MIT
 * Writes the answer of /stats. */
#ifndef BLURD_SERVER_PICTURE_STATISTICS_H
#define BLURD_SERVER_PICTURE_STATISTICS_H

#include "server/planner/plan.h"

/* Appends the statistics that `result` holds as JSON. The standard deviation is that of the whole
 * population. Without pixels mean and deviation are null. ST_BUSY without memory. */
enum status statistics_write(const struct work_plan *plan, const struct image *result, struct buf *body,
                             struct error *err);

#endif
