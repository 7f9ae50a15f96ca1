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

enum watch_phase {
    WATCH_IDLE,    /* between requests: closed in silence */
    WATCH_HEADERS, /* 408 */
    WATCH_BODY,    /* 408; has a minimum rate */
    WATCH_WORK,    /* ours to finish: no deadline here, the work has its own */
    WATCH_WRITE,   /* closed in silence: half an answer is on its way; has a minimum rate */
};

enum watch_end {
    WATCH_OPEN,   /* not ended by the watchdog */
    WATCH_LATE,   /* the deadline passed */
    WATCH_SLOW,   /* bytes came, or were taken, below the minimum rate */
    WATCH_SHED,   /* idle while there were too many connections, or while draining */
    WATCH_CLOSED, /* the peer had closed its side already */
};

struct watchdog_limits {
    unsigned soft;     /* above so many connections the ones idle longest are closed */
    uint64_t rate;     /* least bytes a second of bodies and answers; 0: any */
    int64_t rate_ms;   /* for how long it may be lower: this for bodies, twice this for answers */
    bool silent;       /* the bytes on the sockets are not plain HTTP: nobody gets a 408 */
    int64_t header_ms; /* from the first byte of a connection's next request to the end of its headers */
};

struct watchdog;
struct watch;

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
struct watch *watch_add(struct watchdog *watchdog, int fd);
void watch_remove(struct watch *watch);

/* Enters a phase that must end within `ms` milliseconds from now. `id` is the request's,
 * for the 408 (NULL: none yet). */
void watch_phase(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id);

/* Whether and why the socket was shut down. */
enum watch_end watch_ended(struct watch *watch);

#endif
