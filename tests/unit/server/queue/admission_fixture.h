/* SPDX-License-Identifier: MIT
 * A queue with a device, and its clock, for tests. */
#ifndef BLURD_TESTS_ADMISSION_FIXTURE_H
#define BLURD_TESTS_ADMISSION_FIXTURE_H

#include "server/queue/admission.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define MS INT64_C(1000000)

enum { JOBS = 64 };

/* A queue and its clock, which a test moves. */
struct desk {
    struct admission admission;
    struct job job[JOBS];
    unsigned used;
    int64_t now;
};

static inline struct desk make_desk(unsigned devices, bool shared) {
    struct desk desk = {.now = 1000 * MS};
    const struct admission_limits limits = {.workers = 2,
                                            .large_only = 1,
                                            .devices = devices,
                                            .shared = shared,
                                            .queue = JOBS / 2,
                                            .memory = 1500,
                                            .target_ns = 20 * MS,
                                            .interval_ns = 200 * MS};
    admission_init(&desk.admission, &limits);
    return desk;
}

/* A job of that way, if its time there is not 0, or of a general worker's. */
static inline struct job make_job(int64_t cost_ns, enum way way, int64_t way_ns, uint64_t bytes) {
    bool reads = way == WAY_GPU_SCANS && way_ns > 0;
    struct job job = {.general = reads ? WAY_GPU_COEFFICIENTS : WAY_CPU, .max_wait_ns = 10000 * MS};
    job.ways[way] = (struct job_way){way_ns, bytes};
    job.ways[job.general] = (struct job_way){cost_ns, reads ? 10 * bytes : bytes};
    job.way = job.general;
    return job;
}

/* device_ms of 0: not for the device. */
static inline enum refusal enter(struct desk *desk, int64_t cost_ms, int64_t device_ms, uint64_t bytes) {
    struct job *job = &desk->job[desk->used++];
    *job = make_job(cost_ms * MS, WAY_GPU_FILE, device_ms * MS, bytes);
    job->way = device_ms > 0 ? WAY_GPU_FILE : job->general;
    return admission_enter(&desk->admission, job, desk->now);
}

/* A job whose file the device can read. */
static inline enum refusal enter_readable(struct desk *desk, int64_t cost_ms, int64_t read_ms,
                                          uint64_t bytes) {
    struct job *job = &desk->job[desk->used++];
    *job = make_job(cost_ms * MS, WAY_GPU_SCANS, read_ms * MS, bytes);
    return admission_enter(&desk->admission, job, desk->now);
}

/* The number of the next job to run, or -1. */
static inline int take(struct desk *desk, enum role role) {
    enum refusal refusal;
    struct job *job = admission_take(&desk->admission, role, desk->now, &refusal);
    assert_int_equal(refusal, REFUSAL_NONE);
    return job ? (int)(job - desk->job) : -1;
}

static inline void done(struct desk *desk, int job) {
    desk->job[job].served = true;
    admission_done(&desk->admission, &desk->job[job], desk->now);
}

/* Nothing waits, runs or is counted. */
static inline void assert_idle(const struct desk *desk) {
    for (unsigned i = 0; i < JOB_KINDS; i++) {
        const struct job_queue *queue = &desk->admission.queue[i];
        assert_null(queue->oldest);
        assert_null(queue->newest);
        assert_int_equal(queue->waiting, 0);
        assert_int_equal(queue->waiting_ns, 0);
        assert_int_equal(queue->running, 0);
        assert_int_equal(queue->running_ns, 0);
        assert_int_equal(admission_wait(&desk->admission, i, desk->now), 0);
    }
    assert_int_equal(desk->admission.large_on_general, 0);
    assert_int_equal(desk->admission.decoding, 0);
    assert_int_equal(desk->admission.room.bytes, 0);
    assert_int_equal(admission_waiting(&desk->admission), 0);
    assert_false(admission_overflows(&desk->admission, desk->now));
}

#endif
