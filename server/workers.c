/* SPDX-License-Identifier: MIT */
#include "server/workers.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/crew.h"
#include "core/log.h"
#include "server/overload.h"
#include "server/request.h"
#include "server/service.h"

_Static_assert((int)WORKER_LANES == (int)SERVICE_BACKENDS_MAX, "a lane for each backend");

enum {
    WORKERS_A_LARGE_ONE = 4,
    LARGE_NICE = 5,       /* a third of the processor's time that a worker for all gets beside it */
    CALM_NS = 1000000000, /* without other pictures before a large one gets help */
};

struct workers {
    struct service *service;
    struct crew *crew; /* its lock guards the queue */
    bool stopping, cancelling;
    struct admission admission;
    sem_t large;            /* posted when there may be something for those that take large pictures alone */
    unsigned large_only;    /* how many there are */
    int64_t small_ns;       /* when a picture that is not large was taken last; under the lock */
    unsigned count, wanted; /* threads started, to be started */
    pthread_t thread[];
};

static struct request *request_of(struct job *job) {
    return job ? (struct request *)(void *)((char *)job - offsetof(struct request, job)) : NULL;
}

static void show(struct workers *workers) {
    struct metrics *metrics = workers->service->metrics;
    metrics_set(metrics, METRIC_QUEUE_DEPTH, admission_waiting(&workers->admission));
    metrics_set(metrics, METRIC_QUEUE_STANDING, workers->admission.standing);
}

/* The next request, or NULL when there is none for this kind of worker; with *refusal it is only to be
 * refused. Locked. */
static struct request *next(struct workers *workers, bool large_only, enum refusal *refusal) {
    struct job *job;
    if (workers->cancelling) {
        *refusal = REFUSAL_DRAINING;
        job = admission_clear(&workers->admission);
    } else {
        job = admission_take(&workers->admission, large_only, clock_ns(), refusal);
    }
    if (job && !job->large) {
        workers->small_ns = clock_ns();
    }
    show(workers);
    return request_of(job);
}

/* Waits for a request; NULL when the pool ends and nothing is left for this kind of worker. */
static struct request *take(struct workers *workers, bool large_only, enum refusal *refusal) {
    struct admission *admission = &workers->admission;
    const struct job_queue *queue = large_only ? &admission->large : &admission->small;
    struct request *request;
    crew_lock(workers->crew);
    while (!(request = next(workers, large_only, refusal)) && !(workers->stopping && queue->waiting == 0)) {
        if (large_only) {
            crew_unlock(workers->crew);
            sem_wait(&workers->large);
            crew_lock(workers->crew);
        } else if (!crew_help(workers->crew)) {
            crew_wait(workers->crew);
        }
    }
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

/* Who helps with a large picture is late for the next small one, and has used up its turn on the processor.
 */
static struct crew *helpers(struct workers *workers, const struct request *request) {
    crew_lock(workers->crew);
    bool calm = clock_ns() - workers->small_ns > CALM_NS;
    crew_unlock(workers->crew);
    return request->job.large && !calm ? NULL : workers->crew;
}

static void run(struct workers *workers, bool large_only) {
    struct worker worker = {.service = workers->service, .large_only = large_only};
    enum refusal refusal;
    open_lanes(&worker);
    for (struct request *request; (request = take(workers, large_only, &refusal));) {
        open_lanes(&worker);
        worker.crew = helpers(workers, request);
        if (refusal == REFUSAL_NONE) {
            request_work(request, &worker);
        } else {
            request_refuse(request, refusal);
        }
    }
    for (unsigned i = 0; i < worker.service->backend_count; i++) {
        lane_destroy(worker.lane[i]);
    }
}

static void *run_any(void *argument) {
    run(argument, false);
    return NULL;
}

/* Priorities are a thread's own on Linux, 0 is the one that calls. Without the right to change it nothing is
 * lost but that. */
static void *run_large(void *argument) {
    setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + LARGE_NICE);
    run(argument, true);
    return NULL;
}

static enum status start_threads(struct workers *pool, struct error *err) {
    for (; pool->count < pool->wanted; pool->count++) {
        bool large = pool->count >= pool->wanted - pool->large_only;
        int error = pthread_create(&pool->thread[pool->count], NULL, large ? run_large : run_any, pool);
        if (error) {
            return fail(err, ST_BUSY, "cannot start worker thread %u: %s", pool->count, strerror(error));
        }
    }
    return ST_OK;
}

enum status workers_create(struct workers **workers, struct service *service, unsigned count,
                           struct error *err) {
    unsigned large_only = (count + WORKERS_A_LARGE_ONE - 1) / WORKERS_A_LARGE_ONE;
    const struct config *config = service->config;
    struct workers *pool = calloc(1, sizeof *pool + (count + large_only) * sizeof pool->thread[0]);
    struct crew *crew = crew_create(CREW_GRAIN, true);
    if (!pool || !crew) {
        free(pool);
        crew_destroy(crew);
        return fail(err, ST_BUSY, "out of memory");
    }
    pool->crew = crew;
    pool->service = service;
    pool->wanted = count + large_only;
    pool->large_only = large_only;
    sem_init(&pool->large, 0, 0);
    const struct admission_limits limits = {
        .workers = count,
        .large_only = large_only,
        .queue = config->queue,
        .memory = slot_pool_budget(service->slots) / OVERLOAD_BODY_SHARE * (OVERLOAD_BODY_SHARE - 1),
        .target_ns = config->queue_target_ms * 1000000,
        .interval_ns = config->queue_interval_ms * 1000000,
    };
    admission_init(&pool->admission, &limits);
    enum status status = start_threads(pool, err);
    if (status != ST_OK) {
        workers_finish(pool, false);
        workers_destroy(pool);
        return status;
    }
    *workers = pool;
    return ST_OK;
}

enum refusal workers_gate(struct workers *workers, int64_t patience_ns, int64_t *wait_ns) {
    crew_lock(workers->crew);
    int64_t now = clock_ns();
    *wait_ns = admission_wait(&workers->admission, false, now);
    enum refusal refusal = admission_gate(&workers->admission, patience_ns, now);
    show(workers);
    crew_unlock(workers->crew);
    return refusal;
}

enum refusal workers_submit(struct workers *workers, struct request *request, int64_t *wait_ns) {
    crew_lock(workers->crew);
    int64_t now = clock_ns();
    enum refusal refusal =
        workers->stopping ? REFUSAL_DRAINING : admission_enter(&workers->admission, &request->job, now);
    bool large = request->job.large;
    *wait_ns = admission_wait(&workers->admission, large, now);
    show(workers);
    crew_unlock(workers->crew);
    if (refusal == REFUSAL_NONE) {
        crew_wake(workers->crew); /* unlocked, or it would wake up to wait */
        if (large) {
            sem_post(&workers->large);
        }
    }
    return refusal;
}

void workers_done(struct workers *workers, struct request *request) {
    crew_lock(workers->crew);
    admission_done(&workers->admission, &request->job, clock_ns());
    bool waiting = admission_waiting(&workers->admission) > 0;
    bool large = workers->admission.large.waiting > 0;
    crew_unlock(workers->crew);
    if (waiting) { /* maybe for the memory that is free now */
        crew_wake(workers->crew);
    }
    if (large) {
        sem_post(&workers->large);
    }
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
    for (unsigned i = 0; i < workers->large_only; i++) {
        sem_post(&workers->large);
    }
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
    sem_destroy(&workers->large);
    free(workers);
}
