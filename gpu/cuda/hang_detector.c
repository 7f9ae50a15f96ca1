/* SPDX-License-Identifier: MIT */
#include "gpu/cuda/hang_detector.h"

#include <stdatomic.h>

static double larger_of(double a, double b) {
    return a > b ? a : b;
}

static double bytes_of(const struct hang_detector_work *work) {
    return larger_of(work->bytes, HANG_BYTES);
}

/* Adds the time since the last check to the watch's age, and returns it. */
static int64_t advance(struct hang_detector_watch *watch, int64_t now) {
    int64_t step = now - watch->looked;
    step = step < HANG_STEP_NS ? step : HANG_STEP_NS;
    watch->looked = now;
    watch->age += step;
    return step;
}

static bool has_kind(const struct hang_detector_work *work, unsigned kind) {
    return work->kinds >> kind & 1;
}

/* Counts the runs that share the device with this one now, if they have never been so many. */
static void raise_concurrency(struct hang_detector *detector, struct hang_detector_watch *watch) {
    double runs = watch->work.alone ? 1 : larger_of(1, atomic_load(&detector->runs));
    watch->runs = larger_of(watch->runs, runs);
}

static double size_begin(unsigned i) {
    return (double)((uint64_t)HANG_BYTES << 2 * i);
}

static unsigned size_class(double bytes) {
    unsigned i = 0;
    while (i + 1 < HANG_SIZES && bytes >= size_begin(i + 1)) {
        i++;
    }
    return i;
}

/* The longest that a run of the kind takes, in nanoseconds; negative: no class is known. Of two classes that
 * are as near, the smaller one tells. */
static double slowest_of(struct hang_detector *detector, unsigned kind, double bytes, double runs) {
    const unsigned own = size_class(bytes);
    for (unsigned i = 0; i < 2 * HANG_SIZES; i++) {
        unsigned size = i % 2 ? own - (i + 1) / 2 : own + i / 2; /* wraps below 0 */
        struct hang_detector_history *history = &detector->history[kind][size < HANG_SIZES ? size : own];
        if (size < HANG_SIZES && atomic_load(&history->done) >= HANG_RUNS) {
            double each = larger_of(atomic_load(&history->slowest), atomic_load(&history->shared) * runs);
            return each * larger_of(bytes, size_begin(size));
        }
    }
    return -1;
}

/* The longest that the work may take, in nanoseconds; negative: too little is known of it. */
static double limit_of(struct hang_detector *detector, const struct hang_detector_watch *watch) {
    const struct hang_detector_work *work = &watch->work;
    double slowest = work->kinds ? 0 : -1;
    for (unsigned i = 0; i < HANG_KINDS && slowest >= 0; i++) {
        if (has_kind(work, i)) {
            double kind = slowest_of(detector, i, bytes_of(work), watch->runs);
            slowest = kind < 0 ? kind : larger_of(slowest, kind);
        }
    }
    return slowest < 0 ? -1 : HANG_QUIET_NS + (double)HANG_TIMES * work->steps * slowest;
}

/* Others wait behind a run that takes long, as its blocks of threads come first. */
static void extend_timeout(struct hang_detector *detector, struct hang_detector_watch *watch, int64_t now) {
    double known = limit_of(detector, watch), limit = known < 0 ? HANG_ASK_BEYOND_NS : known;
    int64_t before = atomic_load(&detector->timeout), after = now + (int64_t)limit;
    watch->takes_long = limit > HANG_LONG_NS;
    atomic_fetch_add(&detector->long_runs, watch->takes_long);
    while (watch->takes_long && before < after &&
           !atomic_compare_exchange_weak(&detector->timeout, &before, after)) {
    }
}

/* Whether the run may be waiting for another one. */
static bool may_wait(struct hang_detector *detector, const struct hang_detector_watch *watch, int64_t now) {
    return atomic_load(&detector->long_runs) > watch->takes_long && now <= atomic_load(&detector->timeout);
}

/* Leaves the list, if it is in it. */
static void leave_calls(struct hang_detector *detector, struct hang_detector_watch *watch) {
    pthread_mutex_lock(&detector->lock);
    if (watch->link) {
        *watch->link = watch->next;
        if (watch->next) {
            watch->next->link = watch->link;
        }
        watch->link = NULL;
    }
    pthread_mutex_unlock(&detector->lock);
}

