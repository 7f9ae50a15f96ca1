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

/* Bodies together may take a third of the memory budget, so that there is always memory to work on one of
 * them. */
enum { OVERLOAD_BODY_SHARE = 3 };

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
