/* SPDX-License-Identifier: MIT
 * A bounded pool of threads that do the work of requests, each with its own lane on
 * every backend, so that the hot path takes no lock but the queue's. They are a crew (core/crew.h): those
 * that wait for requests help with a large picture meanwhile. */
#ifndef BLURD_SERVER_WORKERS_H
#define BLURD_SERVER_WORKERS_H

#include <stdbool.h>

#include "core/status.h"

struct crew;
struct request;
struct service;
struct workers;
struct lane;

enum { WORKER_LANES = 3 }; /* as many as a service has backends */

/* One thread's means: lane[i] is its lane on service->backend[i], NULL when that backend
 * gave none. */
struct worker {
    struct service *service;
    struct crew *crew; /* of all workers */
    struct lane *lane[WORKER_LANES];
};

/* Starts `count` threads with a queue of at most `queue` waiting requests. The service's
 * backends must be open. ST_BUSY without memory or threads. */
enum status workers_create(struct workers **workers, struct service *service, unsigned count, unsigned queue,
                           struct error *err);

/* Hands a request over: a worker calls request_work on it. ST_BUSY when the queue is
 * full: the request is still the caller's. Thread-safe, never blocks for long. */
enum status workers_submit(struct workers *workers, struct request *request, struct error *err);

/* Ends the threads, after what is queued is finished, or refused with `cancel`; what a
 * thread is at is finished in any case. workers_submit refuses from now on. NULL is
 * allowed. */
void workers_finish(struct workers *workers, bool cancel);

/* Frees the pool, after workers_finish and after the last workers_submit. NULL is allowed. */
void workers_destroy(struct workers *workers);

#endif
