/* SPDX-License-Identifier: MIT
 * Event threads and libmicrohttpd, which only http.c and connection.c know. There is one `struct http` for
 * each listening socket, with its own threads and watchdog, so that load on one does not slow the other. */
#ifndef BLURD_SERVER_HTTP_HTTP_H
#define BLURD_SERVER_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

struct config;
struct service;
struct http;

/* Serves on the listening socket `fd` and owns it from now on, also after a failure. `admin` means one thread
 * and few connections, for operators. */
enum status http_start(struct http **http, struct service *service, int fd, bool admin, struct error *err);

/* Applies the options that http.c reads and that may change. */
void http_configure(struct http *http, const struct config *config);

/* The number of event threads of the listener for work. */
unsigned http_threads(const struct config *config, unsigned cores);

/* Stops accepting connections and closes the listening socket, so that the kernel refuses further ones,
 * unless another process, such as a service manager, holds the socket, too. Idle connections are closed, the
 * others after their next answer. */
void http_quiesce(struct http *http);

/* The number of open connections. While the service drains, its event is written when none is left. */
unsigned http_connections(const struct http *http);

/* Stops all threads. No worker may have a request. NULL is allowed. */
void http_stop(struct http *http);

/* "libmicrohttpd 0.9.75" as linked. */
const char *http_library(void);

#endif
