/* SPDX-License-Identifier: MIT
 * A bounded pool of threads that do the work of requests, each with its own lane on
 * every backend, so that the hot path takes no lock but the queue's. They are a crew (core/crew.h): those
 * that wait for requests help with a large picture meanwhile.
 *
 * Which request is next, and which one is refused, is admission.h's to say. Beside the workers for all
 * requests there is one for large pictures alone for each four of them, at least one: it gets the processor
 * where the others leave it idle. And as many as a device takes pictures with its own codecs, which hand them
 * over and sleep. */
#ifndef BLURD_SERVER_QUEUE_WORKERS_H
#define BLURD_SERVER_QUEUE_WORKERS_H

#include <stdbool.h>

#include "core/status.h"
#include "server/queue/admission.h"

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
    struct crew *crew; /* of all workers; NULL: nobody is to help with this request */
    struct lane *lane[WORKER_LANES];
    enum role role;
};

/* Starts `count` threads, those for large pictures, and service->places for a device's codecs. The service's
 * backends must be open. ST_BUSY without memory or threads. */
enum status workers_create(struct workers **workers, struct service *service, unsigned count,
                           struct error *err);

/* Whether a request with so much patience is worth reading now; *wait_ns: how long it would wait.
 * Thread-safe, never blocks for long. */
enum refusal workers_gate(struct workers *workers, int64_t patience_ns, int64_t *wait_ns);

/* Hands a request over, whose job is filled in: a worker calls request_work on it, or request_refuse. When it
 * is refused at once it is still the caller's. Thread-safe, never blocks for long. */
enum refusal workers_submit(struct workers *workers, struct request *request, int64_t *wait_ns);

/* The worker has done what request_work was called for, and the request's memory is given back. */
void workers_done(struct workers *workers, struct request *request);

/* Ends the threads, after what is queued is finished, or refused with `cancel`; what a
 * thread is at is finished in any case. workers_submit refuses from now on. NULL is
 * allowed. */
void workers_finish(struct workers *workers, bool cancel);

/* Frees the pool, after workers_finish and after the last workers_submit. NULL is allowed. */
void workers_destroy(struct workers *workers);

#endif
