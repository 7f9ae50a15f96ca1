/* SPDX-License-Identifier: MIT
 * The part of the predicted time (server/queue/cost.h) that filters and regions take, in nanoseconds by the
 * table.
 */
#ifndef BLURD_SERVER_QUEUE_COST_FILTERS_H
#define BLURD_SERVER_QUEUE_COST_FILTERS_H

#include "server/message/parameters.h"

/* A picture as a header tells of it. */
struct cost_shape {
    uint32_t width, height;
    float samples; /* of a pixel, on average: below 3 where colour is reduced */
    bool real;     /* 16 bits or alpha: filters compute in floating point */
};

/* Sides that a picture counts as having at least: rows, and the ends of rows, take time by themselves, so
 * that a picture of one column costs like one of many. */
struct cost_least {
    uint32_t columns, rows;
};
float cost_samples(const struct cost_shape *shape, struct cost_least least);

/* All steps of the pipeline, colour spaces, regions and redaction. */
float cost_filters_ns(const struct parameters *parameters, const struct cost_shape *shape);

#endif
