/* SPDX-License-Identifier: MIT */
#include "server/watchdog.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/log.h"
#include "server/problem.h"

enum {
    EVENTS_MAX = 64,
    CLOSED_GRACE_MS = 250, /* for what a client sent before it closed to be worked through */
};

struct watch {
    struct watchdog *watchdog;
    struct watch *previous, *next;
    int fd;
    enum watch_phase phase;
    bool expired;
    bool closed;      /* the peer sends no more */
    bool dead;        /* nor does it read */
    int64_t deadline; /* clock_ns; INT64_MAX: none */
    char id[65];
};

struct watchdog {
    pthread_t thread;
    int epoll;            /* tells when a peer closes its side */
    int changed;          /* eventfd: look at the deadlines again */
    pthread_mutex_t lock; /* guards everything below and every watch */
    bool stopping;
    int64_t wake; /* when the thread wakes by itself */
    struct watch *first;
};

/* Tells the client why, as far as its socket takes it, and ends the conversation. The
 * library writes nothing in these phases, so the bytes cannot mix with an answer. */
static void answer_408(struct watch *watch) {
    uint8_t body_memory[1024];
    struct buf body;
    struct error why = {0};
    fail(&why, ST_TIMEOUT, "the %s did not arrive in time",
         watch->phase == WATCH_HEADERS ? "request headers" : "request body");
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
        /* A client that does not even read its 408 is cut off all the same. */
        ssize_t ignored = send(watch->fd, body.data, body.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)ignored;
    }
}

static void expire(struct watch *watch) {
    static const char *const names[] = {"idle", "headers", "body", "work", "write"};
    if (!watch->closed && (watch->phase == WATCH_HEADERS || watch->phase == WATCH_BODY)) {
        answer_408(watch);
    }
    shutdown(watch->fd, SHUT_RDWR);
    watch->expired = !watch->closed;
    watch->deadline = INT64_MAX;
    log_message(LOG_DEBUG, "watchdog", "connection ended in phase %s", names[watch->phase]);
}

/* Bytes that the HTTP library has not read yet. */
static bool has_unread(const struct watch *watch) {
    int count = 0;
    return ioctl(watch->fd, FIONREAD, &count) == 0 && count > 0;
}

/* A peer that has closed its side in the middle of a request will not complete it, and the
 * library, which waits for an edge that has passed, may never look again. */
static void hasten(struct watch *watch) {
    bool receiving =
        watch->phase == WATCH_HEADERS || watch->phase == WATCH_BODY || watch->phase == WATCH_IDLE;
    int64_t soon = clock_ns() + (watch->phase == WATCH_IDLE ? 0 : CLOSED_GRACE_MS * INT64_C(1000000));
    bool useless = (watch->closed && receiving) || (watch->dead && watch->phase == WATCH_WRITE);
    if (useless && watch->deadline > soon) {
        watch->deadline = soon;
    }
}

static void check(struct watch *watch, int64_t now) {
    if (watch->deadline > now) {
        return;
    }
    if (watch->closed && has_unread(watch)) {
        watch->deadline = now + CLOSED_GRACE_MS * INT64_C(1000000);
    } else {
        expire(watch);
    }
}

/* The descriptor may belong to another connection by now: only what is true now counts. */
static void note_closed(struct watchdog *dog, int fd) {
    struct pollfd peer = {.fd = fd, .events = POLLRDHUP};
    for (struct watch *watch = dog->first; watch; watch = watch->next) {
        if (watch->fd == fd && poll(&peer, 1, 0) > 0 && (peer.revents & (POLLRDHUP | POLLHUP | POLLERR))) {
            watch->closed = true;
            watch->dead = peer.revents & (POLLHUP | POLLERR);
            hasten(watch);
        }
    }
}

/* Handles what is due; returns the milliseconds until something else is, -1 for never. */
static int look_round(struct watchdog *dog, const struct epoll_event *events, int count) {
    int64_t now = clock_ns();
    for (int i = 0; i < count; i++) {
        eventfd_t ignored;
        if (events[i].data.fd == dog->changed) {
            eventfd_read(dog->changed, &ignored);
        } else {
            note_closed(dog, events[i].data.fd);
        }
    }
    dog->wake = INT64_MAX;
    for (struct watch *watch = dog->first; watch; watch = watch->next) {
        check(watch, now);
        dog->wake = watch->deadline < dog->wake ? watch->deadline : dog->wake;
    }
    int64_t left = (dog->wake - now + 999999) / 1000000;
    return dog->wake == INT64_MAX ? -1 : left > INT_MAX ? INT_MAX : (int)left;
}

