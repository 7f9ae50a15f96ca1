/* SPDX-License-Identifier: MIT */
#include "server/http/acceptor.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/log.h"
#include "server/http/loop.h"
#include "server/http/watchdog.h"
#include "server/metrics.h"

enum {
    BURST = 64,      /* connections accepted before the thread looks whether it has to end */
    FAILED_MS = 100, /* before accept is tried again */
};
#define LOG_INTERVAL_NS INT64_C(1000000000)

struct acceptor {
    struct acceptor_options options;
    struct loop *loop;
    int epoll; /* has the listening socket */
    bool listening, closed;
    int64_t logged;   /* clock_ns */
    atomic_bool full; /* the thread waits until a connection ends */
};

/* Adds the listening socket to the epoll set, so that its events wake the thread, or removes it. Returns
 * false when the kernel has no memory for that. An empty mask of events would not do, since epoll reports
 * EPOLLHUP all the same. */
static bool listen_for(struct acceptor *acceptor, bool wanted) {
    struct epoll_event event = {.events = EPOLLIN};
    int change = wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL;
    if (acceptor->listening != wanted &&
        epoll_ctl(acceptor->epoll, change, acceptor->options.listen_fd, &event) == 0) {
        acceptor->listening = wanted;
    }
    return acceptor->listening == wanted;
}

/* Whether one more connection may be open. If not, the end of the next one wakes the thread. */
static bool has_room(struct acceptor *acceptor) {
    const struct acceptor_options *options = &acceptor->options;
    if (atomic_load(&options->intakes->open) < options->most) {
        return true;
    }
    atomic_store(&acceptor->full, true);
    /* A connection may have ended between the first look and the flag. */
    return atomic_load(&options->intakes->open) < options->most;
}

/* Gives the connection to the event thread that has the fewest. */
static void dispatch(struct intakes *intakes, struct arrival *arrival) {
    struct intake *least = &intakes->each[0];
    for (unsigned i = 1; i < intakes->count; i++) {
        least = atomic_load(&intakes->each[i].open) < atomic_load(&least->open) ? &intakes->each[i] : least;
    }
    atomic_fetch_add(&intakes->open, 1);
    atomic_fetch_add(&least->open, 1);
    arrival->next = atomic_load(&least->arrived);
    while (!atomic_compare_exchange_weak(&least->arrived, &arrival->next, arrival)) {
    }
    loop_wake(least->loop);
}

/* Whether the system lacks memory or descriptors, which closed connections give back. */
static bool is_scarce(int why) {
    return why == EMFILE || why == ENFILE || why == ENOBUFS || why == ENOMEM;
}

static void note_failure(struct acceptor *acceptor, int why) {
    int64_t now = clock_ns();
    metrics_add(acceptor->options.metrics, METRIC_ACCEPT_FAILURES, 1);
    if (is_scarce(why)) {
        watchdog_relieve(acceptor->options.watchdog);
    }
    if (now - acceptor->logged >= LOG_INTERVAL_NS) {
        acceptor->logged = now;
        log_message(LOG_WARNING, "accept", "cannot accept a connection: %s", strerror(why));
    }
}

/* Returns after how many milliseconds to try again; -1: with the next event. EINVAL: the socket does not
 * listen any more. EACCES and EPERM: something forbids it. After other errors that connection is gone. */
static int64_t rest_after(struct acceptor *acceptor, int why) {
    bool lasts = is_scarce(why) || why == EINVAL || why == EACCES || why == EPERM;
    if (lasts) {
        note_failure(acceptor, why);
    }
    bool waits = listen_for(acceptor, !lasts);
    return lasts || !waits ? FAILED_MS : why == EAGAIN ? -1 : 0;
}

static int64_t accept_some(void *context) {
    struct acceptor *acceptor = context;
    for (unsigned i = 0; i < BURST; i++) {
        if (acceptor->closed || !has_room(acceptor)) {
            listen_for(acceptor, false);
            return -1;
        }
        struct arrival *arrival = malloc(sizeof *arrival);
        if (!arrival) {
            return rest_after(acceptor, ENOMEM);
        }
        arrival->size = sizeof arrival->address;
        arrival->fd = accept4(acceptor->options.listen_fd, (struct sockaddr *)&arrival->address,
                              &arrival->size, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (arrival->fd < 0) {
            int why = errno;
            free(arrival);
            return rest_after(acceptor, why);
        }
        dispatch(acceptor->options.intakes, arrival);
    }
    return 0;
}

enum status acceptor_start(struct acceptor **acceptor, const struct acceptor_options *options,
                           struct error *err) {
    struct acceptor *made = calloc(1, sizeof *made);
    if (!made) {
        return fail(err, ST_BUSY, "out of memory");
    }
    *made = (struct acceptor){.options = *options, .listening = true};
    made->epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    *acceptor = made; /* before the thread, whose connections may end */
    enum status status = epoll_ctl(made->epoll, EPOLL_CTL_ADD, options->listen_fd, &event) != 0
                             ? fail(err, ST_BUSY, "cannot wait for connections: %s", strerror(errno))
                             : loop_start(&made->loop, "blurd-accept", made->epoll, accept_some, made, err);
    if (status != ST_OK) {
        *acceptor = NULL;
        acceptor_destroy(made);
    }
    return status;
}

struct arrival *intake_take(struct intake *intake) {
    struct arrival *latest = atomic_load(&intake->arrived) ? atomic_exchange(&intake->arrived, NULL) : NULL;
    struct arrival *first = NULL;
    for (struct arrival *next; latest; latest = next) {
        next = latest->next;
        latest->next = first;
        first = latest;
    }
    return first;
}

unsigned intake_release(struct intakes *intakes, struct intake *intake, struct acceptor *acceptor) {
    atomic_fetch_sub(&intake->open, 1);
    unsigned left = atomic_fetch_sub(&intakes->open, 1) - 1;
    if (acceptor && atomic_load(&acceptor->full) && atomic_exchange(&acceptor->full, false)) {
        loop_wake(acceptor->loop);
    }
    return left;
}

static void stop_accepting(void *context) {
    struct acceptor *acceptor = context;
    acceptor->closed = true;
    listen_for(acceptor, false);
}

void acceptor_close(struct acceptor *acceptor) {
    if (acceptor) {
        loop_call(acceptor->loop, stop_accepting);
    }
}

void acceptor_destroy(struct acceptor *acceptor) {
    if (!acceptor) {
        return;
    }
    loop_stop(acceptor->loop);
    if (acceptor->epoll >= 0) {
        close(acceptor->epoll);
    }
    free(acceptor);
}
