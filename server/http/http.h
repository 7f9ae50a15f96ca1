/* SPDX-License-Identifier: MIT
 * Event threads and libmicrohttpd, which only http.c and connection.c know. There is one
 * `struct http` for each listening socket, with its own threads and watchdog, so that load on one does not
 * slow the other.
 *
 * What works around libmicrohttpd, versions 0.9.75 to 1.0:
 *
 * - direct_receive: it reads a body into a buffer of its own, and closes a connection whose
 *   peer only has nothing more to say. Goes away if it reads into memory that it is given, and waits.
 * - loop: its own threads wait for one more event when exactly 128 are there. Goes away if they do not.
 * - watchdog, watch: it only knows an inactivity timeout, and may miss that a peer has closed. Goes away if
 *   it has deadlines and a least rate for each phase of a request.
 * - handshake_backoff: it spins while a TLS handshake waits for the client. Goes away if it sleeps.
 * - lingering: it closes a socket while the client still sends, which loses the answer. Goes away if it first
 *   discards what comes.
 * - http.c, run_library: it does not tell of connections that it closes for want of memory. Goes away if it
 *   does.
 * - http.c, start_daemon: 0.9.75 keeps a mutex locked beyond its limit of connections, and its strict mode
 *   doubles a header. Goes away with that version.
 * - http_log: it tries options of TCP on sockets of AF_UNIX, and complains. Goes away if it does not.
 * - server/framing.h: it accepts messages whose end two parsers see in different places, and 0.9.75 cuts a
 *   request line at a zero byte. Goes away if its strict mode refuses all that framing.c does. */
#ifndef BLURD_SERVER_HTTP_HTTP_H
#define BLURD_SERVER_HTTP_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

struct config;
struct service;
struct http;

/* Sends a request to the library over a pair of sockets, and returns whether its body came past the library's
 * buffer (direct_receive.h). If not, says so in the log, and the library reads all bodies. Takes about a
 * millisecond. Call it before http_start, and before the filter of system calls. */
bool http_prepare(void);

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
