/* SPDX-License-Identifier: MIT */
#include "server/queue/admission.h"

#include <stddef.h>

#include "core/numbers.h"
#include "core/tuned.h"

/* Each job moves typical_ns up or down by a thirty-second, which makes it a running median. */
enum { TYPICAL_STEP = 32 };
#define TYPICAL_MIN_NS INT64_C(100000)

void admission_init(struct admission *admission, const struct admission_limits *limits) {
    *admission = (struct admission){
        .limits = *limits, .room = {.budget = limits->memory}, .typical_ns = ADMISSION_TYPICAL_NS};
}

unsigned admission_waiting(const struct admission *admission) {
    unsigned waiting = 0;
    for (unsigned i = 0; i < JOB_KINDS; i++) {
        waiting += admission->queue[i].waiting;
    }
    return waiting;
}

int64_t admission_target(const struct admission *admission) {
    const struct job_queue *small = &admission->queue[JOB_SMALL];
    int64_t usual = max_i64(admission->typical_ns, small->waiting ? small->waiting_ns / small->waiting : 0);
    int64_t jobs = usual * ADMISSION_TARGET_JOBS / admission->limits.workers;
    return max_i64(admission->limits.target_ns, jobs);
}

static int64_t interval(const struct admission *admission) {
    return max_i64(admission->limits.interval_ns, admission_target(admission) * ADMISSION_INTERVAL_TARGETS);
}

/* Workers that run jobs of this kind now or could. */
static unsigned capacity(const struct admission *admission, enum job_kind kind) {
    const struct admission_limits *limits = &admission->limits;
    return kind == JOB_LARGE    ? limits->large_only
           : kind == JOB_DEVICE ? limits->devices
           : kind == JOB_READ   ? limits->readers
                                : limits->workers - admission->apart;
}

enum job_kind job_kind(const struct job *job) {
    return job->device ? JOB_DEVICE : job->reads ? JOB_READ : job->large ? JOB_LARGE : JOB_SMALL;
}

static struct job_queue *queue_of(struct admission *admission, const struct job *job) {
    return &admission->queue[job_kind(job)];
}

static int64_t cost_of(const struct job *job) {
    return job->device ? job->device_ns : job->reads ? job->read_ns : job->cost_ns;
}

/* What it takes of the memory while it runs there. */
static uint64_t bytes_of(const struct job *job) {
    return job->reads ? job->read_bytes : job->bytes;
}

static int64_t age_of(const struct job *job, int64_t now) {
    return job ? now - job->entered_ns : 0;
}

int64_t admission_wait(const struct admission *admission, enum job_kind kind, int64_t now) {
    const struct job_queue *queue = &admission->queue[kind];
    unsigned workers = capacity(admission, kind);
    if (queue->waiting == 0 && (queue->running == 0 || queue->running < workers)) {
        return 0;
    }
    int64_t work = queue->waiting_ns + queue->running_ns / ADMISSION_RUNNING_SHARE;
    return max_i64(work / workers, age_of(queue->oldest, now));
}

/* Whether the processor would finish the newest job of the device's queue before the device does. */
static bool is_sooner_without(const struct admission *admission, const struct job *newest) {
    const struct job_queue *queue = &admission->queue[JOB_DEVICE];
    int64_t work = queue->waiting_ns + queue->running_ns / ADMISSION_RUNNING_SHARE;
    return work / admission->limits.devices + newest->device_ns > newest->cost_ns;
}

/* Whether the general workers together do such jobs at least as fast as the device. */
static bool is_slower_than_workers(const struct admission *admission, const struct job *job) {
    const struct admission_limits *limits = &admission->limits;
    return job->device_ns / limits->devices >= job->cost_ns / limits->workers;
}

/* Whether the device is down or stalls. */
static bool is_out(const struct admission *admission, int64_t now) {
    bool busy = admission->queue[JOB_DEVICE].running >= admission->limits.devices;
    return admission->device_down || (busy && now - admission->device_ns >= ADMISSION_STALL_NS);
}

