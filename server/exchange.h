/* SPDX-License-Identifier: MIT
 * One request's life, told without the HTTP library: server/http/connection.c feeds it what
 * arrives and sends what it answers.
 *
 *     exchange_create   the request line has been read             event thread
 *     exchange_header   once per header field
 *     exchange_begin    all headers are known: refuse early or go on
 *     exchange_body     a piece of the body
 *     exchange_end      the body is complete: answer, or wait for a worker
 *     exchange_work     the work                                    worker thread
 *     exchange_destroy  the answer is sent, or the client is gone   event thread
 *
 * One owner at a time: the event thread, then the queue and a worker, then the event
 * thread again. Nothing here is called by two threads at once. */
#ifndef BLURD_SERVER_EXCHANGE_H
#define BLURD_SERVER_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/status.h"
#include "server/queue/admission.h"

struct request;
struct service;
struct worker;

/* A new request for the raw request target, `admin` through the second listener. NULL
 * without memory. */
struct request *exchange_create(struct service *service, const char *target, bool admin);

void exchange_header(struct request *request, const char *name, size_t name_size, const char *value,
                     size_t value_size);

/* Judges headers, path, method, token, declared length and parameters. Afterwards either
 * request->answered is set (a refusal), or the body is wanted. */
void exchange_begin(struct request *request, const char *method, const char *version);

/* Whether the refusal must be sent now rather than after the body has been read and
 * thrown away: the client waits for "100 Continue", or announced more than is worth reading. */
bool exchange_must_answer_early(const struct request *request);

/* Takes a piece of the body; keeps it, or throws it away once the answer is known.
 * False: more came than is worth reading, close the connection. */
bool exchange_body(struct request *request, const void *data, size_t size);

/* The body is complete. Returns true when the answer is ready; false when a worker has
 * to make it: then pass the request to exchange_submit. */
bool exchange_end(struct request *request);

/* Queues the request. After ST_OK it belongs to a worker, which resumes its connection. On
 * ST_BUSY the answer is ready (503, or as configured). */
enum status exchange_submit(struct request *request);

/* Does the work of the request whose member the job is, and resumes its connection. Called by a worker. */
void exchange_work(struct job *job, struct worker *worker);

/* Answers with the refusal instead. */
void exchange_refuse(struct job *job, enum refusal refusal);

/* Counts and logs the request and frees it. `sent` says whether the whole answer was
 * handed to the network; `timeout` that the watchdog ended it. NULL is allowed. */
void exchange_destroy(struct request *request, bool sent, bool timeout);

#endif
