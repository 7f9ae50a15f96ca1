/* SPDX-License-Identifier: MIT */
#include "server/watchdog.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "core/bytes.h"
#include "core/clock.h"
#include "core/log.h"
#include "server/problem.h"

struct watch {
    struct watchdog *watchdog;
    struct watch *previous, *next;
    int fd;
    enum watch_phase phase;
    bool expired;
    int64_t deadline; /* clock_ns; INT64_MAX: none */
    char id[65];
};

struct watchdog {
    pthread_t thread;
    pthread_mutex_t lock; /* guards everything below and every watch */
    pthread_cond_t changed;
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
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 408 Request Timeout\r\nContent-Type: application/problem+json\r\n"
                          "Content-Length: %zu\r\nX-Request-Id: %s\r\nCache-Control: no-store\r\n"
                          "Connection: close\r\n\r\n",
                          body.size, watch->id);
    if (send(watch->fd, head, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT | MSG_MORE) == length) {
        /* A client that does not even read its 408 is cut off all the same. */
        ssize_t ignored = send(watch->fd, body.data, body.size, MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)ignored;
    }
}

static void expire(struct watch *watch) {
    static const char *const names[] = {"idle", "headers", "body", "work", "write"};
    if (watch->phase == WATCH_HEADERS || watch->phase == WATCH_BODY) {
        answer_408(watch);
    }
    shutdown(watch->fd, SHUT_RDWR);
    watch->expired = true;
    watch->deadline = INT64_MAX;
    log_message(LOG_DEBUG, "watchdog", "connection ended in phase %s", names[watch->phase]);
}

static void *watchdog_run(void *argument) {
    struct watchdog *dog = argument;
    pthread_mutex_lock(&dog->lock);
    while (!dog->stopping) {
        int64_t now = clock_ns();
        dog->wake = INT64_MAX;
        for (struct watch *watch = dog->first; watch; watch = watch->next) {
            if (watch->deadline <= now) {
                expire(watch);
            } else if (watch->deadline < dog->wake) {
                dog->wake = watch->deadline;
            }
        }
        if (dog->wake == INT64_MAX) {
            pthread_cond_wait(&dog->changed, &dog->lock);
        } else {
            struct timespec until = {dog->wake / 1000000000, dog->wake % 1000000000};
            pthread_cond_timedwait(&dog->changed, &dog->lock, &until);
        }
    }
    pthread_mutex_unlock(&dog->lock);
    return NULL;
}

enum status watchdog_create(struct watchdog **watchdog, struct error *err) {
    struct watchdog *dog = calloc(1, sizeof *dog);
    if (!dog) {
        return fail(err, ST_BUSY, "out of memory");
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&dog->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&dog->lock, NULL);
    int error = pthread_create(&dog->thread, NULL, watchdog_run, dog);
    if (error) {
        free(dog);
        return fail(err, ST_BUSY, "cannot start the watchdog thread: %s", strerror(error));
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
    pthread_cond_signal(&watchdog->changed);
    pthread_mutex_unlock(&watchdog->lock);
    pthread_join(watchdog->thread, NULL);
    pthread_cond_destroy(&watchdog->changed);
    pthread_mutex_destroy(&watchdog->lock);
    free(watchdog);
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
    return watch;
}

void watch_remove(struct watch *watch) {
    if (!watch) {
        return;
    }
    struct watchdog *dog = watch->watchdog;
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
        if (deadline < dog->wake) {
            pthread_cond_signal(&dog->changed);
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
