/* SPDX-License-Identifier: MIT
 * What stands between a request and the queue: what it will cost, whether it may be read, and the sentence
 * for those that are refused. The discipline itself is admission.h, the threads are workers.h. */
#ifndef BLURD_SERVER_QUEUE_OVERLOAD_H
#define BLURD_SERVER_QUEUE_OVERLOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "server/queue/admission.h"

struct request;
struct service;
struct workers_calls;

/* Starts the service's workers, `count` of them for all jobs, with these calls; its backends must be open.
 * ST_BUSY without memory or threads. */
enum status overload_start_workers(struct service *service, unsigned count, const struct workers_calls *calls,
                                   struct error *err);

/* With the headers read: ST_BUSY, and the reason in the request, when its body need not be kept. */
enum status overload_gate(struct request *request);

/* Its body has grown: ST_BUSY when bodies take more than their share of memory. One body alone may. */
enum status overload_check_body(struct request *request);

/* Predicts time and bytes into request->cost and request->job, from the first bytes of the picture. */
void overload_estimate(struct request *request);

/* Notes why, how long it would wait, and from that when to come back. Returns ST_BUSY. */
enum status overload_refuse(struct request *request, enum refusal refusal, int64_t wait_ns);

/* Whether one more refusal is to have a line in the log: some each second are enough, and a refusal must cost
 * little. */
bool overload_may_log(struct service *service);

/* Takes part in what the model learns: the work of this request took so long on a worker of that role. */
void overload_learn(struct request *request, enum role role, int64_t real_ns);

#endif
