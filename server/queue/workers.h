/* SPDX-License-Identifier: MIT
 * A bounded pool of threads that run jobs. Each thread has its own lane on every backend, so that the queue's
 * lock is the only one on the hot path. The threads are a crew (core/crew.h): idle ones help with a large
 * picture.
 *
 * admission.h orders and refuses jobs. Each four general workers come with three workers of lower priority
 * for large jobs (at least one). A device with its own codecs has a worker for each of its concurrent jobs,
 * and several times as many for files whose scans it decodes; these pass jobs on and sleep.
 *
 * Entropy-decode workers outnumber the cores. One whose job the device gives back computes it itself, as all
 * workers do, but at most limits.workers of them compute at a time: workers_core_take, workers_core_give. */
#ifndef BLURD_SERVER_QUEUE_WORKERS_H
#define BLURD_SERVER_QUEUE_WORKERS_H

#include <stdbool.h>

#include "core/status.h"
#include "server/metrics.h"
#include "server/queue/admission.h"

struct backend;
struct codec_link;
struct codec_spawner;
struct crew;
struct lane;
struct slot_pool;
struct workers;

enum { WORKER_LANES = METRIC_BACKENDS_MAX - 1 };

struct worker {
    struct crew *crew;               /* all workers; NULL: this job gets no help */
    struct lane *lane[WORKER_LANES]; /* on backend[i]; NULL: creating it failed */
    struct codec_link *codecs;       /* to the process of isolated codecs; NULL: none is needed */
    enum role role;
    struct workers *pool; /* where workers_core_take counts; NULL: it counts nothing */
    bool has_core;        /* between workers_core_take and workers_core_give */
};

struct workers_calls {
    void (*work)(struct job *job, struct worker *worker); /* runs the job and calls workers_done */
    void (*refuse)(struct job *job, enum refusal refusal);
};

/* The pointers must stay valid until workers_destroy. */
struct workers_options {
    struct admission_limits limits; /* large_only is set by the pool */
    struct backend *const
        *backends;          /* open; with limits.devices or entropy_decodes the first one has the device */
    unsigned backend_count; /* at most WORKER_LANES */
    struct codec_spawner *codecs; /* NULL: no codec is isolated */
    struct metrics *metrics;
    struct slot_pool *slots; /* of bodies and exchanges; NULL: bodies count as nothing */
    struct workers_calls calls;
};

/* Starts the threads. ST_BUSY without memory or threads. */
enum status workers_create(struct workers **workers, const struct workers_options *options,
                           struct error *err);

/* Whether to read a body; *wait_ns is the predicted wait. Thread-safe, never blocks for long. */
enum refusal workers_gate(struct workers *workers, int64_t max_wait_ns, int64_t *wait_ns);

/* Queues the job; a worker passes it to `work` or `refuse`. The caller keeps a job that is refused here.
 * Thread-safe, never blocks for long. */
enum refusal workers_submit(struct workers *workers, struct job *job, int64_t *wait_ns);

/* The most bytes that all bodies together may hold now (server/queue/room.h). Thread-safe, takes no lock. */
uint64_t workers_body_room(const struct workers *workers);

/* A running job needs so many bytes, more than predicted. Returns whether there is room for it beside others.
 * Thread-safe. */
bool workers_grow(struct workers *workers, struct job *job, uint64_t bytes);

/* Whether a job with that predicted time would be a large one now. Thread-safe, takes no lock. */
bool workers_is_large(const struct workers *workers, int64_t cost_ns);

/* Called when the job is finished and its memory is free. Thread-safe. */
void workers_done(struct workers *workers, struct job *job);

/* Lets an entropy-decode worker compute: waits until fewer than limits.workers of them do. ST_LIMIT once the
 * deadline (core/deadline.h) has passed. Other workers do not wait. */
enum status workers_core_take(struct worker *worker, int64_t deadline_ns, struct error *err);

/* The worker no longer computes. Does nothing for a worker that took no core. */
void workers_core_give(struct worker *worker);

/* Ends the threads after all queued jobs have run, or with `cancel` were refused; running jobs are finished.
 * From then on workers_submit refuses. NULL is allowed. */
void workers_finish(struct workers *workers, bool cancel);

/* Frees the pool, after workers_finish and after the last workers_submit. NULL is allowed. */
void workers_destroy(struct workers *workers);

#endif
