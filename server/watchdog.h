/* SPDX-License-Identifier: MIT
 * Absolute deadlines for connections. libmicrohttpd only knows inactivity: a client that
 * sends a byte now and then holds a connection for ever. One thread sleeps until the
 * earliest deadline and shuts the socket down; a client that was sending a request is
 * told why (408) first. A peer that closes its side in the middle of a request is shut
 * down, too: the library's edge-triggered loop can miss that. It never closes a descriptor: the library does.
 */
#ifndef BLURD_SERVER_WATCHDOG_H
#define BLURD_SERVER_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum watch_phase {
    WATCH_IDLE,    /* between requests: closed in silence */
    WATCH_HEADERS, /* 408 */
    WATCH_BODY,    /* 408 */
    WATCH_WORK,    /* ours to finish: no deadline here, the work has its own */
    WATCH_WRITE,   /* closed in silence: half an answer is on its way */
};

struct watchdog;
struct watch;

/* Starts the thread. ST_BUSY without memory or threads. */
enum status watchdog_create(struct watchdog **watchdog, struct error *err);

/* Stops the thread; every watch must be gone. NULL is allowed. */
void watchdog_destroy(struct watchdog *watchdog);

/* Watches `fd`; must be removed before the descriptor is closed. NULL without memory.
 * The functions below are thread-safe and accept NULL. */
struct watch *watch_add(struct watchdog *watchdog, int fd);
void watch_remove(struct watch *watch);

/* Enters a phase that must end within `ms` milliseconds from now. `id` is the request's,
 * for the 408 (NULL: none yet). */
void watch_phase(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id);

/* Whether the deadline passed and the socket was shut down. */
bool watch_expired(struct watch *watch);

#endif
