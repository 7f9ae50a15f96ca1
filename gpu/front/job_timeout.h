/* SPDX-License-Identifier: MIT
 * How long the front waits for a run. Runs share the GPUs, so a run takes longer the more work there is. An
 * engine that has much to do must not count as one that hangs: its end costs all runs, and after three ends
 * the GPU has to wait (gpu/front/supervisor.h). */
#ifndef BLURD_GPU_FRONT_JOB_TIMEOUT_H
#define BLURD_GPU_FRONT_JOB_TIMEOUT_H

#include <stdint.h>

#include "gpu/wire/wire.h"

/* 28 JPEGs of 1080p, as many as a GPU does at a time, have 84 MiB, so they have least_ms. A picture of 40
 * megapixels with 16 bits and alpha has 305. */
enum { JOB_TIMEOUT_BYTES = 256 << 20 };

/* Of all runs of a backend. Thread-safe. */
struct job_timeout {
    int64_t least_ms;             /* enough for JOB_TIMEOUT_BYTES of pictures */
    int64_t most_ms;              /* for any number of them, unless it is less than least_ms */
    _Atomic int64_t begun, ended; /* bytes of the pictures of all runs that ever began, and ended */
};

/* Of one run and its thread. */
struct job_timeout_wait {
    struct job_timeout *timeout;
    int64_t bytes; /* of its largest picture */
    int64_t ended; /* timeout->ended when it began */
};

/* The run is about to be sent. Call job_timeout_end once, whether it was done or failed. `timeout` must
 * outlive the wait. */
struct job_timeout_wait job_timeout_begin(struct job_timeout *timeout, const struct wire_run *run);
void job_timeout_end(struct job_timeout_wait *wait);

/* How many milliseconds the run may take from its begin, as far as is known now: more runs may begin, and
 * then it may take longer. Counts all runs that were in progress at any time of it. */
int64_t job_timeout_ms(const struct job_timeout_wait *wait);

#endif
