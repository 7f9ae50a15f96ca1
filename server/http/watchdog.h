/* SPDX-License-Identifier: MIT
 * Ends connections: those that miss a deadline, those that are too slow, and idle ones when
 * there are too many. libmicrohttpd only knows inactivity: a client that sends a byte now and
 * then holds a connection for ever.
 *
 * One thread sleeps until something is due and shuts the socket down; a client that was
 * sending a request is told why (408) first. A peer that closes its side in the middle of a
 * request is shut down, too: the library's edge-triggered loop can miss that. It never
 * closes a descriptor: the library does. */
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

/* Other limits from now on. Thread-safe, as is all that follows. */
void watchdog_configure(struct watchdog *watchdog, const struct watchdog_limits *limits);

/* From now on idle connections are closed at once; one that has not begun its first request
 * yet has a second for it. */
void watchdog_drain(struct watchdog *watchdog);

/* Whether the answer that is about to be sent should be the last one of its connection: there
 * are too many, and none that could be closed. Each call with true counts as one less. */
bool watchdog_wants_last(struct watchdog *watchdog);

/* Descriptors ran out: closes every idle connection, and for a second every answer should be the last. */
void watchdog_relieve(struct watchdog *watchdog);

/* Watches `fd`; must be removed before the descriptor is closed. NULL without memory.
 * The functions below accept NULL. */
struct watch *watchdog_add(struct watchdog *watchdog, int fd);
void watchdog_remove(struct watch *watch);

/* Enters a phase that must end within `ms` milliseconds from now. `id` is the request's,
 * for the 408 (NULL: none yet). */
void watchdog_enter(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id);

/* Whether and why the socket was shut down. */
enum watch_end watchdog_ended(struct watch *watch);

#endif