static void *watchdog_run(void *argument) {
    struct watchdog *dog = argument;
    struct epoll_event events[EVENTS_MAX];
    int count = 0;
    pthread_mutex_lock(&dog->lock);
    while (!dog->stopping) {
        int ms = look_round(dog, events, count);
        pthread_mutex_unlock(&dog->lock);
        count = epoll_wait(dog->epoll, events, EVENTS_MAX, ms);
        pthread_mutex_lock(&dog->lock);
    }
    pthread_mutex_unlock(&dog->lock);
    return NULL;
}

static void release(struct watchdog *watchdog) {
    pthread_mutex_destroy(&watchdog->lock);
    close(watchdog->changed);
    close(watchdog->epoll);
    free(watchdog);
}

enum status watchdog_create(struct watchdog **watchdog, struct error *err) {
    struct watchdog *dog = calloc(1, sizeof *dog);
    if (!dog) {
        return fail(err, ST_BUSY, "out of memory");
    }
    pthread_mutex_init(&dog->lock, NULL);
    dog->epoll = epoll_create1(EPOLL_CLOEXEC);
    dog->changed = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    struct epoll_event changed = {.events = EPOLLIN, .data.fd = dog->changed};
    int error = epoll_ctl(dog->epoll, EPOLL_CTL_ADD, dog->changed, &changed)
                    ? errno
                    : pthread_create(&dog->thread, NULL, watchdog_run, dog);
    if (error) {
        release(dog);
        return fail(err, ST_BUSY, "cannot start the watchdog: %s", strerror(error));
    }
    *watchdog = dog;
    return ST_OK;
}

void watchdog_destroy(struct watchdog *watchdog) {
    if (!watchdog) {
        return;
    }
    pthread_mutex_lock(&watchdog->lock);
    watchdog->stopping = true;
    eventfd_write(watchdog->changed, 1);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    release(watchdog);
}

struct watch *watch_add(struct watchdog *watchdog, int fd) {
    struct watch *watch = calloc(1, sizeof *watch);
    if (!watch) {
        return NULL;
    }
    *watch = (struct watch){.watchdog = watchdog, .fd = fd, .deadline = INT64_MAX};
    pthread_mutex_lock(&watchdog->lock);
    watch->next = watchdog->first;
    if (watch->next) {
        watch->next->previous = watch;
    }
    watchdog->first = watch;
    pthread_mutex_unlock(&watchdog->lock);
    /* Without it a peer that closes is noticed at the deadline. */
    struct epoll_event closing = {.events = EPOLLRDHUP | EPOLLET, .data.fd = fd};
    epoll_ctl(watchdog->epoll, EPOLL_CTL_ADD, fd, &closing);
    return watch;
}

void watch_remove(struct watch *watch) {
    if (!watch) {
        return;
    }
    struct watchdog *dog = watch->watchdog;
    epoll_ctl(dog->epoll, EPOLL_CTL_DEL, watch->fd, NULL);
    pthread_mutex_lock(&dog->lock);
    if (watch->previous) {
        watch->previous->next = watch->next;
    } else {
        dog->first = watch->next;
    }
    if (watch->next) {
        watch->next->previous = watch->previous;
    }
    pthread_mutex_unlock(&dog->lock);
    free(watch);
}

void watch_phase(struct watch *watch, enum watch_phase phase, int64_t ms, const char *id) {
    if (!watch) {
        return;
    }
    struct watchdog *dog = watch->watchdog;
    int64_t deadline = phase == WATCH_WORK ? INT64_MAX : clock_ns() + ms * 1000000;
    pthread_mutex_lock(&dog->lock);
    if (!watch->expired) {
        watch->phase = phase;
        watch->deadline = deadline;
        snprintf(watch->id, sizeof watch->id, "%s", id ? id : "");
        hasten(watch);
        if (watch->deadline < dog->wake) {
            dog->wake = watch->deadline;
            eventfd_write(dog->changed, 1);
        }
    }
    pthread_mutex_unlock(&dog->lock);
}

bool watch_expired(struct watch *watch) {
    if (!watch) {
        return false;
    }
    pthread_mutex_lock(&watch->watchdog->lock);
    bool expired = watch->expired;
    pthread_mutex_unlock(&watch->watchdog->lock);
    return expired;
}
