/* SPDX-License-Identifier: MIT
 * Notes in the outcome of a request how long something computed for it, and how long nothing did. */
#ifndef BLURD_SERVER_PICTURE_NOTE_TIME_H
#define BLURD_SERVER_PICTURE_NOTE_TIME_H

#include <stdint.h>

struct request;
struct worker;

/* When a worker began. */
struct note_time {
    int64_t begun_ns;
    int64_t computed_ns; /* processor time of this thread, its helpers and the process of its codec */
    int64_t device_ns;   /* a GPU's, as far as it was not busy for others */
};

/* Called on the worker's thread before it begins with the request, and after its last step: sets computed_ns
 * and idle_ns. Not nested. */
struct note_time note_time_begin(const struct request *request, struct worker *worker);
void note_time_end(const struct note_time *begun, struct request *request, struct worker *worker);

#endif
