/* SPDX-License-Identifier: MIT
 * The HTTP side: event threads and libmicrohttpd, which http.c and connection.c alone know. One `struct
 * http` for each listening socket, with its own threads and watchdog: what floods one does
 * not slow the other. */
#ifndef BLURD_SERVER_HTTP_HTTP_H
#define BLURD_SERVER_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

struct config;
struct service;
struct http;

/* Serves on the listening socket `fd`, which it owns from now on, also when it fails.
 * `admin`: one thread and few connections, for those who operate the daemon. */
enum status http_start(struct http **http, struct service *service, int fd, bool admin, struct error *err);

/* Takes over those of the options that http.c reads and that may change. */
void http_configure(struct http *http, const struct config *config);

/* Stops accepting connections. Idle ones are closed, the others after their next answer. */
void http_quiesce(struct http *http);

/* Connections that are open now. While the service drains, its event is written when none
 * is left. */
unsigned http_connections(const struct http *http);

/* Ends everything. No request may be with a worker. NULL is allowed. */
void http_stop(struct http *http);

/* "libmicrohttpd 0.9.75" as linked. */
const char *http_library(void);

#endif
