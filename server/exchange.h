/* SPDX-License-Identifier: MIT
 * Processes one request independently of the HTTP library. server/http/connection.c passes in the received
 * data and sends the answer.
 *
 *     exchange_create   the request line has been read             event thread
 *     exchange_header   once per header field
 *     exchange_begin    all headers are known: refuse early or go on
 *     exchange_body     a piece of the body
 *     exchange_end      the body is complete: answer, or wait for a worker
 *     work_run          the work, in server/work.h                  worker thread
 *     exchange_destroy  the answer is sent, or the client is gone   event thread
 *
 * A request has one owner at a time: the event thread, then the queue and a worker, then the event thread. */
#ifndef BLURD_SERVER_EXCHANGE_H
#define BLURD_SERVER_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

struct request;
struct service;

/* Creates a request for the raw target; `admin` means that it came through the second listener. NULL without
 * memory. */
struct request *exchange_create(struct service *service, const char *target, bool admin);

void exchange_header(struct request *request, const char *name, size_t name_size, const char *value,
                     size_t value_size);

/* Checks headers, path, method, token, declared length and parameters. Afterwards either request->answered is
 * set, with a refusal or a preflight, or the body is expected. */
void exchange_begin(struct request *request, const char *method, const char *version);

/* Whether the answer must be sent before the body is read: the client waits for "100 Continue", or announced
 * more than is worth reading. */
bool exchange_must_answer_early(const struct request *request);

/* Stores a piece of the body, or discards it once the answer is known. `data` is NULL when the piece is where
 * exchange_room said. False when more came than is worth reading: close the connection. */
bool exchange_body(struct request *request, const void *data, size_t size);

/* Returns how many of the next bytes of the body the connection may put to `*to`, which is memory of the
 * request's slot and stays valid until the body is complete or refused. 0: the connection has to pass the
 * bytes to exchange_body, since the body is discarded, has no declared length, has no memory yet, or ends
 * with the next byte. */
size_t exchange_room(struct request *request, uint8_t **to);

/* To be called when the body is complete. True when the answer is ready; false when a worker has to make it:
 * then call exchange_submit. */
bool exchange_end(struct request *request);

/* Queues the request. After ST_OK it belongs to a worker, which resumes its connection. On
 * ST_BUSY the answer is ready (503, or as configured). */
enum status exchange_submit(struct request *request);

/* Counts, logs and frees the request. `sent` says whether the whole answer was handed to the network,
 * `timeout` whether the watchdog ended it. NULL is allowed. */
void exchange_destroy(struct request *request, bool sent, bool timeout);

#endif
