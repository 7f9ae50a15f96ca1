/* SPDX-License-Identifier: MIT */
#include "server/queue/workers.h"

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
#include "server/queue/overload.h"
#include "server/request.h"
#include "server/service.h"

_Static_assert((int)WORKER_LANES == (int)SERVICE_BACKENDS_MAX, "a lane for each backend");

enum {
    WORKERS_A_LARGE_ONE = 4,
    LARGE_NICE = 5,       /* a third of the processor's time that a worker for all gets beside it */
    DEVICE_NICE = 10,     /* a tenth */
    CALM_NS = 1000000000, /* without other pictures before a large one gets help */
};

struct workers {
    struct service *service;
    struct crew *crew; /* its lock guards the queue */
    bool stopping, cancelling;
    struct admission admission;
    sem_t large;            /* posted when there may be something for those that take large pictures alone */
    sem_t device;           /* posted once for each of those with a device that is to wake up */
    unsigned sleeping;      /* of those with a device, not called yet; under the lock */
    unsigned watching;      /* of those for all, asleep, that look after a while whether the device stalls */
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

/* Tells the queue whether a device serves; locked. Returns the time. */
static int64_t look(struct workers *workers) {
    struct service *service = workers->service;
    workers->admission.device_down = service->places > 0 && backend_transcodes(service->backend[0]) == 0;
    return clock_ns();
}

/* The next request, or NULL when there is none for this kind of worker; with *refusal it is only to be
 * refused. Locked. */
static struct request *next(struct workers *workers, enum role role, enum refusal *refusal) {
    struct job *job;
    if (workers->cancelling) {
        *refusal = REFUSAL_DRAINING;
        job = admission_clear(&workers->admission);
    } else {
        job = admission_take(&workers->admission, role, look(workers), refusal);
    }
    if (job && !job->large && !job->device) {
        workers->small_ns = clock_ns();
    }
    show(workers);
    return request_of(job);
}

/* Where requests wait for a device, it may stall, and nothing else would tell; locked. */
static void wait_for_work(struct workers *workers) {
    bool watch = workers->admission.queue[JOB_DEVICE].waiting > 0;
    workers->watching += watch;
    crew_wait(workers->crew, watch ? clock_ns() + ADMISSION_STALL_NS : INT64_MAX);
    workers->watching -= watch;
}

/* Sleeps until there may be something to do; locked. */
static void sleep_locked(struct workers *workers, enum role role) {
    if (role == ROLE_ANY) {
        if (!crew_help(workers->crew)) {
            wait_for_work(workers);
        }
        return;
    }
    workers->sleeping += role == ROLE_DEVICE;
    crew_unlock(workers->crew);
    sem_wait(role == ROLE_LARGE ? &workers->large : &workers->device);
    crew_lock(workers->crew);
}

/* Waits for a request; NULL when the pool ends and nothing is left for this kind of worker. */
static struct request *take(struct workers *workers, enum role role, enum refusal *refusal) {
    static const enum job_kind kinds[] = {
        [ROLE_ANY] = JOB_SMALL, [ROLE_LARGE] = JOB_LARGE, [ROLE_DEVICE] = JOB_DEVICE};
    const struct job_queue *queue = &workers->admission.queue[kinds[role]];
    struct request *request;
    crew_lock(workers->crew);
    while (!(request = next(workers, role, refusal)) && !(workers->stopping && queue->waiting == 0)) {
        sleep_locked(workers, role);
    }
    crew_unlock(workers->crew);
    if (!request && role != ROLE_ANY) { /* the next may have used up its call while it had to wait */
        sem_post(role == ROLE_LARGE ? &workers->large : &workers->device);
    }
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

static void run(struct workers *workers, enum role role) {
    struct worker worker = {.service = workers->service, .role = role};
    enum refusal refusal;
    open_lanes(&worker);
    for (struct request *request; (request = take(workers, role, &refusal));) {
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

/* Priorities are a thread's own on Linux, 0 is the one that calls. Without the right to change it nothing is
 * lost but that. */
static void give_way(int by) {
    if (by > 0) {
        setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + by);
    }
}

/* Where a device does most, what keeps it busy comes first. */
static int behind_device(const struct workers *workers) {
    return workers->admission.limits.devices > 0 ? DEVICE_NICE : 0;
}

static void *run_any(void *argument) {
    give_way(behind_device(argument));
    run(argument, ROLE_ANY);
    return NULL;
}

static void *run_large(void *argument) {
    give_way(behind_device(argument) + LARGE_NICE);
    run(argument, ROLE_LARGE);
    return NULL;
}

static void *run_device(void *argument) {
    run(argument, ROLE_DEVICE);
    return NULL;
}

static enum status start_threads(struct workers *pool, struct error *err) {
    const struct admission_limits *limits = &pool->admission.limits;
    for (; pool->count < pool->wanted; pool->count++) {
        void *(*main)(void *) = pool->count < limits->workers                        ? run_any
                                : pool->count < limits->workers + limits->large_only ? run_large
                                                                                     : run_device;
        int error = pthread_create(&pool->thread[pool->count], NULL, main, pool);
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
    unsigned wanted = count + large_only + service->places;
    struct workers *pool = calloc(1, sizeof *pool + wanted * sizeof pool->thread[0]);
    struct crew *crew = crew_create(CREW_GRAIN, true);
    if (!pool || !crew) {
        free(pool);
        crew_destroy(crew);
        return fail(err, ST_BUSY, "out of memory");
    }
    pool->crew = crew;
    pool->service = service;
    pool->wanted = wanted;
    sem_init(&pool->large, 0, 0);
    sem_init(&pool->device, 0, 0);
    const struct admission_limits limits = {
        .workers = count,
        .large_only = large_only,
        .devices = service->places,
        .shared = config->jpeg_codec != CHOICE_jpeg_codec_gpu,
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
    *wait_ns = admission_wait(&workers->admission, JOB_SMALL, now);
    enum refusal refusal = admission_gate(&workers->admission, patience_ns, now);
    show(workers);
    crew_unlock(workers->crew);
    return refusal;
}

enum refusal workers_submit(struct workers *workers, struct request *request, int64_t *wait_ns) {
    crew_lock(workers->crew);
    int64_t now = look(workers);
    enum refusal refusal =
        workers->stopping ? REFUSAL_DRAINING : admission_enter(&workers->admission, &request->job, now);
    enum job_kind kind = job_kind(&request->job);
    *wait_ns = admission_wait(&workers->admission, kind, now);
    bool call = kind == JOB_DEVICE && refusal == REFUSAL_NONE && workers->sleeping > 0;
    bool unwatched = workers->admission.queue[JOB_DEVICE].waiting > 0 && workers->watching == 0 && !call;
    bool others = kind != JOB_DEVICE || unwatched || admission_overflows(&workers->admission, now);
    workers->sleeping -= call;
    show(workers);
    crew_unlock(workers->crew);
    if (refusal != REFUSAL_NONE) {
        return refusal;
    }
    if (others) {
        crew_wake(workers->crew); /* unlocked, or it would wake up to wait */
    }
    if (kind == JOB_LARGE || call) {
        sem_post(call ? &workers->device : &workers->large);
    }
    return refusal;
}

void workers_done(struct workers *workers, struct request *request) {
    crew_lock(workers->crew);
    int64_t now = look(workers);
    admission_done(&workers->admission, &request->job, now);
    const struct job_queue *queue = workers->admission.queue;
    bool large = queue[JOB_LARGE].waiting > 0;
    bool waiting = large || queue[JOB_SMALL].waiting > 0 || admission_overflows(&workers->admission, now);
    unsigned devices = queue[JOB_DEVICE].waiting;
    devices = devices < workers->sleeping ? devices : workers->sleeping;
    workers->sleeping -= devices;
    crew_unlock(workers->crew);
    if (waiting) { /* maybe for the memory that is free now */
        crew_wake(workers->crew);
    }
    if (large) {
        sem_post(&workers->large);
    }
    for (; devices > 0; devices--) {
        sem_post(&workers->device);
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
    for (unsigned i = 0; i < workers->wanted; i++) {
        sem_post(&workers->large);
        sem_post(&workers->device);
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
    sem_destroy(&workers->device);
    free(workers);
}