/* Whether general workers may take jobs from the device's queue. */
static bool shares_device(const struct admission *admission, int64_t now) {
    const struct job_queue *queue = &admission->queue[JOB_DEVICE];
    const struct job *newest = queue->newest;
    if (!admission->limits.shared || !newest) {
        return false;
    }
    bool busy = queue->running >= admission->limits.devices;
    bool helps = is_slower_than_workers(admission, newest) && is_sooner_without(admission, newest);
    return is_out(admission, now) || (busy && helps);
}

/* The same for the readers' queue. */
static bool shares_readers(const struct admission *admission) {
    return admission->device_down && admission->queue[JOB_READ].waiting > 0;
}

bool admission_overflows(const struct admission *admission, int64_t now) {
    return shares_readers(admission) || shares_device(admission, now);
}

/* Updates `standing`. Only small jobs count, since large ones wait by intention. */
static int64_t observe(struct admission *admission, int64_t now) {
    int64_t wait = admission_wait(admission, JOB_SMALL, now), target = admission_target(admission);
    if (wait >= target) {
        admission->above_ns = admission->above_ns ? admission->above_ns : now;
        admission->standing |= now - admission->above_ns >= interval(admission);
    } else {
        admission->above_ns = 0;
    }
    if (wait >= target / 2) {
        admission->busy_ns = now;
    } else if (now - admission->busy_ns >= ADMISSION_CALM_INTERVALS * interval(admission)) {
        admission->standing = false;
    }
    return wait;
}

static bool is_full(const struct admission *admission) {
    unsigned most = admission->limits.queue;
    return most > 0 && admission_waiting(admission) >= most;
}

enum refusal admission_gate(struct admission *admission, int64_t max_wait_ns, int64_t now) {
    int64_t wait = observe(admission, now);
    if (is_full(admission)) {
        return REFUSAL_QUEUE;
    }
    if (admission->standing && wait >= admission_target(admission)) {
        return REFUSAL_STANDING;
    }
    return wait > max_wait_ns ? REFUSAL_WAIT : REFUSAL_NONE;
}

bool admission_is_open(const struct admission *admission) {
    const struct job_queue *small = &admission->queue[JOB_SMALL];
    return !admission->standing && !is_full(admission) && small->waiting == 0 &&
           small->running < capacity(admission, JOB_SMALL);
}

int64_t admission_large_ns(const struct admission *admission) {
    int64_t many = admission->typical_ns * ADMISSION_LARGE_FACTOR + 1;
    return many > ADMISSION_LARGE_NS ? many : ADMISSION_LARGE_NS;
}

static bool is_large(const struct admission *admission, const struct job *job) {
    return job->cost_ns >= admission_large_ns(admission);
}

static void learn_typical(struct admission *admission, int64_t cost_ns) {
    int64_t step = admission->typical_ns / TYPICAL_STEP;
    admission->typical_ns +=
        (cost_ns > admission->typical_ns) * step - (cost_ns < admission->typical_ns) * step;
    admission->typical_ns = max_i64(admission->typical_ns, TYPICAL_MIN_NS);
}

static enum refusal judge(struct admission *admission, const struct job *job, int64_t now) {
    int64_t wait = observe(admission, now);
    if (is_full(admission)) {
        return REFUSAL_QUEUE;
    }
    if (job->device || job->reads) {
        return admission_wait(admission, job_kind(job), now) > job->max_wait_ns ? REFUSAL_WAIT : REFUSAL_NONE;
    }
    if (job->large) {
        return admission->standing                                            ? REFUSAL_LARGE
               : admission_wait(admission, JOB_LARGE, now) > job->max_wait_ns ? REFUSAL_WAIT
                                                                              : REFUSAL_NONE;
    }
    /* Twice the target, because the body has been read already. */
    if (admission->standing && wait >= 2 * admission_target(admission)) {
        return REFUSAL_STANDING;
    }
    return wait > job->max_wait_ns ? REFUSAL_WAIT : REFUSAL_NONE;
}

static void append(struct job_queue *queue, struct job *job) {
    job->newer = NULL;
    job->older = queue->newest;
    *(queue->newest ? &queue->newest->newer : &queue->oldest) = job;
    queue->newest = job;
    queue->waiting++;
    queue->waiting_ns += cost_of(job);
}

