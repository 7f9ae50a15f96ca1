/* SPDX-License-Identifier: MIT */
#include "server/queue/admission.h"

#include <stddef.h>

#include "core/numbers.h"
#include "core/tuned.h"

/* Each job moves typical_ns up or down by a thirty-second, which makes it a running median. */
enum { TYPICAL_STEP = 32 };
#define TYPICAL_MIN_NS INT64_C(100000)

/* The queue of a way, of jobs that are not large. */
static const enum job_kind queues[WAY_COUNT] = {
#define WAY(id, queue, name, help) [WAY_##id] = JOB_##queue,
#include "server/ways.def"
#undef WAY
};

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
    return kind == JOB_LARGE            ? limits->large_only
           : kind == JOB_DEVICE         ? limits->devices
           : kind == JOB_ENTROPY_DECODE ? limits->entropy_decodes
                                        : limits->workers - admission->large_on_general;
}

static struct job_queue *queue_of(struct admission *admission, const struct job *job) {
    return &admission->queue[job->kind];
}

/* Predicted time and memory on the way that the job takes. */
static const struct job_way *cost_of(const struct job *job) {
    return &job->ways[job->way];
}

static int64_t device_ns(const struct job *job) {
    return job->ways[WAY_GPU_FILE].ns;
}

static int64_t general_ns(const struct job *job) {
    return job->ways[job->general].ns;
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
    return work / admission->limits.devices + device_ns(newest) > general_ns(newest);
}

/* Whether the general workers together do such jobs at least as fast as the device. */
static bool is_slower_than_workers(const struct admission *admission, const struct job *job) {
    const struct admission_limits *limits = &admission->limits;
    return device_ns(job) / limits->devices >= general_ns(job) / limits->workers;
}

/* Whether the device is down or stalls. */
static bool is_device_out(const struct admission *admission, int64_t now) {
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
    return is_device_out(admission, now) || (busy && helps);
}

/* The same for the queue of entropy decoding. */
static bool shares_entropy_decodes(const struct admission *admission) {
    return admission->device_down && admission->queue[JOB_ENTROPY_DECODE].waiting > 0;
}

bool admission_overflows(const struct admission *admission, int64_t now) {
    return shares_entropy_decodes(admission) || shares_device(admission, now);
}

/* Updates `standing`. Only small jobs count, since large ones wait by intention. */
static int64_t update_standing(struct admission *admission, int64_t now) {
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
    int64_t wait = update_standing(admission, now);
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
    return general_ns(job) >= admission_large_ns(admission);
}

static void learn_typical(struct admission *admission, int64_t cost_ns) {
    int64_t step = admission->typical_ns / TYPICAL_STEP;
    admission->typical_ns +=
        (cost_ns > admission->typical_ns) * step - (cost_ns < admission->typical_ns) * step;
    admission->typical_ns = max_i64(admission->typical_ns, TYPICAL_MIN_NS);
}

static enum refusal judge(struct admission *admission, const struct job *job, int64_t now) {
    int64_t wait = update_standing(admission, now);
    if (is_full(admission)) {
        return REFUSAL_QUEUE;
    }
    if (job->kind == JOB_LARGE && admission->standing) {
        return REFUSAL_LARGE;
    }
    /* Twice the target, because the body has been read already. */
    if (job->kind == JOB_SMALL && admission->standing && wait >= 2 * admission_target(admission)) {
        return REFUSAL_STANDING;
    }
    return admission_wait(admission, job->kind, now) > job->max_wait_ns ? REFUSAL_WAIT : REFUSAL_NONE;
}

static void append(struct job_queue *queue, struct job *job) {
    job->newer = NULL;
    job->older = queue->newest;
    *(queue->newest ? &queue->newest->newer : &queue->oldest) = job;
    queue->newest = job;
    queue->waiting++;
    queue->waiting_ns += cost_of(job)->ns;
}

/* Whether a core reads the file. */
static bool is_decoding(const struct job *job) {
    return job->way == WAY_GPU_COEFFICIENTS;
}

static struct job *withdraw(struct admission *admission, struct job *job) {
    struct job_queue *queue = queue_of(admission, job);
    *(job->older ? &job->older->newer : &queue->oldest) = job->newer;
    *(job->newer ? &job->newer->older : &queue->newest) = job->older;
    job->older = job->newer = NULL;
    queue->waiting--;
    queue->waiting_ns -= cost_of(job)->ns;
    admission->decoding -= is_decoding(job);
    return job;
}

/* Whether more small jobs wait than idle general workers are about to take. */
static bool small_jobs_wait(const struct admission *admission) {
    const struct job_queue *small = &admission->queue[JOB_SMALL];
    return small->waiting > 0 && small->waiting + small->running >= capacity(admission, JOB_SMALL);
}

/* Whether the device decodes the scans of the job's file: cores have enough such files, or other work, or
 * leave all to the device. */
static bool is_for_entropy_decode(const struct admission *admission, const struct job *job) {
    const struct admission_limits *limits = &admission->limits;
    unsigned enough = limits->workers >= 2 ? limits->workers / 2 : 1;
    bool busy = admission->decoding >= enough || small_jobs_wait(admission);
    return job->ways[WAY_GPU_SCANS].ns > 0 && limits->entropy_decodes > 0 && !admission->device_down &&
           (busy || !limits->shared);
}

