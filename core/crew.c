/* SPDX-License-Identifier: MIT */
#include "core/crew.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/clock.h"

/* Offered work. It lies on the stack of its caller, which returns after all other threads have left their
 * seats. */
struct crew_run {
    const struct crew_work *work;
    struct crew_run *after;          /* members look at it later */
    unsigned parts;                  /* as in the work, or once the feed has ended as many as it has opened */
    unsigned next;                   /* part that begins next */
    unsigned open;                   /* parts below this number may begin */
    unsigned helped;                 /* parts that others have taken */
    uint64_t taken;                  /* bit i: seat i is taken; the caller has seat 0 */
    int64_t begun_ns;                /* processor time of the caller when it began */
    int64_t seat_ns[CREW_SEATS_MAX]; /* processor time of the helpers on each seat, one after the other */
    pthread_cond_t done;
    struct error error; /* error of the first part that failed; its status is ST_OK while none has */
};

/* Opens parts for crew_work.feed. Without a run there are no helpers: opened parts run at once, on the
 * calling thread. */
struct crew_gate {
    struct crew *crew;
    struct crew_run *run;
    const struct crew_work *work;
    unsigned open;      /* copy for the calling thread, which needs no lock to see that nothing changes */
    struct error error; /* error of the first part that failed without a run */
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t woken;
    struct crew_run *first; /* runs with parts that have not begun, in the order in which members help */
    atomic_uint idle;       /* changed under the lock */
    uint32_t grain;
    bool wary;
    unsigned pause;   /* runs alone after the last run that was late; under the lock */
    atomic_uint rest; /* part of these runs that still remains */
};

static _Thread_local int64_t helped_ns; /* see crew_helped_ns */

/* Owners keep the lock for less than a microsecond, and sleeping takes many, so a thread spins a little
 * before it sleeps. */
static void init_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ADAPTIVE_NP);
    pthread_mutex_init(lock, &attributes);
    pthread_mutexattr_destroy(&attributes);
}

struct crew *crew_create(uint32_t grain, bool wary) {
    struct crew *crew = calloc(1, sizeof *crew);
    if (crew) {
        init_lock(&crew->lock);
        clock_init_condition(&crew->woken);
        crew->grain = grain;
        crew->wary = wary;
    }
    return crew;
}

void crew_destroy(struct crew *crew) {
    if (!crew) {
        return;
    }
    pthread_cond_destroy(&crew->woken);
    pthread_mutex_destroy(&crew->lock);
    free(crew);
}

unsigned crew_idle(struct crew *crew) {
    return crew ? atomic_load_explicit(&crew->idle, memory_order_relaxed) : 0;
}

static unsigned at_most(uint64_t value, unsigned limit) {
    return value < limit ? (unsigned)value : limit;
}

