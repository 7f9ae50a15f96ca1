/* SPDX-License-Identifier: MIT
 * The HTTP side: sockets, event threads and libmicrohttpd, which no other file knows. */
#ifndef BLURD_SERVER_HTTP_H
#define BLURD_SERVER_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

struct service;
struct request;
struct http;

/* Listens, sets service->port, and starts the event threads. ST_ARGUMENT when the
 * address cannot be used. */
enum status http_start(struct http **http, struct service *service, struct error *err);

/* Stops accepting connections; those open go on, and close after their next answer. */
void http_quiesce(struct http *http);

/* Ends everything. No request may be with a worker. NULL is allowed. */
void http_stop(struct http *http);

/* Gives a request whose answer is ready back to its event thread. Called by workers. */
void http_resume(struct request *request);

/* Whether the client has closed its side: nobody would read the answer. */
bool http_peer_gone(const struct request *request);

/* "libmicrohttpd 0.9.75" as linked. */
const char *http_library(void);

#endif