void hang_detector_begin(struct hang_detector *detector, struct hang_detector_watch *watch,
                         const struct hang_detector_work *work, int64_t now) {
    atomic_fetch_add(&detector->runs, !work->alone);
    *watch = (struct hang_detector_watch){
        .work = *work, .completions = atomic_load(&detector->completions), .looked = now};
    raise_concurrency(detector, watch);
    extend_timeout(detector, watch, now);
    pthread_mutex_lock(&detector->lock);
    watch->link = &detector->calling;
    watch->next = detector->calling;
    if (watch->next) {
        watch->next->link = &watch->next;
    }
    detector->calling = watch;
    pthread_mutex_unlock(&detector->lock);
}

void hang_detector_handed(struct hang_detector *detector, struct hang_detector_watch *watch, int64_t now) {
    leave_calls(detector, watch);
    advance(watch, now);
    watch->handed = watch->seen = watch->age;
    watch->quiet = watch->judged = 0;
}

/* `more` is added to the limit and to HANG_QUIET_NS. */
static enum hang_detector_verdict judge(struct hang_detector *detector, struct hang_detector_watch *watch,
                                        int64_t now, int64_t more) {
    unsigned completions = atomic_load(&detector->completions);
    watch->quiet += advance(watch, now);
    if (completions != watch->completions) {
        watch->completions = completions;
        watch->quiet = watch->judged = 0;
    }
    if (watch->quiet - watch->judged < HANG_JUDGE_NS) {
        return HANG_WAIT;
    }
    watch->judged = watch->quiet;
    raise_concurrency(detector, watch);
    double limit = limit_of(detector, watch) + (double)more;
    if (limit < (double)more) {
        return HANG_ASK;
    }
    if (watch->quiet > HANG_QUIET_NS + more && (double)(watch->age - watch->handed) > limit &&
        !may_wait(detector, watch, now)) {
        return HANG_LOST;
    }
    return limit > HANG_ASK_BEYOND_NS ? HANG_ASK : HANG_WAIT;
}

enum hang_detector_verdict hang_detector_check(struct hang_detector *detector,
                                               struct hang_detector_watch *watch, int64_t now) {
    enum hang_detector_verdict verdict = judge(detector, watch, now, 0);
    watch->seen = watch->age;
    return verdict;
}

int64_t hang_detector_stuck_ns(struct hang_detector *detector, int64_t now) {
    int64_t quiet = 0;
    int64_t more = HANG_CALL_NS + (int64_t)(HANG_TIMES * atomic_load(&detector->slowest_calls));
    pthread_mutex_lock(&detector->lock);
    for (struct hang_detector_watch *watch = detector->calling; watch && atomic_load(&detector->slow) == 0;
         watch = watch->next) {
        quiet = judge(detector, watch, now, more) == HANG_LOST ? watch->quiet : quiet;
    }
    pthread_mutex_unlock(&detector->lock);
    return quiet;
}

void hang_detector_slow_begin(struct hang_detector *detector) {
    atomic_fetch_add(&detector->slow, 1);
}

void hang_detector_slow_end(struct hang_detector *detector) {
    atomic_fetch_sub(&detector->slow, 1);
}

/* Forgets a part of the slowest. */
static void keep_slowest(_Atomic double *slowest, double took) {
    double before = atomic_load(slowest);
    while (!atomic_compare_exchange_weak(slowest, &before, larger_of(before - before / HANG_MEMORY, took))) {
    }
}

void hang_detector_complete(struct hang_detector *detector, struct hang_detector_watch *watch) {
    const double took = larger_of((double)(watch->seen - watch->handed), HANG_LEAST_NS);
    const double bytes = bytes_of(&watch->work);
    raise_concurrency(detector, watch);
    atomic_fetch_add(&detector->completions, 1);
    keep_slowest(&detector->slowest_calls, (double)watch->handed);
    for (unsigned i = 0; i < HANG_KINDS; i++) {
        struct hang_detector_history *history = &detector->history[i][size_class(bytes)];
        if (has_kind(&watch->work, i)) {
            keep_slowest(&history->slowest, took / bytes);
            keep_slowest(&history->shared, took / bytes / watch->runs);
            atomic_fetch_add(&history->done, atomic_load(&history->done) < HANG_RUNS);
        }
    }
}

void hang_detector_end(struct hang_detector *detector, struct hang_detector_watch *watch) {
    leave_calls(detector, watch);
    atomic_fetch_sub(&detector->long_runs, watch->takes_long);
    atomic_fetch_sub(&detector->runs, !watch->work.alone);
}
