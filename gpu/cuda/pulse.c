/* SPDX-License-Identifier: MIT */
#include "gpu/cuda/pulse.h"

#include <stdatomic.h>

static double larger_of(double a, double b) {
    return a > b ? a : b;
}

static double bytes_of(const struct pulse_work *work) {
    return larger_of(work->bytes, PULSE_BYTES);
}

/* Adds the time since the last look to the watch's age, and returns it. */
static int64_t advance(struct pulse_watch *watch, int64_t now) {
    int64_t step = now - watch->looked;
    step = step < PULSE_STEP_NS ? step : PULSE_STEP_NS;
    watch->looked = now;
    watch->age += step;
    return step;
}

static bool has_kind(const struct pulse_work *work, unsigned kind) {
    return work->kinds >> kind & 1;
}

/* The runs that share the device with this one. */
static double runs_of(struct pulse *pulse, const struct pulse_work *work) {
    return work->alone ? 1 : larger_of(1, atomic_load(&pulse->runs));
}

static unsigned crowd_of(double runs) {
    unsigned crowd = 0;
    while (crowd + 1 < PULSE_CROWDS && runs >= (double)(2u << crowd)) {
        crowd++;
    }
    return crowd;
}

/* Nanoseconds for each byte that the kind takes in such a crowd, at most; negative: too little is known of
 * it. A crowd takes no less than a smaller one. One without a history takes no more than a larger one, and
 * than a smaller one for each of its runs. */
static double slowest_of(struct pulse *pulse, unsigned kind, double runs) {
    const unsigned own = crowd_of(runs);
    double least = -1, most = -1;
    for (unsigned i = 0; i < PULSE_CROWDS; i++) {
        struct pulse_history *history = &pulse->history[kind][i];
        double each = atomic_load(&history->slowest), crowd = (double)(1u << i);
        if (atomic_load(&history->done) < PULSE_RUNS) {
            continue;
        }
        double slowest = each * larger_of(runs, crowd);
        if (i == own) {
            return larger_of(least, slowest);
        }
        least = i < own ? larger_of(least, each * crowd) : least;
        most = most < 0 || slowest < most ? slowest : most;
    }
    return larger_of(least, most);
}

static bool is_known(struct pulse *pulse, const struct pulse_work *work) {
    for (unsigned i = 0; i < PULSE_KINDS; i++) {
        if (has_kind(work, i) && slowest_of(pulse, i, 1) < 0) {
            return false;
        }
    }
    return work->kinds != 0;
}

/* The longest that the work may take, in nanoseconds. */
static double limit_of(struct pulse *pulse, const struct pulse_work *work) {
    double slowest = 0, runs = runs_of(pulse, work);
    for (unsigned i = 0; i < PULSE_KINDS; i++) {
        slowest = has_kind(work, i) ? larger_of(slowest, slowest_of(pulse, i, runs)) : slowest;
    }
    return PULSE_QUIET_NS + (double)PULSE_TIMES * work->steps * slowest * bytes_of(work);
}

/* Others wait behind a run that takes long, as its blocks of threads come first. */
static void be_patient(struct pulse *pulse, struct pulse_watch *watch, int64_t now) {
    double limit = is_known(pulse, &watch->work) ? limit_of(pulse, &watch->work) : PULSE_ASK_BEYOND_NS;
    int64_t before = atomic_load(&pulse->patience), after = now + (int64_t)limit;
    watch->takes_long = limit > PULSE_LONG_NS;
    atomic_fetch_add(&pulse->long_runs, watch->takes_long);
    while (watch->takes_long && before < after &&
           !atomic_compare_exchange_weak(&pulse->patience, &before, after)) {
    }
}

/* Whether the run may be waiting for another one. */
static bool may_wait(struct pulse *pulse, const struct pulse_watch *watch, int64_t now) {
    return atomic_load(&pulse->long_runs) > watch->takes_long && now <= atomic_load(&pulse->patience);
}

/* Leaves the list, if it is in it. */
static void leave_calls(struct pulse *pulse, struct pulse_watch *watch) {
    pthread_mutex_lock(&pulse->lock);
    if (watch->link) {
        *watch->link = watch->next;
        if (watch->next) {
            watch->next->link = watch->link;
        }
        watch->link = NULL;
    }
    pthread_mutex_unlock(&pulse->lock);
}

