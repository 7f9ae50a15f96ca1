/* SPDX-License-Identifier: MIT */
#include "server/http/watch.h"

#include <stdio.h>
#include <sys/socket.h>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/log.h"
#include "server/http/peer.h"
#include "server/problem.h"

enum {
    CLOSED_GRACE_MS = 250, /* to process what a client sent before it closed */
    LAST_GRACE_MS = 25,    /* the same between requests; then the library has what it can have */
    FRESH_MS = 1000,       /* for the first request of a new connection while draining */
};

/* Sends a 408 as far as the socket takes it. The library writes nothing in these phases, so the bytes cannot
 * mix with an answer. */
static void answer_408(struct watch *watch, enum watch_end end) {
    uint8_t body_memory[1024];
    struct buf body;
    struct error why = {0};
    fail(&why, ST_TIMEOUT, "the %s %s", watch->phase == WATCH_HEADERS ? "request headers" : "request body",
         end == WATCH_SLOW ? "came below the minimum rate" : "did not arrive in time");
    buf_init_fixed(&body, body_memory, sizeof body_memory);
    problem_write(PROBLEM_TIMEOUT, &why, watch->id, &body);
    char head[512];
    int length =
        snprintf(head, sizeof head,
                 "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/problem+json\r\n"
                 "Content-Length: %zu\r\n%s%s%sCache-Control: no-store\r\n"
                 "Connection: close\r\n\r\n",
                 body.size, watch->id[0] ? "X-Request-Id: " : "", watch->id, watch->id[0] ? "\r\n" : "");
    if (send(watch->fd, head, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE) == length) {
        /* A client that does not read its 408 is disconnected all the same. */
        ssize_t ignored = send(watch->fd, body.data, body.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)ignored;
    }
}

void watch_shut(struct watch *watch, enum watch_end end) {
    static const char *const phases[] = {"idle", "headers", "body", "work", "stream", "write"};
    static const char *const ends[] = {"open", "late", "slow", "shed", "closed"};
    bool receiving = watch->phase == WATCH_HEADERS || watch->phase == WATCH_BODY;
    if (receiving && !watch->rules->limits.silent && (end == WATCH_LATE || end == WATCH_SLOW)) {
        answer_408(watch, end);
    }
    shutdown(watch->fd, SHUT_RDWR);
    watch->end = end;
    watch->deadline = watch->measure_at = INT64_MAX;
    atomic_fetch_sub(&watch->rules->open, 1);
    log_message(LOG_DEBUG, "watchdog", "connection ended in phase %s: %s", phases[watch->phase], ends[end]);
}

static bool takes_body(const struct watch *watch) {
    return watch->phase == WATCH_BODY || watch->phase == WATCH_STREAM;
}

bool watch_is_fresh(const struct watch *watch) {
    return watch->phase == WATCH_HEADERS && !watch->id[0];
}

static void hasten(struct watch *watch, int64_t deadline) {
    watch->deadline = deadline < watch->deadline ? deadline : watch->deadline;
}

void watch_hasten_closed(struct watch *watch, int64_t now) {
    bool receiving = watch->phase == WATCH_HEADERS || watch->phase == WATCH_IDLE || takes_body(watch);
    if ((watch->closed && receiving) || (watch->dead && watch->phase == WATCH_WRITE)) {
        hasten(watch, now + (watch->phase == WATCH_IDLE ? LAST_GRACE_MS : CLOSED_GRACE_MS) * MS);
    }
}

void watch_hasten_draining(struct watch *watch, int64_t now) {
    if (watch->phase == WATCH_IDLE) {
        hasten(watch, now);
    } else if (watch_is_fresh(watch)) {
        hasten(watch, now + FRESH_MS * MS);
    }
}

static uint64_t progress(const struct watch *watch) {
    return watch->phase == WATCH_WRITE ? peer_confirmed(watch->fd) : peer_received(watch->fd);
}

/* The time between two progress checks in this phase; 0: no checks. */
static int64_t check_interval_ms(const struct watch *watch) {
    const struct watchdog_limits *limits = &watch->rules->limits;
    switch (watch->phase) {
    case WATCH_IDLE:
        return limits->header_ms;
    case WATCH_BODY:
    case WATCH_STREAM:
        return limits->rate ? limits->rate_ms : 0;
    case WATCH_WRITE:
        return limits->rate ? 2 * limits->rate_ms : 0;
    default:
        return 0;
    }
}

/* Starts the interval in which the peer must make progress. */
static void mark(struct watch *watch, int64_t now, uint64_t bytes) {
    int64_t interval = check_interval_ms(watch);
    watch->measure_at = interval > 0 ? now + interval * MS : INT64_MAX;
    watch->mark = bytes;
}

static void measure(struct watch *watch, int64_t now) {
    uint64_t bytes = progress(watch);
    uint64_t least = watch->rules->limits.rate * (uint64_t)check_interval_ms(watch) / 1000;
    if (watch->phase == WATCH_IDLE && bytes > watch->mark) {
        hasten(watch, now + watch->rules->limits.header_ms * MS); /* the next request has begun */
        watch->measure_at = INT64_MAX;
        return;
    }
    /* A peer is not too slow where the kernel does not count bytes, or while bytes lie unread here: at least
     * the last byte of a body whose other bytes are in its slot (server/body.c). */
    bool ours = bytes == 0 || (takes_body(watch) && peer_has_unread(watch->fd));
    if (watch->phase != WATCH_IDLE && !ours && bytes - watch->mark < least) {
        watch_shut(watch, WATCH_SLOW);
        return;
    }
    mark(watch, now, bytes);
}

void watch_check(struct watch *watch, int64_t now) {
    bool draining = watch->rules->draining && watch->phase == WATCH_IDLE;
    if (watch->deadline > now) {
        if (watch->measure_at <= now) {
            measure(watch, now);
        }
    } else if ((watch->closed || draining || (watch->phase == WATCH_IDLE && !watch->granted)) &&
               peer_has_unread(watch->fd)) {
        watch->granted = true;
        watch->deadline = now + CLOSED_GRACE_MS * MS; /* the library has yet to read a request */
    } else if (watch->closed) {
        watch_shut(watch, WATCH_CLOSED);
    } else {
        watch_shut(watch, draining || (watch_is_fresh(watch) && peer_received(watch->fd) == 0) ? WATCH_SHED
                                                                                               : WATCH_LATE);
    }
}

void watch_enter(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id) {
    watch->phase = phase;
    watch->granted = false;
    watch->since = clock_ns();
    watch->deadline = phase == WATCH_WORK ? INT64_MAX : watch->since + ms * MS;
    snprintf(watch->id, sizeof watch->id, "%s", id ? id : "");
    mark(watch, watch->since, 0);
    if (watch->measure_at < INT64_MAX) {
        watch->mark = progress(watch);
    }
    watch_hasten_closed(watch, watch->since);
    if (watch->rules->draining) {
        watch_hasten_draining(watch, watch->since);
    }
}

int64_t watch_next(const struct watch *watch) {
    return watch->deadline < watch->measure_at ? watch->deadline : watch->measure_at;
}
