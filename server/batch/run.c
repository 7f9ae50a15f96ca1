/* SPDX-License-Identifier: MIT
 * The main thread of a batch: it starts the others, tells how far they are, and looks after the daemon. */
#include "server/batch/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"

enum {
    STACK = 512 << 10,
    TICK_MS = 250,
    ASK_MS = 2000, /* how often a daemon is asked whether it wants more */
    THREADS_MAX = 512,
    REVIVALS_MAX = 8,
    ENDING_MS = 500,
    IN_FLIGHT_UNKNOWN = 4,
};

struct crowd {
    struct batch *batch;
    pthread_t thread[THREADS_MAX];
    unsigned threads;
    uint8_t *buffer;
    int64_t asked_ns;
};

/* The first signal lets what is in progress end; the second ends the program. */
static void *await_signals(void *argument) {
    struct batch *batch = argument;
    sigset_t both;
    int which;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    sigwait(&both, &which);
    pthread_mutex_lock(&batch->lock);
    const bool over = batch->over;
    batch->ended = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    if (over) {
        return NULL;
    }
    fputs("\nblurd: no further picture is begun; once more to stop at once\n", stderr);
    sigwait(&both, &which);
    pthread_mutex_lock(&batch->lock);
    const bool ended = batch->over;
    pthread_mutex_unlock(&batch->lock);
    if (ended) {
        return NULL;
    }
    signal(which, SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &both, NULL);
    raise(which);
    return NULL;
}

static unsigned wanted(const struct crowd *crowd) {
    const struct batch *batch = crowd->batch;
    unsigned sum = 0;
    if (batch->options->in_flight) {
        return batch->options->in_flight;
    }
    for (size_t i = 0; i < batch->addresses; i++) {
        struct error unused = {0};
        unsigned count = 0;
        const bool said = transfer_ask_in_flight(&batch->address[i], crowd->buffer, &count, &unused) == ST_OK;
        sum += said ? count : IN_FLIGHT_UNKNOWN;
    }
    return sum < THREADS_MAX ? sum : THREADS_MAX;
}

/* Starts threads until there are so many. */
static enum status add_threads(struct crowd *crowd, unsigned count, struct error *err) {
    struct batch *batch = crowd->batch;
    pthread_attr_t attributes;
    int problem = pthread_attr_init(&attributes);
    problem = problem ? problem : pthread_attr_setstacksize(&attributes, STACK);
    while (!problem && crowd->threads < count) {
        pthread_mutex_lock(&batch->lock);
        batch->working++;
        pthread_mutex_unlock(&batch->lock);
        problem = pthread_create(&crowd->thread[crowd->threads], &attributes, batch_work, batch);
        if (problem) {
            pthread_mutex_lock(&batch->lock);
            batch->working--;
            pthread_mutex_unlock(&batch->lock);
        } else {
            crowd->threads++;
        }
    }
    pthread_attr_destroy(&attributes);
    return crowd->threads ? ST_OK : fail(err, ST_BUSY, "no thread: %s", strerror(problem));
}

/* Replaces a daemon that has ended by itself. */
static void revive(struct batch *batch) {
    struct error err = {0};
    bool ended = false;
    pthread_mutex_lock(&batch->lock);
    if (batch->lost) {
        batch->lost = false;
        pthread_cond_broadcast(&batch->changed);
        /* With the lock, so that no other thread tries a daemon that is ending, and fails. */
        ended = own_daemon_ended(&batch->daemon, batch->refused ? ENDING_MS : 0);
        batch->refused = false;
    }
    if (ended && batch->revivals++ == REVIVALS_MAX) {
        fail(&err, ST_BUSY, "the daemon ends again and again");
    } else if (ended) {
        own_daemon_stop(&batch->daemon);
        if (own_daemon_start(&batch->daemon, batch->config, NULL, 0, &err) == ST_OK) {
            snprintf(batch->address[0].host, ADDRESS_HOST_MAX, "%s", batch->daemon.path);
            fputs("blurd: the daemon has ended, and is started again\n", stderr);
        }
    }
    pthread_mutex_unlock(&batch->lock);
    if (err.status != ST_OK) {
        batch_break(batch, &err);
    }
}

/* A daemon wants more when its GPU begins to serve. */
static void grow(struct crowd *crowd) {
    struct error unused = {0};
    if (crowd->batch->options->in_flight == 0 && clock_ns() - crowd->asked_ns >= ASK_MS * INT64_C(1000000)) {
        crowd->asked_ns = clock_ns();
        add_threads(crowd, wanted(crowd), &unused);
    }
}

/* Until all threads have ended. */
static void look_on(struct crowd *crowd) {
    struct batch *batch = crowd->batch;
    bool working = true;
    while (working) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += TICK_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_mutex_lock(&batch->lock);
        int waited = 0;
        while (batch->working > 0 && !batch->lost && waited == 0) {
            waited = pthread_cond_timedwait(&batch->changed, &batch->lock, &until);
        }
        working = batch->working > 0;
        const bool grows = working && !batch->ended;
        if (working) {
            tally_progress(&batch->tally);
        }
        pthread_mutex_unlock(&batch->lock);
        revive(batch);
        batch->kind->tick(batch, false);
        if (grows) {
            grow(crowd);
        }
    }
}

enum status run_pictures(struct batch *batch, struct error *err) {
    struct crowd crowd = {.batch = batch, .buffer = malloc(CLIENT_SOCKET_BUFFER), .asked_ns = clock_ns()};
    sigset_t both, blocked, before;
    pthread_t signals;
    sigemptyset(&both);
    sigaddset(&both, SIGINT);
    sigaddset(&both, SIGTERM);
    blocked = both;
    sigaddset(&blocked, SIGPIPE); /* a reader or a daemon that ends is an error to tell */
    pthread_sigmask(SIG_BLOCK, &blocked, &before);
    const bool watched = pthread_create(&signals, NULL, await_signals, batch) == 0;
    enum status status = crowd.buffer && watched ? ST_OK : fail(err, ST_BUSY, "out of memory");
    status = status == ST_OK ? add_threads(&crowd, wanted(&crowd), err) : status;
    if (status == ST_OK) {
        look_on(&crowd);
    }
    for (unsigned i = 0; i < crowd.threads; i++) {
        pthread_join(crowd.thread[i], NULL);
    }
    batch->kind->tick(batch, true);
    if (watched) {
        pthread_mutex_lock(&batch->lock);
        batch->over = true;
        pthread_mutex_unlock(&batch->lock);
        pthread_kill(signals, SIGTERM);
        pthread_join(signals, NULL);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(crowd.buffer);
    return status;
}

void run_dry(struct batch *batch) {
    for (;;) {
        struct item *item = calloc(1, sizeof *item);
        if (item) {
            item->in = item->out = -1;
        }
        if (!item || !batch->kind->take(batch, item)) {
            item_destroy(item);
            batch->exhausted = item != NULL;
            return;
        }
        if (batch->kind->open && item->outcome == ITEM_OPEN) {
            batch->kind->open(batch, item);
        }
        if (item->outcome == ITEM_OPEN) {
            item->outcome = ITEM_DONE;
            printf("%s\n", item->input.path);
        }
        batch_finish_item(batch, item);
    }
}
