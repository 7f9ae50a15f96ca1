/* SPDX-License-Identifier: MIT */
#include "server/workers.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/crew.h"
#include "core/log.h"
#include "server/request.h"
#include "server/service.h"

_Static_assert((int)WORKER_LANES == (int)SERVICE_BACKENDS_MAX, "a lane for each backend");

struct workers {
    struct service *service;
    struct crew *crew; /* its lock guards the queue */
    bool stopping, cancelling;
    struct request *first, **last; /* oldest first */
    unsigned waiting, queue;
    unsigned count; /* threads started */
    pthread_t thread[];
};

/* The next request, or NULL when the pool ends and nothing is left; *cancelled when it is
 * only to be refused. */
static struct request *take(struct workers *workers, bool *cancelled) {
    crew_lock(workers->crew);
    while (!workers->first && !workers->stopping) {
        if (!crew_help(workers->crew)) {
            crew_wait(workers->crew);
        }
    }
    struct request *request = workers->first;
    if (request) {
        workers->first = request->next;
        if (!workers->first) {
            workers->last = &workers->first;
        }
        request->next = NULL;
        workers->waiting--;
        metrics_set(workers->service->metrics, METRIC_QUEUE_DEPTH, workers->waiting);
    }
    *cancelled = workers->cancelling;
    crew_unlock(workers->crew);
    return request;
}

/* Makes the lanes that are missing: all at the start, later those for which there was no memory then. */
static void open_lanes(struct worker *worker) {
    struct service *service = worker->service;
    for (unsigned i = 0; i < service->backend_count; i++) {
        struct error err = {0};
        if (!worker->lane[i] && lane_create(service->backend[i], &worker->lane[i], &err) != ST_OK) {
            log_message(LOG_WARNING, "lane", "%s: %s", service->backend[i]->name, err.text);
            worker->lane[i] = NULL;
        }
    }
}

static void *worker_run(void *argument) {
    struct workers *workers = argument;
    struct service *service = workers->service;
    struct worker worker = {.service = service, .crew = workers->crew};
    open_lanes(&worker);
    bool cancelled;
    for (struct request *request; (request = take(workers, &cancelled));) {
        open_lanes(&worker);
        request_work(request, cancelled ? NULL : &worker);
    }
    for (unsigned i = 0; i < service->backend_count; i++) {
        lane_destroy(worker.lane[i]);
    }
    return NULL;
}

enum status workers_create(struct workers **workers, struct service *service, unsigned count, unsigned queue,
                           struct error *err) {
    struct workers *pool = calloc(1, sizeof *pool + count * sizeof pool->thread[0]);
    struct crew *crew = crew_create(CREW_GRAIN, true);
    if (!pool || !crew) {
        free(pool);
        crew_destroy(crew);
        return fail(err, ST_BUSY, "out of memory");
    }
    pool->crew = crew;
    pool->service = service;
    pool->queue = queue;
    pool->last = &pool->first;
    for (; pool->count < count; pool->count++) {
        int error = pthread_create(&pool->thread[pool->count], NULL, worker_run, pool);
        if (error) {
            fail(err, ST_BUSY, "cannot start worker thread %u: %s", pool->count, strerror(error));
            workers_finish(pool, false);
            workers_destroy(pool);
            return ST_BUSY;
        }
    }
    *workers = pool;
    return ST_OK;
}

enum status workers_submit(struct workers *workers, struct request *request, struct error *err) {
    crew_lock(workers->crew);
    bool stopping = workers->stopping;
    bool room = !stopping && workers->waiting < workers->queue;
    if (room) {
        request->next = NULL;
        *workers->last = request;
        workers->last = &request->next;
        workers->waiting++;
        metrics_set(workers->service->metrics, METRIC_QUEUE_DEPTH, workers->waiting);
    }
    crew_unlock(workers->crew);
    if (room) {
        crew_wake(workers->crew); /* unlocked, or it would wake up to wait */
    }
    if (stopping) {
        return fail(err, ST_BUSY, "the server is shutting down");
    }
    return room ? ST_OK : fail(err, ST_BUSY, "%u requests are waiting already", workers->queue);
}

void workers_finish(struct workers *workers, bool cancel) {
    if (!workers) {
        return;
    }
    crew_lock(workers->crew);
    workers->stopping = true;
    workers->cancelling = cancel;
    crew_wake_all(workers->crew);
    crew_unlock(workers->crew);
    for (unsigned i = 0; i < workers->count; i++) {
        pthread_join(workers->thread[i], NULL);
    }
    workers->count = 0;
}

void workers_destroy(struct workers *workers) {
    if (!workers) {
        return;
    }
    crew_destroy(workers->crew);
    free(workers);
}
