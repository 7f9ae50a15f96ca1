/* SPDX-License-Identifier: MIT
 * Predicts the nanoseconds that filters and regions take (server/planner/cost.h). */
#ifndef BLURD_SERVER_PLANNER_COST_FILTERS_H
#define BLURD_SERVER_PLANNER_COST_FILTERS_H

#include "filters/chain.h"
#include "server/message/parameters.h"

/* All steps of the pipeline, colour spaces, regions and redaction, for an upright picture of this shape.
 * `chain` tells what the steps make of the shape; without steps, they keep it. */
float cost_filters_ns(const struct parameters *parameters, const struct chain *chain,
                      const struct image_shape *shape);

/* The same on a GPU, for steps that need much longer than the coding of a JPEG there. */
float cost_filters_device_ns(const struct parameters *parameters, const struct chain *chain,
                             const struct image_shape *shape);

#endif