/* Whether a job that a core may do sooner goes to the device nevertheless, since cores are busy. */
static bool spares_cores(const struct admission *admission, const struct job *job, int64_t now) {
    const struct job_queue *small = &admission->queue[JOB_SMALL];
    if (device_ns(job) == 0 || admission->limits.devices == 0 || admission->device_down ||
        small->waiting + small->running == 0 || general_ns(job) <= TUNED_GPU_HANDING_NS ||
        is_slower_than_workers(admission, job)) {
        return false;
    }
    int64_t later = admission_wait(admission, JOB_DEVICE, now) - admission_wait(admission, JOB_SMALL, now);
    return later <= ADMISSION_SPARING_NS;
}

/* Gives the job a way, and the kind that follows from it. */
static void set_way(const struct admission *admission, struct job *job, enum way way) {
    job->way = way;
    job->kind = queues[way] == JOB_SMALL && is_large(admission, job) ? JOB_LARGE : queues[way];
}

enum refusal admission_enter(struct admission *admission, struct job *job, int64_t now) {
    bool device = job->way == WAY_GPU_FILE || spares_cores(admission, job, now);
    set_way(admission, job,
            device                                  ? WAY_GPU_FILE
            : is_for_entropy_decode(admission, job) ? WAY_GPU_SCANS
                                                    : job->general);
    enum refusal refusal = judge(admission, job, now);
    if (refusal == REFUSAL_NONE) {
        job->entered_ns = now;
        admission->decoding += is_decoding(job);
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
               : admission->standing && job->kind != JOB_LARGE && age >= 2 * admission_target(admission)
                   ? REFUSAL_AGE
                   : REFUSAL_NONE;
    return *refusal == REFUSAL_NONE ? NULL : withdraw(admission, job);
}

/* Whether all jobs that came before have begun. */
static bool is_first(const struct admission *admission, const struct job *job) {
    bool first = true;
    for (unsigned i = 0; i < JOB_KINDS; i++) {
        first = first && age_of(admission->queue[i].oldest, job->entered_ns) <= 0;
    }
    return first;
}

/* The way that a worker of that role takes: a job of the device's two queues that another worker
 * begins is a general worker's from then on. */
static enum way way_with(const struct job *job, enum role role) {
    return (unsigned)role == (unsigned)job->kind ? job->way : job->general;
}

/* Whether there is memory for a job on a worker of that role. Jobs that waited for the end of a lone job
 * begin before the next one. */
static bool fits(const struct admission *admission, const struct job *job, enum role role) {
    const struct room *room = &admission->room;
    uint64_t bytes = job->ways[way_with(job, role)].bytes;
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

static bool is_large_on_general(const struct job *job) {
    return job->kind == JOB_LARGE && job->role == ROLE_ANY;
}

static struct job *begin(struct admission *admission, struct job *job, enum role role, int64_t now) {
    withdraw(admission, job);
    if (way_with(job, role) != job->way) {
        set_way(admission, job, job->general);
    }
    job->role = role;
    admission->decoding += is_decoding(job);
    admission->large_on_general += is_large_on_general(job);
    admission->device_ns = job->kind == JOB_DEVICE ? now : admission->device_ns;
    struct job_queue *queue = queue_of(admission, job);
    queue->running++;
    queue->running_ns += cost_of(job)->ns;
    room_take(&admission->room, cost_of(job)->bytes, job->body);
    return job;
}

static struct job *take_any_late(struct admission *admission, int64_t now, enum refusal *refusal) {
    struct job *job = NULL;
    for (unsigned i = 0; i < JOB_KINDS && !job; i++) {
        job = take_late(admission, &admission->queue[i], now, refusal);
    }
    return job;
}

/* Leaves a large job of the device's two queues while half of the general workers have such jobs. */
static struct job *unless_crowded(const struct admission *admission, struct job *job) {
    bool crowded = admission->large_on_general >= admission->limits.workers / 2;
    return job && crowded && is_large(admission, job) ? NULL : job;
}

/* Chooses the oldest job that waits for entropy decoding, or else a job of the device: the newest, and while
 * the device is out the oldest. */
static struct job *take_overflow(struct admission *admission, int64_t now) {
    struct job *job = NULL;
    if (shares_entropy_decodes(admission)) {
        job = unless_crowded(admission,
                             choose(admission, &admission->queue[JOB_ENTROPY_DECODE], ROLE_ANY, false));
    }
    if (!job && shares_device(admission, now)) {
        bool newest = !is_device_out(admission, now);
        job = unless_crowded(admission, choose(admission, &admission->queue[JOB_DEVICE], ROLE_ANY, newest));
    }
    return job;
}

struct job *admission_take(struct admission *admission, enum role role, int64_t now, enum refusal *refusal) {
    int64_t wait = update_standing(admission, now);
    struct job *job = take_any_late(admission, now, refusal);
    if (job) {
        return job;
    }
    if (role != ROLE_ANY) {
        job = choose(admission, &admission->queue[role], role, false);
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
    queue->running_ns -= cost_of(job)->ns;
    room_give(&admission->room, cost_of(job)->bytes);
    admission->large_on_general -= is_large_on_general(job);
    admission->decoding -= is_decoding(job);
    admission->device_ns = job->kind == JOB_DEVICE ? now : admission->device_ns;
    if (job->served) {
        learn_typical(admission, general_ns(job));
    }
    update_standing(admission, now);
}

struct job *admission_clear(struct admission *admission) {
    struct job *job = NULL;
    for (unsigned i = 0; i < JOB_KINDS && !job; i++) {
        job = admission->queue[i].oldest;
    }
    return job ? withdraw(admission, job) : NULL;
}
