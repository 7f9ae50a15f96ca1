/* SPDX-License-Identifier: MIT */
#include "server/queue/workers.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "codecs/process/codec_link.h"
#include "core/clock.h"
#include "core/crew.h"
#include "core/deadline.h"
#include "core/log.h"
#include "core/slot.h"
#include "core/tuned.h"
#include "filters/backend.h"

enum {
    HELP_AFTER_NS = 1000000000, /* a large job gets help after so long without small ones */
    WAKES_MAX = 4,              /* the memory of one job rarely suffices for more than that */
};

/* Each worker of a role other than ROLE_ANY sleeps on one of these. */
struct sleeper {
    sem_t wake;           /* posted when the worker shall look for a job */
    struct sleeper *next; /* fell asleep before this one */
};

/* A thread and what it does. */
struct worker_thread {
    struct workers *pool;
    enum role role;
    pthread_t thread;
};

struct workers {
    struct workers_options options;
    struct crew *crew; /* its lock guards the queue */
    bool stopping, cancelling;
    struct admission admission;
    struct sleeper *asleep[JOB_KINDS]; /* workers for each kind, the latest sleeper first; under the lock */
    unsigned woken[JOB_KINDS];         /* workers that were woken and have not looked yet; under the lock */
    sem_t cores;                       /* entropy-decode workers that may begin to compute */
    unsigned watching;                 /* general workers that wake up in time; see wait_for_work */
    _Atomic int64_t small_ns;          /* when the last small job was taken */
    atomic_bool open;           /* admission_is_open when publish was last called; read without the lock */
    _Atomic uint64_t body_room; /* the same of room_for_bodies */
    _Atomic int64_t large_ns;   /* the same of admission_large_ns */
    unsigned count;             /* threads started */
    struct worker_thread threads[];
};

static void publish(struct workers *workers) {
    struct metrics *metrics = workers->options.metrics;
    metrics_set(metrics, METRIC_QUEUE_DEPTH, admission_waiting(&workers->admission));
    metrics_set(metrics, METRIC_QUEUE_STANDING, workers->admission.standing);
    atomic_store(&workers->open, admission_is_open(&workers->admission));
    atomic_store(&workers->body_room, room_for_bodies(&workers->admission.room));
    atomic_store(&workers->large_ns, admission_large_ns(&workers->admission));
}

/* Tells the queue whether the device serves, and what bodies hold. Returns the time. Locked. */
static int64_t refresh_admission(struct workers *workers) {
    const struct workers_options *options = &workers->options;
    workers->admission.device_down =
        options->limits.devices > 0 && backend_transcodes(options->backends[0]) == 0;
    workers->admission.room.bodies = options->slots ? slot_pool_files(options->slots) : 0;
    return clock_ns();
}

/* Takes the next job as admission_take does. Locked. */
static struct job *take_next(struct workers *workers, enum role role, enum refusal *refusal) {
    struct job *job;
    if (workers->cancelling) {
        *refusal = REFUSAL_DRAINING;
        job = admission_clear(&workers->admission);
    } else {
        job = admission_take(&workers->admission, role, refresh_admission(workers), refusal);
    }
    if (job && job->kind == JOB_SMALL) {
        workers->small_ns = clock_ns();
    }
    publish(workers);
    return job;
}

/* Takes up to `most` sleeping workers for jobs of that kind, which is the number of their role, too. The
 * caller wakes them. Locked. */
static struct sleeper *choose_sleepers(struct workers *workers, unsigned kind, unsigned most) {
    struct sleeper *first = workers->asleep[kind], **end = &first;
    for (; most > 0 && *end; most--) {
        end = &(*end)->next;
        workers->woken[kind]++;
    }
    workers->asleep[kind] = *end;
    *end = NULL;
    return first;
}

/* Wakes the workers of a list. Workers that are woken while the caller holds the lock wait for it. */
static void wake(struct sleeper *first) {
    for (struct sleeper *next; first; first = next) {
        next = first->next; /* a woken worker may be in another list at once */
        sem_post(&first->wake);
    }
}

