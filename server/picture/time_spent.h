/* SPDX-License-Identifier: MIT
 * Measures how long processors and GPUs compute for a request, and how long none of them does. */
#ifndef BLURD_SERVER_PICTURE_TIME_SPENT_H
#define BLURD_SERVER_PICTURE_TIME_SPENT_H

#include <stdint.h>

struct request;
struct worker;

/* Readings at one moment; only the difference of two has a meaning. Nanoseconds. */
struct time_spent {
    int64_t now_ns;      /* clock_ns */
    int64_t computed_ns; /* processor time of this thread, its helpers and the process of its codec */
    int64_t device_ns;   /* this request's parts of the GPUs' time (gpu/front/shared_time.h) */
};

/* Called on the worker's thread, before its first step for the request and after the last one. The second
 * function sets computed_ns and idle_ns of the request's outcome. */
struct time_spent time_spent_begin(const struct request *request, struct worker *worker);
void time_spent_end(const struct time_spent *begun, struct request *request, struct worker *worker);

#endif
