/* SPDX-License-Identifier: MIT
 * What a thread of a batch does. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "server/batch/batch.h"

enum { FIRST_WAIT_MS = 100, LONGEST_WAIT_MS = 10000 };

void item_fail(struct item *item, enum item_outcome outcome, const char *reason, const char *detail) {
    item->outcome = outcome;
    snprintf(item->result.reason, sizeof item->result.reason, "%s", reason);
    snprintf(item->result.detail, sizeof item->result.detail, "%.*s", TRANSFER_DETAIL_MAX - 1, detail);
}

void item_destroy(struct item *item) {
    if (!item) {
        return;
    }
    if (item->in >= 0) {
        close(item->in);
    }
    if (item->out >= 0) {
        close(item->out);
    }
    transfer_result_finish(&item->result);
    free(item->more);
    free(item);
}

void batch_break(struct batch *batch, const struct error *why) {
    pthread_mutex_lock(&batch->lock);
    if (batch->broken.status == ST_OK) {
        batch->broken = *why;
    }
    batch->ended = batch->stopping = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* Begins no further picture after a failure, unless the batch keeps going. */
static void heed(struct batch *batch, const struct item *item) {
    if (item->outcome == ITEM_FAILED && !batch->options->keep_going) {
        pthread_mutex_lock(&batch->lock);
        batch->ended = true;
        pthread_cond_broadcast(&batch->changed);
        pthread_mutex_unlock(&batch->lock);
    }
}

void batch_finish_item(struct batch *batch, struct item *item) {
    heed(batch, item);
    pthread_mutex_lock(&batch->lock);
    tally_count(&batch->tally, item);
    if (item->outcome == ITEM_DONE) {
        batch->revivals = 0;
    }
    pthread_mutex_unlock(&batch->lock);
    item_destroy(item);
}

/* The next picture; NULL at the end. */
static struct item *take(struct batch *batch) {
    struct item *item = calloc(1, sizeof *item);
    bool more = false;
    if (!item) {
        batch_break(batch, &(struct error){.status = ST_BUSY, .text = "out of memory"});
        return NULL;
    }
    item->in = item->out = -1;
    pthread_mutex_lock(&batch->source);
    pthread_mutex_lock(&batch->lock);
    const bool ended = batch->ended;
    pthread_mutex_unlock(&batch->lock);
    if (!ended) {
        item->number = batch->number++;
        more = batch->kind->take(batch, item);
        batch->exhausted = batch->exhausted || !more;
    }
    pthread_mutex_unlock(&batch->source);
    if (!more) {
        item_destroy(item);
        item = NULL;
    } else if (batch->kind->open && item->outcome == ITEM_OPEN) {
        batch->kind->open(batch, item);
    }
    return item;
}

/* Waits before the next try: as long as the daemon says, or twice as long each time. Returns false when the
 * batch stops meanwhile. */
static bool wait_for_try(struct batch *batch, const struct item *item) {
    const int asked_s = item->result.head.retry_s;
    const int64_t doubled =
        item->tries < 8 ? INT64_C(1) * FIRST_WAIT_MS << (item->tries - 1) : LONGEST_WAIT_MS;
    int64_t ms = asked_s >= 0 ? (int64_t)asked_s * 1000 : doubled;
    ms = ms < LONGEST_WAIT_MS ? ms : LONGEST_WAIT_MS;
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_mutex_lock(&batch->lock);
    int waited = 0;
    while (!batch->stopping && waited == 0) {
        waited = pthread_cond_timedwait(&batch->changed, &batch->lock, &until);
    }
    const bool goes_on = !batch->stopping;
    pthread_mutex_unlock(&batch->lock);
    return goes_on;
}

/* After a try without a whole answer: waits until the main thread has looked whether the own daemon has
 * ended, and replaced it. */
static void look_after_daemon(struct batch *batch, const struct item *item) {
    pthread_mutex_lock(&batch->lock);
    if (batch->daemon.socket >= 0) {
        batch->lost = true;
        batch->refused = batch->refused || strcmp(item->result.reason, "unreachable") == 0;
        pthread_cond_broadcast(&batch->changed);
    }
    while (batch->lost && !batch->stopping) {
        pthread_cond_wait(&batch->changed, &batch->lock);
    }
    pthread_mutex_unlock(&batch->lock);
}

/* Tries until it is done, cannot be done, or was tried often enough. */
static void transfer(struct batch *batch, struct item *item, struct client_socket *socket, unsigned who) {
    enum transfer_verdict verdict = TRANSFER_AGAIN;
    const int64_t start = clock_ns();
    while (verdict == TRANSFER_AGAIN && item->tries < batch->options->tries) {
        if (item->tries > 0 && !wait_for_try(batch, item)) {
            break;
        }
        pthread_mutex_lock(&batch->lock);
        const struct daemon_address address = batch->address[(who + item->tries) % batch->addresses];
        pthread_mutex_unlock(&batch->lock);
        if (item->tries > 0 && batch->addresses > 1) {
            client_socket_close(socket); /* another daemon is asked */
        }
        item->tries++;
        verdict = transfer_try(&batch->job, socket, &address, item->in, (uint64_t)item->file.st_size,
                               item->out, &item->result);
        if (verdict == TRANSFER_AGAIN && (item->result.head.status == 0 || item->result.head.status == 200)) {
            look_after_daemon(batch, item);
        }
    }
    item->ms = (double)(clock_ns() - start) / 1e6;
    item->outcome = verdict == TRANSFER_DONE ? ITEM_DONE : ITEM_FAILED;
    if (verdict == TRANSFER_BROKEN) {
        struct error why = {.status = ST_INTERNAL};
        snprintf(why.text, sizeof why.text, "%s", item->result.detail);
        batch_break(batch, &why);
    }
}

/* The file must still be the one that was opened. */
static void check_unchanged(struct item *item) {
    struct stat now;
    if (fstat(item->in, &now) != 0 || now.st_size != item->file.st_size ||
        now.st_mtim.tv_sec != item->file.st_mtim.tv_sec ||
        now.st_mtim.tv_nsec != item->file.st_mtim.tv_nsec) {
        item_fail(item, ITEM_FAILED, "changed", "it was written to while it was read");
    }
}

static void do_item(struct batch *batch, struct item *item, struct client_socket *socket, unsigned who) {
    struct error err = {0};
    if (item->outcome != ITEM_OPEN) {
        return;
    }
    if (batch->kind->begin(batch, item, &err) != ST_OK) {
        item_fail(item, ITEM_FAILED, "output", err.text);
        batch_break(batch, &err);
        return;
    }
    transfer(batch, item, socket, who);
    if (item->outcome == ITEM_DONE) {
        check_unchanged(item);
    }
}

void *batch_work(void *argument) {
    struct batch *batch = argument;
    struct client_socket socket = {.fd = -1, .buffer = malloc(CLIENT_SOCKET_BUFFER)};
    pthread_mutex_lock(&batch->lock);
    const unsigned who = batch->started++; /* threads spread over the daemons */
    pthread_mutex_unlock(&batch->lock);
    if (!socket.buffer) {
        batch_break(batch, &(struct error){.status = ST_BUSY, .text = "out of memory"});
    }
    for (struct item *item; socket.buffer && (item = take(batch)) != NULL;) {
        do_item(batch, item, &socket, who);
        heed(batch, item);
        batch->kind->give(batch, item);
    }
    client_socket_close(&socket);
    free(socket.buffer);
    pthread_mutex_lock(&batch->lock);
    batch->ended = true; /* no further picture for the others either */
    batch->working--;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}