/* Wakes up in time to notice a stalled device while jobs wait for it, and for large jobs the memory that
 * bodies have given back. Locked. */
static void wait_for_work(struct workers *workers) {
    bool watch = admission_waiting(&workers->admission) > 0;
    workers->watching += watch;
    crew_wait(workers->crew, watch ? clock_ns() + ADMISSION_STALL_NS : INT64_MAX);
    workers->watching -= watch;
    wake(choose_sleepers(workers, JOB_LARGE, workers->admission.queue[JOB_LARGE].waiting > 0));
}

/* Sleeps until there may be a job. The worker that fell asleep last is woken first, so that no more of them
 * take memory than there are jobs at a time. Locked. */
static void sleep_locked(struct workers *workers, enum role role, struct sleeper *sleeper) {
    if (role == ROLE_ANY) {
        if (!crew_help(workers->crew)) {
            wait_for_work(workers);
        }
        return;
    }
    sleeper->next = workers->asleep[role];
    workers->asleep[role] = sleeper;
    crew_unlock(workers->crew);
    while (sem_wait(&sleeper->wake) != 0) {
    }
    crew_lock(workers->crew);
    workers->woken[role]--;
}

/* Locked. */
static void wake_all(struct workers *workers) {
    crew_wake_all(workers->crew);
    for (unsigned i = 0; i < JOB_KINDS; i++) {
        wake(choose_sleepers(workers, i, UINT_MAX));
    }
}

/* Waits for a job; NULL when the pool ends and this worker's queue is empty. */
static struct job *wait_for_job(struct workers *workers, enum role role, struct sleeper *sleeper,
                                enum refusal *refusal) {
    const struct job_queue *queue = &workers->admission.queue[role];
    struct job *job;
    crew_lock(workers->crew);
    while (!(job = take_next(workers, role, refusal)) && !(workers->stopping && queue->waiting == 0)) {
        sleep_locked(workers, role, sleeper);
    }
    if (workers->stopping) { /* others may sleep because jobs waited for memory */
        wake_all(workers);
    }
    crew_unlock(workers->crew);
    return job;
}

/* Creates all lanes and the link at the start, and later retries the lanes that failed. */
static void open_lanes(const struct workers_options *options, struct worker *worker) {
    for (unsigned i = 0; i < options->backend_count; i++) {
        struct error err = {0};
        if (!worker->lane[i] && lane_create(options->backends[i], &worker->lane[i], &err) != ST_OK) {
            log_message(LOG_WARNING, "lane", "%s: %s", options->backends[i]->name, err.text);
            worker->lane[i] = NULL;
        }
    }
    struct error err = {0};
    if (options->codecs && !worker->codecs &&
        codec_link_create(&worker->codecs, options->codecs, options->slots, &err) != ST_OK) {
        log_message(LOG_WARNING, "codec", "%s", err.text);
    }
}

/* Helping with a large job would delay the helper's next small job. */
static struct crew *helpers(struct workers *workers, const struct job *job) {
    return job->kind != JOB_LARGE || clock_ns() - workers->small_ns > HELP_AFTER_NS ? workers->crew : NULL;
}

static void run(struct workers *workers, enum role role) {
    const struct workers_options *options = &workers->options;
    struct worker worker = {.role = role, .pool = workers};
    struct sleeper sleeper;
    enum refusal refusal;
    sem_init(&sleeper.wake, 0, 0);
    open_lanes(options, &worker);
    for (struct job *job; (job = wait_for_job(workers, role, &sleeper, &refusal));) {
        open_lanes(options, &worker);
        worker.crew = helpers(workers, job);
        if (refusal == REFUSAL_NONE) {
            options->calls.work(job, &worker);
        } else {
            options->calls.refuse(job, refusal);
        }
    }
    for (unsigned i = 0; i < options->backend_count; i++) {
        lane_destroy(worker.lane[i]);
    }
    codec_link_destroy(worker.codecs);
    sem_destroy(&sleeper.wake);
}