static struct job *unlink_job(struct job_queue *queue, struct job *job) {
    *(job->older ? &job->older->newer : &queue->oldest) = job->newer;
    *(job->newer ? &job->newer->older : &queue->newest) = job->older;
    job->older = job->newer = NULL;
    queue->waiting--;
    queue->waiting_ns -= cost_of(job);
    return job;
}

/* Removes a job that the caller is going to refuse. */
static struct job *withdraw(struct admission *admission, struct job_queue *queue, struct job *job) {
    admission->decoding -= job->decodes;
    return unlink_job(queue, job);
}

/* Whether more small jobs wait than idle general workers are about to take. */
static bool small_jobs_wait(const struct admission *admission) {
    const struct job_queue *small = &admission->queue[JOB_SMALL];
    return small->waiting > 0 && small->waiting + small->running >= capacity(admission, JOB_SMALL);
}

/* Whether a job goes to the readers: cores have enough such files, or other work, or leave all to the
 * device. */
static bool is_for_readers(const struct admission *admission, const struct job *job) {
    const struct admission_limits *limits = &admission->limits;
    unsigned enough = limits->workers >= 2 ? limits->workers / 2 : 1;
    bool busy = admission->decoding >= enough || small_jobs_wait(admission);
    return job->readable && limits->readers > 0 && !admission->device_down && (busy || !limits->shared);
}

/* Whether a job that a core may do sooner goes to the device nevertheless, since cores are busy. */
static bool spares_cores(const struct admission *admission, const struct job *job, int64_t now) {
    const struct job_queue *small = &admission->queue[JOB_SMALL];
    if (!job->suits || admission->limits.devices == 0 || admission->device_down ||
        small->waiting + small->running == 0 || job->cost_ns <= TUNED_GPU_HANDING_NS ||
        is_slower_than_workers(admission, job)) {
        return false;
    }
    int64_t later = admission_wait(admission, JOB_DEVICE, now) - admission_wait(admission, JOB_SMALL, now);
    return later <= ADMISSION_SPARING_NS;
}

enum refusal admission_enter(struct admission *admission, struct job *job, int64_t now) {
    job->device = job->device || spares_cores(admission, job, now);
    job->reads = is_for_readers(admission, job);
    job->decodes = job->readable && !job->reads;
    job->large = !job->device && !job->reads && is_large(admission, job);
    job->apart = false;
    enum refusal refusal = judge(admission, job, now);
    if (refusal == REFUSAL_NONE) {
        job->entered_ns = now;
        admission->decoding += job->decodes;
        append(queue_of(admission, job), job);
    }
    return refusal;
}

/* Takes the oldest job if it has waited for too long. */
static struct job *take_late(struct admission *admission, struct job_queue *queue, int64_t now,
                             enum refusal *refusal) {
    struct job *job = queue->oldest;
    int64_t age = age_of(job, now);
    *refusal = !job                      ? REFUSAL_NONE
               : age >= job->max_wait_ns ? REFUSAL_DEADLINE
               : admission->standing && !job->large && age >= 2 * admission_target(admission) ? REFUSAL_AGE
                                                                                              : REFUSAL_NONE;
    return *refusal == REFUSAL_NONE ? NULL : withdraw(admission, queue, job);
}

/* Whether all jobs that came before have begun. */
static bool is_first(const struct admission *admission, const struct job *job) {
    bool first = true;
    for (unsigned i = 0; i < JOB_KINDS; i++) {
        const struct job *oldest = admission->queue[i].oldest;
        first = first && (!oldest || oldest->entered_ns >= job->entered_ns);
    }
    return first;
}

/* Whether there is memory for a job on a worker of that role; readers have a queue of their own. Jobs that
 * waited for the end of a lone job begin before the next one. */
static bool fits(const struct admission *admission, const struct job *job, enum role role) {
    const struct room *room = &admission->room;
    uint64_t bytes = role == ROLE_READ ? job->read_bytes : job->bytes;
    return room_fits(room, bytes, job->body) &&
           (!room_is_lone(room->budget, bytes) || is_first(admission, job));
}