void pulse_begin(struct pulse *pulse, struct pulse_watch *watch, const struct pulse_work *work, int64_t now) {
    atomic_fetch_add(&pulse->runs, !work->alone);
    *watch = (struct pulse_watch){.work = *work, .beats = atomic_load(&pulse->beats), .looked = now};
    watch->runs = runs_of(pulse, work);
    be_patient(pulse, watch, now);
    pthread_mutex_lock(&pulse->lock);
    watch->link = &pulse->calling;
    watch->next = pulse->calling;
    if (watch->next) {
        watch->next->link = &watch->next;
    }
    pulse->calling = watch;
    pthread_mutex_unlock(&pulse->lock);
}

void pulse_handed(struct pulse *pulse, struct pulse_watch *watch, int64_t now) {
    leave_calls(pulse, watch);
    advance(watch, now);
    watch->handed = watch->seen = watch->age;
}

/* `more` is added to both limits. */
static enum pulse_verdict judge(struct pulse *pulse, struct pulse_watch *watch, int64_t now, int64_t more) {
    unsigned beats = atomic_load(&pulse->beats);
    watch->quiet += advance(watch, now);
    if (beats != watch->beats) {
        watch->beats = beats;
        watch->quiet = watch->judged = 0;
    }
    if (watch->quiet - watch->judged < PULSE_JUDGE_NS) {
        return PULSE_WAIT;
    }
    watch->judged = watch->quiet;
    if (!is_known(pulse, &watch->work)) {
        return PULSE_ASK;
    }
    double limit = limit_of(pulse, &watch->work) + (double)more;
    if (watch->quiet > PULSE_QUIET_NS + more && (double)watch->age > limit && !may_wait(pulse, watch, now)) {
        return PULSE_LOST;
    }
    return limit > PULSE_ASK_BEYOND_NS ? PULSE_ASK : PULSE_WAIT;
}

enum pulse_verdict pulse_look(struct pulse *pulse, struct pulse_watch *watch, int64_t now) {
    enum pulse_verdict verdict = judge(pulse, watch, now, 0);
    watch->seen = watch->age;
    return verdict;
}

int64_t pulse_stuck_ns(struct pulse *pulse, int64_t now) {
    int64_t quiet = 0;
    pthread_mutex_lock(&pulse->lock);
    for (struct pulse_watch *watch = pulse->calling; watch && atomic_load(&pulse->slow) == 0;
         watch = watch->next) {
        quiet = judge(pulse, watch, now, PULSE_CALL_NS) == PULSE_LOST ? watch->quiet : quiet;
    }
    pthread_mutex_unlock(&pulse->lock);
    return quiet;
}

void pulse_slow_begin(struct pulse *pulse) {
    atomic_fetch_add(&pulse->slow, 1);
}

void pulse_slow_end(struct pulse *pulse) {
    atomic_fetch_sub(&pulse->slow, 1);
}

static void remember(struct pulse_history *history, double took) {
    double before = atomic_load(&history->slowest), after;
    do {
        after = larger_of(before - before / PULSE_MEMORY, took);
    } while (!atomic_compare_exchange_weak(&history->slowest, &before, after));
    if (atomic_load(&history->done) < PULSE_RUNS) {
        atomic_fetch_add(&history->done, 1);
    }
}

void pulse_note(struct pulse *pulse, const struct pulse_watch *watch) {
    double took = (double)(watch->seen - watch->handed);
    double runs = larger_of(watch->runs, runs_of(pulse, &watch->work));
    for (unsigned i = 0; i < PULSE_KINDS; i++) {
        if (has_kind(&watch->work, i)) {
            remember(&pulse->history[i][crowd_of(runs)], took / bytes_of(&watch->work) / runs);
        }
    }
    atomic_fetch_add(&pulse->beats, 1);
}

void pulse_end(struct pulse *pulse, struct pulse_watch *watch) {
    leave_calls(pulse, watch);
    atomic_fetch_sub(&pulse->long_runs, watch->takes_long);
    atomic_fetch_sub(&pulse->runs, !watch->work.alone);
}
