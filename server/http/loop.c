/* SPDX-License-Identifier: MIT */
#include "server/http/loop.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "core/tuned.h"

struct loop {
    pthread_t thread;
    const char *name;
    int fd;
    loop_work work;
    void *context;
    int wake;             /* eventfd: written for work, a job, or the end */
    atomic_bool called;   /* there is a job, or the thread is to end */
    pthread_mutex_t lock; /* guards the rest */
    pthread_cond_t done;
    void (*job)(void *context); /* NULL: none */
    bool stopping;
};

unsigned loop_threads(unsigned wanted, unsigned cores) {
    unsigned automatic = cores / TUNED_EVENT_THREAD_CORES;
    automatic = automatic < 1 ? 1 : automatic > TUNED_EVENT_THREADS ? TUNED_EVENT_THREADS : automatic;
    return wanted ? wanted : automatic;
}

/* Runs the pending job, if any; false when the thread is to end. */
static bool attend(struct loop *loop) {
    pthread_mutex_lock(&loop->lock);
    if (loop->job) {
        loop->job(loop->context);
        loop->job = NULL;
        pthread_cond_signal(&loop->done);
    }
    bool stopping = loop->stopping;
    atomic_store(&loop->called, false);
    pthread_mutex_unlock(&loop->lock);
    return !stopping;
}

/* Waits until `fd` is readable, the time has passed, or another thread has called. */
static void wait_for_event(struct loop *loop, int64_t ms) {
    eventfd_t ignored;
    struct pollfd fds[2] = {{.fd = loop->wake, .events = POLLIN}, {.fd = loop->fd, .events = POLLIN}};
    if (poll(fds, 2, ms < 0 ? -1 : ms > INT_MAX ? INT_MAX : (int)ms) > 0 && fds[0].revents) {
        eventfd_read(loop->wake, &ignored);
    }
}

static void *run(void *argument) {
    struct loop *loop = argument;
    prctl(PR_SET_NAME, loop->name);
    do {
        int64_t ms = loop->work(loop->context);
        if (ms != 0) {
            wait_for_event(loop, ms);
        }
    } while (!atomic_load(&loop->called) || attend(loop));
    return NULL;
}

static void release(struct loop *loop) {
    pthread_cond_destroy(&loop->done);
    pthread_mutex_destroy(&loop->lock);
    close(loop->wake);
    free(loop);
}

enum status loop_start(struct loop **loop, const char *name, int fd, loop_work work, void *context,
                       struct error *err) {
    struct loop *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    made->name = name;
    made->fd = fd;
    made->work = work;
    made->context = context;
    made->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&made->lock, NULL);
    pthread_cond_init(&made->done, NULL);
    *loop = made; /* before the thread, whose work may need it */
    int error = made->wake < 0 ? errno : pthread_create(&made->thread, NULL, run, made);
    if (error) {
        *loop = NULL;
        release(made);
        return fail(err, ST_BUSY, "cannot start an event thread: %s", strerror(error));
    }
    return ST_OK;
}

void loop_wake(struct loop *loop) {
    eventfd_write(loop->wake, 1);
}

void loop_call(struct loop *loop, void (*job)(void *context)) {
    pthread_mutex_lock(&loop->lock);
    loop->job = job;
    atomic_store(&loop->called, true);
    eventfd_write(loop->wake, 1);
    while (loop->job) {
        pthread_cond_wait(&loop->done, &loop->lock);
    }
    pthread_mutex_unlock(&loop->lock);
}

void loop_stop(struct loop *loop) {
    if (!loop) {
        return;
    }
    pthread_mutex_lock(&loop->lock);
    loop->stopping = true;
    atomic_store(&loop->called, true);
    eventfd_write(loop->wake, 1);
    pthread_mutex_unlock(&loop->lock);
    pthread_join(loop->thread, NULL);
    release(loop);
}