/* Whether this run is one of those after one that was late. */
static bool rests(struct crew *crew) {
    unsigned rest = atomic_load_explicit(&crew->rest, memory_order_relaxed);
    while (rest > 0) {
        if (atomic_compare_exchange_weak_explicit(&crew->rest, &rest, rest - 1, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            return true;
        }
    }
    return false;
}

unsigned crew_seats(struct crew *crew, uint64_t work) {
    unsigned threads = at_most((uint64_t)crew_idle(crew) + 1, CREW_SEATS_MAX);
    if (threads == 1 || work / 2 < crew->grain || rests(crew)) {
        return 1;
    }
    return at_most(work / crew->grain, threads);
}

unsigned crew_parts(struct crew *crew, uint64_t work, unsigned seats) {
    if (seats == 1 || work < crew->grain) {
        return 1;
    }
    uint64_t grains = work / crew->grain;
    unsigned fair = at_most(grains, seats * CREW_SEAT_PARTS);
    unsigned brief = at_most(grains / CREW_GRAINS_MAX, CREW_PARTS_MAX);
    return fair > brief ? fair : brief;
}

/* ---- runs ---- */

static void offer(struct crew *crew, struct crew_run *run) {
    struct crew_run **end = &crew->first;
    while (*end && !run->work->ahead) {
        end = &(*end)->after;
    }
    run->after = *end;
    *end = run;
}

/* No thread takes parts of it from now on. */
static void withdraw(struct crew *crew, struct crew_run *run) {
    struct crew_run **at = &crew->first;
    while (*at && *at != run) {
        at = &(*at)->after;
    }
    if (*at) {
        *at = run->after;
    }
}

static bool has_parts(const struct crew_run *run) {
    return run->next < run->open;
}

/* With the lock held. No further part begins. */
static void fail_run(struct crew *crew, struct crew_run *run, enum status status, const struct error *err) {
    if (run->error.status == ST_OK) {
        run->error = *err;
        run->error.status = status;
    }
    run->next = run->open = run->parts;
    withdraw(crew, run);
}

/* Runs the next part, unlocked meanwhile. */
static void run_part(struct crew *crew, struct crew_run *run, unsigned seat) {
    struct error err = {0};
    unsigned part = run->next++;
    if (run->next == run->parts) {
        withdraw(crew, run);
    }
    pthread_mutex_unlock(&crew->lock);
    enum status status = run->work->part(run->work->context, part, seat, &err);
    pthread_mutex_lock(&crew->lock);
    if (status != ST_OK) {
        fail_run(crew, run, status, &err);
    }
}

static uint64_t all_seats(const struct crew_run *run) {
    return run->work->seats == CREW_SEATS_MAX ? UINT64_MAX : ((uint64_t)1 << run->work->seats) - 1;
}

bool crew_help(struct crew *crew) {
    struct crew_run *run = crew->first;
    while (run && (run->taken == all_seats(run) || !has_parts(run))) {
        run = run->after;
    }
    if (!run) {
        return false;
    }
    unsigned seat = (unsigned)__builtin_ctzll(~run->taken);
    run->taken |= (uint64_t)1 << seat;
    run->helped++;
    int64_t begun = clock_thread_ns();
    run_part(crew, run, seat);
    run->seat_ns[seat] += clock_thread_ns() - begun;
    run->taken &= ~((uint64_t)1 << seat);
    if (run->taken == 1 && !has_parts(run)) {
        pthread_cond_signal(&run->done); /* the caller cannot leave before the lock is released */
    }
    return true;
}

static void run_opened(struct crew_gate *gate, unsigned parts) {
    for (; gate->open < parts && gate->error.status == ST_OK; gate->open++) {
        gate->error.status = gate->work->part(gate->work->context, gate->open, 0, &gate->error);
    }
}

static enum status run_alone(const struct crew_work *work, struct error *err) {
    struct crew_gate gate = {.work = work};
    enum status status = work->feed ? work->feed(work->context, &gate, err) : ST_OK;
    if (status == ST_OK && work->parts != CREW_PARTS_OPENED) {
        run_opened(&gate, work->parts);
    }
    if (gate.error.status == ST_OK) {
        return status;
    }
    if (err) {
        *err = gate.error;
    }
    return gate.error.status;
}

/* Backs off when help made the run slower than working alone. The caller has worked on its own parts and
 * then waited; alone it would have worked on all parts at the same speed. Runs with a feed are not judged,
 * as their callers did other work, too. */
static void judge(struct crew *crew, const struct crew_run *run, int64_t worked_ns, int64_t waited_ns) {
    unsigned own = run->work->parts - run->helped;
    if (!crew->wary || run->error.status != ST_OK || run->work->feed) {
        return;
    }
    if (waited_ns * own > worked_ns * run->helped) {
        crew->pause = at_most(2 * (uint64_t)crew->pause + 1, CREW_PAUSE_MAX);
        atomic_store_explicit(&crew->rest, crew->pause, memory_order_relaxed);
    } else {
        crew->pause /= 2;
    }
}

/* How long something computed for the run beside what the caller's thread did: at least while only helpers
 * were left, and at least as long as the longest seat did more than the caller. A caller of lower priority
 * than its helpers would otherwise seem to wait for others. */
static int64_t helped_in(const struct crew_run *run, int64_t waited_ns) {
    int64_t longest = 0;
    for (unsigned i = 1; i < run->work->seats; i++) {
        longest = run->seat_ns[i] > longest ? run->seat_ns[i] : longest;
    }
    int64_t more = longest - (clock_thread_ns() - run->begun_ns);
    return more > waited_ns ? more : waited_ns;
}

/* Runs the parts that are left, then waits until all helpers have left. With the lock held. */
static void run_rest(struct crew *crew, struct crew_run *run) {
    int64_t start = clock_ns();
    while (has_parts(run)) {
        run_part(crew, run, 0);
    }
    int64_t end = clock_ns();
    while (run->taken != 1) {
        pthread_cond_wait(&run->done, &crew->lock);
    }
    int64_t waited = clock_ns() - end;
    helped_ns += helped_in(run, waited);
    judge(crew, run, end - start, waited);
}

int64_t crew_helped_ns(void) {
    return helped_ns;
}

static void wake(struct crew *crew,
                 unsigned count) { /* called unlocked, so that woken threads need not wait for the lock */
    for (unsigned i = 0; i < count; i++) {
        crew_wake(crew);
    }
}

void crew_open(struct crew_gate *gate, unsigned parts) {
    struct crew_run *run = gate->run;
    if (!run) {
        run_opened(gate, parts);
        return;
    }
    if (parts <= gate->open) {
        return;
    }
    unsigned more = parts - gate->open;
    gate->open = parts;
    pthread_mutex_lock(&gate->crew->lock);
    run->open = run->error.status == ST_OK ? parts : run->open;
    pthread_mutex_unlock(&gate->crew->lock);
    wake(gate->crew, at_most(crew_idle(gate->crew), more));
}

/* Fixes the number of parts of a run, once its feed has ended: no further part is opened. */
static void close_run(struct crew *crew, struct crew_run *run) {
    pthread_mutex_lock(&crew->lock);
    if (run->error.status == ST_OK) {
        run->parts = run->open;
    }
    if (!has_parts(run)) {
        withdraw(crew, run);
    }
    pthread_mutex_unlock(&crew->lock);
}

/* Calls the feed of the work. Afterwards all parts are open, or it failed and no further part begins.
 * Unlocked. */
static void feed(struct crew *crew, struct crew_run *run) {
    struct crew_gate gate = {.crew = crew, .run = run};
    struct error err = {0};
    enum status status = run->work->feed(run->work->context, &gate, &err);
    if (status == ST_OK && run->parts == CREW_PARTS_OPENED) {
        close_run(crew, run);
        return;
    }
    if (status == ST_OK) {
        crew_open(&gate, run->parts);
        return;
    }
    pthread_mutex_lock(&crew->lock);
    fail_run(crew, run, status, &err);
    pthread_mutex_unlock(&crew->lock);
}

enum status crew_run(struct crew *crew, const struct crew_work *work, struct error *err) {
    unsigned wanted = at_most(work->parts, work->seats);
    unsigned helpers = at_most(crew_idle(crew), wanted ? wanted - 1 : 0);
    if (helpers == 0) {
        return run_alone(work, err);
    }
    struct crew_run run = {.work = work,
                           .parts = work->parts,
                           .taken = 1,
                           .open = work->feed ? 0 : work->parts,
                           .begun_ns = clock_thread_ns()};
    pthread_cond_init(&run.done, NULL);
    pthread_mutex_lock(&crew->lock);
    offer(crew, &run);
    pthread_mutex_unlock(&crew->lock);
    if (work->feed) {
        feed(crew, &run);
    } else {
        wake(crew, helpers);
    }
    pthread_mutex_lock(&crew->lock);
    run_rest(crew, &run);
    pthread_mutex_unlock(&crew->lock);
    pthread_cond_destroy(&run.done);
    if (run.error.status != ST_OK && err) {
        *err = run.error;
    }
    return run.error.status;
}

/* ---- members ---- */

void crew_lock(struct crew *crew) {
    pthread_mutex_lock(&crew->lock);
}

void crew_unlock(struct crew *crew) {
    pthread_mutex_unlock(&crew->lock);
}

void crew_wait(struct crew *crew, int64_t until_ns) {
    atomic_fetch_add_explicit(&crew->idle, 1, memory_order_relaxed);
    clock_wait(&crew->woken, &crew->lock, until_ns);
    atomic_fetch_sub_explicit(&crew->idle, 1, memory_order_relaxed);
}

void crew_wake(struct crew *crew) {
    pthread_cond_signal(&crew->woken);
}

void crew_wake_all(struct crew *crew) {
    pthread_cond_broadcast(&crew->woken);
}
