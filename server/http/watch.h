/* SPDX-License-Identifier: MIT
 * One connection as the watchdog sees it: when and how it is ended. All functions are called under the
 * lock of the watch's group; others use watchdog.h. */
#ifndef BLURD_SERVER_HTTP_WATCH_H
#define BLURD_SERVER_HTTP_WATCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct watchdog;
struct watch_group;

#define MS INT64_C(1000000) /* nanoseconds */

enum watch_phase {
    WATCH_IDLE,    /* between requests; closed without an answer */
    WATCH_HEADERS, /* 408 */
    WATCH_BODY,    /* 408; has a minimum rate */
    WATCH_WORK,    /* in our hands: no deadline here, the work has its own */
    WATCH_STREAM,  /* like WATCH_BODY, but part of the answer is sent: closed without another */
    WATCH_WRITE,   /* part of the answer is sent, so it is closed without another; has a minimum rate */
};

enum watch_end {
    WATCH_OPEN,   /* not ended by the watchdog */
    WATCH_LATE,   /* the deadline passed */
    WATCH_SLOW,   /* bytes were sent or read below the minimum rate */
    WATCH_SHED,   /* idle while there were too many connections, or while draining */
    WATCH_CLOSED, /* the peer had closed its side */
};

struct watchdog_limits {
    unsigned soft;     /* above this many connections those idle longest are closed */
    uint64_t rate;     /* minimum bytes per second of bodies and answers; 0: none */
    int64_t rate_ms;   /* how long the rate may be lower: this for bodies, twice this for answers */
    bool silent;       /* the sockets carry TLS, so that a 408 in plain text is not possible */
    int64_t header_ms; /* from the first byte of a connection's next request to the end of its headers */
};

/* Shared by all connections of a watchdog. */
struct watch_rules {
    struct watchdog_limits limits;
    bool draining;
    _Atomic unsigned open; /* watches that are not ended */
};

struct watch {
    struct watchdog *watchdog;
    struct watch_group *group;
    struct watch_rules *rules;
    struct watch *previous, *next;
    int fd;
    enum watch_phase phase;
    enum watch_end end;
    bool closed;        /* the peer has closed its side */
    bool dead;          /* and reads no more */
    bool granted;       /* this phase was extended once for data that lay unread at its deadline */
    int64_t since;      /* clock_ns of the phase's begin */
    int64_t deadline;   /* clock_ns; INT64_MAX: none */
    int64_t measure_at; /* clock_ns of the next progress check; INT64_MAX: never */
    uint64_t mark;      /* bytes at the last progress check */
    char id[65];
};

/* Begins a phase that must end within `ms` milliseconds from now. `id` is the request's (NULL: none yet). */
void watch_enter(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id);

/* Ends the connection if it is due at `now`, with a 408 where the client can still be told. */
void watch_check(struct watch *watch, int64_t now);

/* When the next check is due; INT64_MAX: never. */
int64_t watch_next(const struct watch *watch);

/* Shuts the socket down. */
void watch_shut(struct watch *watch, enum watch_end end);

/* Whether the connection has not begun a request yet. */
bool watch_is_fresh(const struct watch *watch);

/* Shortens the deadline of a peer that has closed its side: it will not complete its request, and the
 * library, which waits for an edge that has passed, may not notice. */
void watch_hasten_closed(struct watch *watch, int64_t now);

/* Shortens the deadline of a connection without a request, while draining. */
void watch_hasten_draining(struct watch *watch, int64_t now);

#endif
