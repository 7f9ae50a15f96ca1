/* SPDX-License-Identifier: MIT */
#include "server/tracing/collector.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "core/log.h"
#include "server/tracing/otlp.h"
#include "server/tracing/post.h"

struct collector {
    const struct collector_options *options;
    pthread_mutex_t lock; /* of the members below */
    pthread_cond_t news;
    struct span_record queue[COLLECTOR_QUEUE]; /* a ring */
    unsigned first, count;
    bool ending; /* the daemon has closed its end */
    bool failed; /* the last message was not taken; only the posting thread uses it */
};

static void count(_Atomic int64_t *counter, size_t amount) {
    atomic_fetch_add(counter, (int64_t)amount);
}

/* Strings end within their arrays, whatever the daemon has sent. */
static void end_texts(struct span_record *record) {
    char *const texts[] = {record->trace_id, record->parent_id, record->method,
                           record->path,     record->route,     record->request_id,
                           record->client,   record->backend,   record->problem};
    const size_t sizes[] = {sizeof record->trace_id, sizeof record->parent_id, sizeof record->method,
                            sizeof record->path,     sizeof record->route,     sizeof record->request_id,
                            sizeof record->client,   sizeof record->backend,   sizeof record->problem};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        texts[i][sizes[i] - 1] = '\0';
    }
}

static void push(struct collector *collector, const struct span_record *record) {
    pthread_mutex_lock(&collector->lock);
    bool full = collector->count == COLLECTOR_QUEUE;
    if (!full) {
        collector->queue[(collector->first + collector->count++) % COLLECTOR_QUEUE] = *record;
    }
    if (collector->count == 1 || collector->count == COLLECTOR_BATCH) {
        pthread_cond_signal(&collector->news);
    }
    pthread_mutex_unlock(&collector->lock);
    count(&collector->options->counts->dropped, full);
}

/* Waits for a batch: until it is full, the first record has waited for the interval, or the end. Returns the
 * number of records; 0: the end. */
static unsigned take(struct collector *collector, struct span_record *batch) {
    struct timespec until;
    pthread_mutex_lock(&collector->lock);
    while (collector->count == 0 && !collector->ending) {
        pthread_cond_wait(&collector->news, &collector->lock);
    }
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += COLLECTOR_INTERVAL_MS / 1000;
    while (collector->count < COLLECTOR_BATCH && !collector->ending &&
           pthread_cond_timedwait(&collector->news, &collector->lock, &until) == 0) {
    }
    unsigned taken = collector->count < COLLECTOR_BATCH ? collector->count : COLLECTOR_BATCH;
    for (unsigned i = 0; i < taken; i++) {
        batch[i] = collector->queue[(collector->first + i) % COLLECTOR_QUEUE];
    }
    collector->first = (collector->first + taken) % COLLECTOR_QUEUE;
    collector->count -= taken;
    pthread_mutex_unlock(&collector->lock);
    return taken;
}

/* Logs a failure once, until the collector takes messages again. */
static void report_outcome(struct collector *collector, enum status status, const char *why) {
    if (status != ST_OK && !collector->failed) {
        log_message(LOG_WARNING, "spans", "spans are dropped: %s", why);
    } else if (status == ST_OK && collector->failed) {
        log_message(LOG_INFO, "spans", "the collector takes spans again");
    }
    collector->failed = status != ST_OK;
}

static void post(struct collector *collector, const struct span_record *batch, unsigned size) {
    struct collector_counts *counts = collector->options->counts;
    struct error err = {0};
    struct buf message;
    buf_init(&message, OTLP_MESSAGE_HEAD_MAX + (size_t)COLLECTOR_BATCH * OTLP_RECORD_MAX);
    enum status status = otlp_write(&message, batch, size, &err);
    if (status == ST_OK) {
        status = post_json(&collector->options->endpoint, buf_bytes(&message), &err);
    }
    buf_finish(&message);
    count(status == ST_OK ? &counts->exported : &counts->dropped, size);
    report_outcome(collector, status, err.text);
}

static void *post_all(void *context) {
    struct collector *collector = context;
    static struct span_record batch[COLLECTOR_BATCH];
    for (unsigned size; (size = take(collector, batch)) > 0;) {
        post(collector, batch, size);
    }
    return NULL;
}

/* Takes records until the daemon closes its end. */
static void receive(struct collector *collector, int socket) {
    struct span_record record;
    ssize_t size;
    while ((size = recv(socket, &record, sizeof record, 0)) != 0) {
        if (size == sizeof record) {
            end_texts(&record);
            push(collector, &record);
        } else if (size < 0 && errno != EINTR) {
            break;
        }
    }
}

void collector_run(const struct collector_options *options, int socket) {
    struct collector *collector = calloc(1, sizeof *collector);
    pthread_t poster;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (!collector) {
        return;
    }
    collector->options = options;
    pthread_mutex_init(&collector->lock, NULL);
    pthread_condattr_t attributes; /* a wait must not depend on steps of the wall clock */
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&collector->news, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&poster, NULL, post_all, collector) != 0) {
        free(collector);
        return;
    }
    receive(collector, socket);
    alarm(COLLECTOR_FLUSH_S); /* ends the process */
    pthread_mutex_lock(&collector->lock);
    collector->ending = true;
    pthread_cond_signal(&collector->news);
    pthread_mutex_unlock(&collector->lock);
    pthread_join(poster, NULL);
    free(collector);
}
