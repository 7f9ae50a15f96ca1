/* SPDX-License-Identifier: MIT
 * The watchdog's view of one connection: when it is ended, and how. Everything here happens
 * under the watchdog's lock; others use server/http/watchdog.h. */
#ifndef BLURD_SERVER_HTTP_WATCH_H
#define BLURD_SERVER_HTTP_WATCH_H

#include <stdbool.h>
#include <stdint.h>

struct watchdog;

#define MS INT64_C(1000000) /* nanoseconds */

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

/* What holds for all connections. */
struct watch_rules {
    struct watchdog_limits limits;
    bool draining;
    unsigned open; /* watches that were not ended */
};

struct watch {
    struct watchdog *watchdog;
    struct watch_rules *rules;
    struct watch *previous, *next;
    int fd;
    enum watch_phase phase;
    enum watch_end end;
    bool closed;        /* the peer sends no more */
    bool dead;          /* nor does it read */
    bool granted;       /* in this phase: time for what lay unread at its end */
    int64_t since;      /* clock_ns of the phase's begin */
    int64_t deadline;   /* clock_ns; INT64_MAX: none */
    int64_t measure_at; /* clock_ns when progress is looked at; INT64_MAX: never */
    uint64_t mark;      /* bytes at the last look */
    char id[65];
};

/* Begins a phase that must end within `ms` milliseconds from now. `id` is the request's (NULL: none yet). */
void watch_enter(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id);

/* Ends it if it is due at `now`, with a 408 where the client can still be told. */
void watch_check(struct watch *watch, int64_t now);

/* When it may be due; INT64_MAX: never. */
int64_t watch_next(const struct watch *watch);

/* Shuts the socket down. */
void watch_shut(struct watch *watch, enum watch_end end);

/* Whether no request has begun on it yet. */
bool watch_is_fresh(const struct watch *watch);

/* A peer that has closed its side in the middle of a request will not complete it, and the
 * library, which waits for an edge that has passed, may never look again. */
void watch_hasten_closed(struct watch *watch, int64_t now);

/* Nobody is waited for that has asked for nothing. */
void watch_hasten_draining(struct watch *watch, int64_t now);

#endif
