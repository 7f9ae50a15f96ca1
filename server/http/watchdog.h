/* SPDX-License-Identifier: MIT
 * Ends connections that miss a deadline or are too slow, and idle ones when there are too many. libmicrohttpd
 * has only an inactivity timeout: a client that sends a byte now and then would hold a connection for ever.
 *
 * One thread sleeps until a deadline and shuts the socket down; a client that was sending a request first
 * gets a 408. A connection whose peer closes its side in the middle of a request is shut down, too: the
 * library's edge-triggered loop can miss that. Descriptors are closed by the library alone. */
#ifndef BLURD_SERVER_HTTP_WATCHDOG_H
#define BLURD_SERVER_HTTP_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"
#include "server/http/watch.h"

struct watchdog;
struct config;

/* The limits that the options set for at most `connections` connections. `silent` as in the struct. */
struct watchdog_limits watchdog_limits_of(const struct config *config, unsigned connections, bool silent);

/* Starts the thread. ST_BUSY without memory or threads. */
enum status watchdog_create(struct watchdog **watchdog, const struct watchdog_limits *limits,
                            struct error *err);

/* Stops the thread; every watch must be gone. NULL is allowed. */
void watchdog_destroy(struct watchdog *watchdog);

/* Replaces the limits. Thread-safe, as are all functions below. */
void watchdog_configure(struct watchdog *watchdog, const struct watchdog_limits *limits);

/* Closes idle connections at once from now on; a connection without a request so far has one more second. */
void watchdog_drain(struct watchdog *watchdog);

/* Whether the next answer should be the last one of its connection: there are too many connections, and none
 * that can be closed. Each call that returns true counts as one less. */
bool watchdog_wants_last(struct watchdog *watchdog);

/* To be called when descriptors ran out: closes all idle connections, and makes every answer of the next
 * second the last one of its connection. */
void watchdog_relieve(struct watchdog *watchdog);

/* Watches `fd`, which must stay open until watchdog_remove. `thread` is the number of the event thread that
 * calls: threads of different numbers do not wait for each other in the functions below. NULL without memory.
 * The functions below accept NULL.
 */
struct watch *watchdog_add(struct watchdog *watchdog, unsigned thread, int fd);
void watchdog_remove(struct watch *watch);

/* Enters a phase that must end within `ms` milliseconds from now. `id` is the request's,
 * for the 408 (NULL: none yet). */
void watchdog_enter(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id);

/* Whether and why the watchdog shut the socket down. */
enum watch_end watchdog_ended(struct watch *watch);

#endif
