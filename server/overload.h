/* SPDX-License-Identifier: MIT
 * Connects requests to the queue: predicts their cost, decides whether a body is read, and writes the error
 * of a refusal. admission.h has the discipline, workers.h the threads, and server/work.h what these do. */
#ifndef BLURD_SERVER_OVERLOAD_H
#define BLURD_SERVER_OVERLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "server/queue/admission.h"

struct request;
struct service;
struct worker;
struct workers_calls;

/* Starts the workers, `count` of them general ones; the service's backends must be open. ST_BUSY without
 * memory or threads. */
enum status overload_start_workers(struct service *service, unsigned count, const struct workers_calls *calls,
                                   struct error *err);

/* Called after the headers. ST_BUSY: the body need not be read, and the request has the reason. */
enum status overload_gate(struct request *request);

/* The most bytes of the request's body: max_body, or less where a body would take too much of the memory. */
uint64_t overload_body_most(const struct request *request);

/* ST_TOO_LARGE, with its text in the request, when a body of that size is larger. */
enum status overload_check_size(struct request *request, uint64_t size);

/* Called when the body has grown. ST_BUSY: bodies exceed their share of memory. */
enum status overload_check_body(struct request *request);

/* Whether bodies may take so many bytes more and still be within their share. */
bool overload_has_room(const struct service *service, uint64_t bytes);

/* Whether answers may stay in the slots that they were written to until they are sent: bodies hold less than
 * half of their share. Clients may be slow, and a slot is larger than the answer in it. */
bool overload_receives_zero_copy(const struct service *service);

/* Predicts time and bytes of each way from the first bytes of the body. Writes them to request->cost and
 * request->job. */
void overload_estimate(struct request *request);

/* Predicts like overload_estimate, and queues the job. ST_BUSY: it is refused, and the request has the
 * reason. */
enum status overload_submit(struct request *request);

/* Called before the worker computes, when the bytes that the request needs beside its body are known. What a
 * form asks for, and of which picture, is known only then. ST_BUSY, with request->needed set, in two cases:
 * it needs more memory than it was queued with and others hold that, or it is a large job and this worker's
 * priority is for small ones. Then overload_requeue has to follow. Each request is queued again once at most.
 */
enum status overload_check_needs(struct request *request, const struct worker *worker, uint64_t needed);

/* Queues a request again, as overload_submit does; another worker may have it at once. Both waits together
 * last no longer than one may. ST_BUSY: as there. */
enum status overload_requeue(struct request *request);

/* Stores the refusal, its error and the Retry-After that follows from the wait. Returns ST_BUSY. */
enum status overload_refuse(struct request *request, enum refusal refusal, int64_t wait_ns);

/* How many requests keep all workers and GPUs busy: two for each worker, so that none waits for a client; for
 * GPUs, what they need. */
unsigned overload_in_flight(const struct service *service);

/* Whether to log one more refusal. The lines a second are limited, since a refusal must be cheap. */
bool overload_may_log(struct service *service);

#endif