/* Device workers have the highest priority. */
static void *run_thread(void *argument) {
    static const struct {
        const char *name;
        bool behind_device;
        int nice;
    } roles[] = {[ROLE_ANY] = {"blurd-worker", true, 0},
                 [ROLE_LARGE] = {"blurd-large", true, TUNED_NICE_LARGE},
                 [ROLE_DEVICE] = {"blurd-device", false, 0},
                 [ROLE_ENTROPY_DECODE] = {"blurd-entropy", true, 0}};
    const struct worker_thread *thread = argument;
    bool behind = roles[thread->role].behind_device && thread->pool->admission.limits.devices > 0;
    prctl(PR_SET_NAME, roles[thread->role].name);
    int nice = getpriority(PRIO_PROCESS, 0) + roles[thread->role].nice + (behind ? TUNED_NICE_BESIDE_GPU : 0);
    setpriority(PRIO_PROCESS, 0, nice); /* on Linux 0 means the calling thread; a failure is harmless */
    run(thread->pool, thread->role);
    return NULL;
}

static enum status start_threads(struct workers *pool, struct error *err) {
    const struct admission_limits *limits = &pool->admission.limits;
    const unsigned counts[] = {[ROLE_ANY] = limits->workers,
                               [ROLE_LARGE] = limits->large_only,
                               [ROLE_DEVICE] = limits->devices,
                               [ROLE_ENTROPY_DECODE] = limits->entropy_decodes};
    for (unsigned role = 0; role < sizeof counts / sizeof counts[0]; role++) {
        for (unsigned i = 0; i < counts[role]; i++, pool->count++) {
            struct worker_thread *thread = &pool->threads[pool->count];
            *thread = (struct worker_thread){.pool = pool, .role = (enum role)role};
            int error = pthread_create(&thread->thread, NULL, run_thread, thread);
            if (error) {
                return fail(err, ST_BUSY, "cannot start worker thread %u: %s", pool->count, strerror(error));
            }
        }
    }
    return ST_OK;
}

enum status workers_create(struct workers **workers, const struct workers_options *options,
                           struct error *err) {
    struct admission_limits limits = options->limits;
    limits.large_only = limits.workers - limits.workers / 4;
    unsigned wanted = limits.workers + limits.large_only + limits.devices + limits.entropy_decodes;
    struct workers *pool = calloc(1, sizeof *pool + wanted * sizeof pool->threads[0]);
    struct crew *crew = crew_create(TUNED_GRAIN, true);
    if (!pool || !crew) {
        free(pool);
        crew_destroy(crew);
        return fail(err, ST_BUSY, "out of memory");
    }
    pool->crew = crew;
    pool->options = *options;
    admission_init(&pool->admission, &limits);
    publish(pool);
    sem_init(&pool->cores, 0, limits.workers);
    enum status status = start_threads(pool, err);
    if (status != ST_OK) {
        workers_finish(pool, false);
        workers_destroy(pool);
        return status;
    }
    *workers = pool;
    return ST_OK;
}

/* Takes no lock while no job waits for a core, which is usual where the device does all pictures. */
enum refusal workers_gate(struct workers *workers, int64_t max_wait_ns, int64_t *wait_ns) {
    *wait_ns = 0;
    if (max_wait_ns >= 0 && atomic_load(&workers->open)) {
        return REFUSAL_NONE;
    }
    crew_lock(workers->crew);
    int64_t now = clock_ns();
    *wait_ns = admission_wait(&workers->admission, JOB_SMALL, now);
    enum refusal refusal = admission_gate(&workers->admission, max_wait_ns, now);
    publish(workers);
    crew_unlock(workers->crew);
    return refusal;
}

