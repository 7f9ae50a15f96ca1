/* SPDX-License-Identifier: MIT
 * Divides the time of the GPUs among the runs in progress, since nothing tells which of them a GPU works on:
 * of each moment, every run gets an equal part. A run that is alone gets all. The parts of a run are what it
 * has computed; the rest of its time it has waited for others. Several GPUs count as one, so that a run
 * beside others gets less than it had, never more. Thread-safe. */
#ifndef BLURD_GPU_FRONT_SHARED_TIME_H
#define BLURD_GPU_FRONT_SHARED_TIME_H

#include <pthread.h>
#include <stdint.h>

struct shared_time {
    pthread_mutex_t lock;
    unsigned runs;     /* in progress */
    int64_t parted_ns; /* part of a run that would be in progress all the time */
    int64_t since_ns;  /* clock_ns when `runs` changed */
};

void shared_time_init(struct shared_time *time);
void shared_time_finish(struct shared_time *time);

/* A run begins. Returns a value for shared_time_end. */
int64_t shared_time_begin(struct shared_time *time);

/* The run ends. Returns its part in nanoseconds. */
int64_t shared_time_end(struct shared_time *time, int64_t begun);

#endif