/* Returns the first job from either end for which there is memory. */
static struct job *choose(const struct admission *admission, const struct job_queue *queue, enum role role,
                          bool newest) {
    struct job *job = newest ? queue->newest : queue->oldest;
    while (job && !fits(admission, job, role)) {
        job = newest ? job->older : job->newer;
    }
    return job;
}

/* A job of the device's or the readers' queue that another worker begins is an ordinary job from then on. */
static struct job *begin(struct admission *admission, struct job *job, enum role role, int64_t now) {
    unlink_job(queue_of(admission, job), job);
    bool moves = job->reads && role != ROLE_READ;
    job->device = role == ROLE_DEVICE; /* whose workers take from its queue alone */
    job->reads = job->reads && !moves;
    job->decodes = job->decodes || moves;
    admission->decoding += moves;
    admission->device_ns = job->device ? now : admission->device_ns;
    struct job_queue *queue = queue_of(admission, job);
    queue->running++;
    queue->running_ns += cost_of(job);
    room_take(&admission->room, bytes_of(job), job->body);
    return job;
}

static struct job *take_any_late(struct admission *admission, int64_t now, enum refusal *refusal) {
    struct job *job = NULL;
    for (unsigned i = 0; i < JOB_KINDS && !job; i++) {
        job = take_late(admission, &admission->queue[i], now, refusal);
    }
    return job;
}

/* Prepares a job of the device or the readers for a general worker. Returns NULL for a large one while half
 * of these workers have large ones. */
static struct job *make_ordinary(struct admission *admission, struct job *job) {
    if (job && is_large(admission, job)) {
        if (admission->apart >= admission->limits.workers / 2) {
            return NULL;
        }
        job->large = job->apart = true;
        admission->apart++;
    }
    return job;
}

/* Chooses the readers' oldest job, or else a job of the device: the newest, and while the device is out the
 * oldest. */
static struct job *take_overflow(struct admission *admission, int64_t now) {
    struct job *job = NULL;
    if (shares_readers(admission)) {
        job = make_ordinary(admission, choose(admission, &admission->queue[JOB_READ], ROLE_ANY, false));
    }
    if (!job && shares_device(admission, now)) {
        bool newest = !is_out(admission, now);
        job = make_ordinary(admission, choose(admission, &admission->queue[JOB_DEVICE], ROLE_ANY, newest));
    }
    return job;
}

struct job *admission_take(struct admission *admission, enum role role, int64_t now, enum refusal *refusal) {
    int64_t wait = observe(admission, now);
    struct job *job = take_any_late(admission, now, refusal);
    if (job) {
        return job;
    }
    if (role == ROLE_DEVICE || role == ROLE_READ) {
        job = choose(admission, &admission->queue[role == ROLE_READ ? JOB_READ : JOB_DEVICE], role, false);
    } else if (role == ROLE_LARGE) {
        job = choose(admission, &admission->queue[JOB_LARGE], role, false);
    } else {
        bool newest = admission->standing && wait > 2 * admission_target(admission);
        job = choose(admission, &admission->queue[JOB_SMALL], role, newest);
        job = job ? job : take_overflow(admission, now);
    }
    return job ? begin(admission, job, role, now) : NULL;
}

void admission_done(struct admission *admission, struct job *job, int64_t now) {
    struct job_queue *queue = queue_of(admission, job);
    queue->running--;
    queue->running_ns -= cost_of(job);
    room_give(&admission->room, bytes_of(job));
    admission->apart -= job->apart;
    admission->decoding -= job->decodes;
    admission->device_ns = job->device ? now : admission->device_ns;
    if (job->served) {
        learn_typical(admission, job->cost_ns);
    }
    observe(admission, now);
}

struct job *admission_clear(struct admission *admission) {
    for (unsigned i = 0; i < JOB_KINDS; i++) {
        if (admission->queue[i].oldest) {
            return withdraw(admission, &admission->queue[i], admission->queue[i].oldest);
        }
    }
    return NULL;
}
