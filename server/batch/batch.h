/* SPDX-License-Identifier: MIT
 * `blurd run`: a client that lets a daemon do one job with many files. Threads take the next picture, send
 * it, and hand on the answer; where pictures come from and answers go to is a kind of batch. */
#ifndef BLURD_SERVER_BATCH_BATCH_H
#define BLURD_SERVER_BATCH_BATCH_H

#include <pthread.h>

#include "config/job/job.h"
#include "server/batch/item.h"
#include "server/batch/tally.h"
#include "server/client/http/address.h"
#include "server/client/own_daemon.h"

struct batch;

struct batch_kind {
    /* Takes the next picture, or a failure. False at the end. One thread at a time. */
    bool (*take)(struct batch *batch, struct item *item);
    /* Opens item->in where it is not, unless the item is decided. NULL: `take` does. */
    void (*open)(struct batch *batch, struct item *item);
    /* Opens item->out. ST_BUSY: no answer can be written. */
    enum status (*begin)(struct batch *batch, struct item *item, struct error *err);
    /* Hands on what came of it, and owns the item from then on. */
    void (*give)(struct batch *batch, struct item *item);
    /* Called some times a second, and at the end, by the main thread. */
    void (*tick)(struct batch *batch, bool end);
    /* Frees batch->state, also after a creation that failed. ST_BUSY: the output could not be ended. */
    enum status (*finish)(struct batch *batch, struct error *err);
};

struct batch {
    const struct job_options *options;
    const struct config *config;
    struct transfer_job job;
    const struct batch_kind *kind;
    void *state; /* of the kind */

    struct own_daemon daemon;
    pthread_mutex_t lock; /* protects `daemon` and the members below */
    pthread_cond_t changed;
    struct daemon_address address[ADDRESSES_MAX];
    size_t addresses;
    void *trust;         /* of those with TLS; NULL: none has */
    bool ended;          /* there is no further picture, or none is begun any more */
    bool stopping;       /* nor is any tried again */
    bool over;           /* nor does a signal mean anything */
    bool lost;           /* the own daemon may have ended */
    bool refused;        /* it takes no connections: it is ending, if it has not ended */
    unsigned revivals;   /* since the last picture that was done */
    struct error broken; /* why no picture can be done; status ST_OK: they can */
    unsigned started;    /* number of threads that were started */
    unsigned working;    /* number of threads that have not ended */
    struct batch_tally tally;
    pthread_mutex_t source; /* of taking a picture, and of what follows; before `lock` */
    unsigned long number;
    bool exhausted; /* all were taken */
};

/* Starts no further picture, and says why. Thread-safe. */
void batch_break(struct batch *batch, const struct error *why);

/* Counts the item and destroys it. Thread-safe. */
void batch_finish_item(struct batch *batch, struct item *item);

/* The thread that does pictures (server/batch/work.c). The argument is the batch. */
void *batch_work(void *argument);

#endif