enum refusal workers_submit(struct workers *workers, struct job *job, int64_t *wait_ns) {
    crew_lock(workers->crew);
    int64_t now = refresh_admission(workers);
    enum refusal refusal =
        workers->stopping ? REFUSAL_DRAINING : admission_enter(&workers->admission, job, now);
    enum job_kind kind = job->kind;
    *wait_ns = admission_wait(&workers->admission, kind, now);
    bool entered = refusal == REFUSAL_NONE, own_workers = kind == JOB_DEVICE || kind == JOB_ENTROPY_DECODE;
    struct sleeper *woken = choose_sleepers(workers, kind, entered);
    const struct job_queue *queue = workers->admission.queue;
    bool for_device = queue[JOB_DEVICE].waiting > 0 || queue[JOB_ENTROPY_DECODE].waiting > 0;
    bool unwatched = for_device && workers->watching == 0 && !woken;
    bool others = !own_workers || unwatched || admission_overflows(&workers->admission, now);
    publish(workers);
    crew_unlock(workers->crew);
    if (entered && others) {
        crew_wake(workers->crew);
    }
    wake(woken);
    return refusal;
}

uint64_t workers_body_room(const struct workers *workers) {
    return atomic_load(&workers->body_room);
}

bool workers_grow(struct workers *workers, struct job *job, uint64_t bytes) {
    crew_lock(workers->crew);
    refresh_admission(workers);
    bool fits = room_grow(&workers->admission.room, &job->ways[job->way].bytes, bytes, job->body);
    publish(workers);
    crew_unlock(workers->crew);
    return fits;
}

bool workers_is_large(const struct workers *workers, int64_t cost_ns) {
    return cost_ns >= atomic_load(&workers->large_ns);
}

void workers_done(struct workers *workers, struct job *job) {
    struct sleeper *woken[JOB_KINDS];
    crew_lock(workers->crew);
    int64_t now = refresh_admission(workers);
    admission_done(&workers->admission, job, now);
    publish(workers);
    const struct job_queue *queue = workers->admission.queue;
    bool waiting = queue[JOB_LARGE].waiting > 0 || queue[JOB_SMALL].waiting > 0 ||
                   admission_overflows(&workers->admission, now);
    for (unsigned i = 0; i < JOB_KINDS; i++) { /* for the memory that is free now, perhaps */
        unsigned left = queue[i].waiting > workers->woken[i] ? queue[i].waiting - workers->woken[i] : 0;
        woken[i] = choose_sleepers(workers, i, left < WAKES_MAX ? left : WAKES_MAX);
    }
    crew_unlock(workers->crew);
    if (waiting) {
        crew_wake(workers->crew);
    }
    for (unsigned i = 0; i < JOB_KINDS; i++) {
        wake(woken[i]);
    }
}

/* A holder of a core ends by the deadline of its request, so waiting for one is no deadlock. */
enum status workers_core_take(struct worker *worker, int64_t deadline_ns, struct error *err) {
    const struct timespec until = {.tv_sec = deadline_ns / 1000000000, .tv_nsec = deadline_ns % 1000000000};
    if (worker->role != ROLE_ENTROPY_DECODE || !worker->pool || worker->has_core) {
        return ST_OK;
    }
    sem_t *cores = &worker->pool->cores;
    while ((deadline_ns ? sem_clockwait(cores, CLOCK_MONOTONIC, &until) : sem_wait(cores)) != 0) {
        enum status status = deadline_check(deadline_ns, err);
        if (status != ST_OK) {
            return status;
        }
    }
    worker->has_core = true;
    return ST_OK;
}

void workers_core_give(struct worker *worker) {
    if (worker->has_core) {
        worker->has_core = false;
        sem_post(&worker->pool->cores);
    }
}

void workers_finish(struct workers *workers, bool cancel) {
    if (!workers) {
        return;
    }
    crew_lock(workers->crew);
    workers->stopping = true;
    workers->cancelling = cancel;
    wake_all(workers);
    crew_unlock(workers->crew);
    for (unsigned i = 0; i < workers->count; i++) {
        pthread_join(workers->threads[i].thread, NULL);
    }
    workers->count = 0;
}

void workers_destroy(struct workers *workers) {
    if (!workers) {
        return;
    }
    crew_destroy(workers->crew);
    sem_destroy(&workers->cores);
    free(workers);
}
