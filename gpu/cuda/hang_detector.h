/* SPDX-License-Identifier: MIT
 * Detects a hung GPU. All threads that wait for one GPU share this state.
 *
 * After a fault the driver says so one to two seconds late. A thread that asks is blocked until then, and so
 * is one that hands over work. The device's fences stop at once. So every run has a watch. While its calls of
 * the driver hand over the work, a guard looks at it, a thread that makes no such calls. Then the thread that
 * polls the fence looks.
 *
 * A run has a limit: HANG_QUIET_NS, and HANG_TIMES times the slowest run of late of its kinds, times the
 * steps of its chain. A kind is a filter, or JPEGs: kinds differ by a factor of hundreds. Times count for
 * each byte, in classes of sizes, as a small picture takes longer for each. While few runs of a class were
 * done, the nearest class that is known tells. Runs share the device: beside more others a run takes no more
 * than as many times as they are more, and beside fewer no more than it did beside more. So both are kept,
 * the slowest time, and the slowest divided by the runs in progress. Their number is the largest at any time
 * of the run, since the last one of several is alone at its end. A run with the flag `alone` takes as long
 * beside other runs as without them, and counts as one.
 *
 * The time of a run begins with hang_detector_handed and ends with the last check that found it in progress.
 * Before and after, its thread may have waited for a core. A run counts with HANG_LEAST_NS at least.
 *
 * The device counts as lost when it has ended no run for HANG_QUIET_NS, and since hang_detector_handed a run
 * has taken longer than its limit. A run may wait behind a long one: as long as another run with a limit
 * above HANG_LONG_NS, or of a kind that is not known, may be in progress, the device is not lost. While work
 * is handed over, the guard adds HANG_CALL_NS, since calls wait for each other, and HANG_TIMES times the
 * slowest hand-over of late. The caller asks the driver about a run of a kind of which no class has
 * HANG_RUNS, and about one with a limit above HANG_ASK_BEYOND_NS.
 *
 * Thread-safe, except that a watch belongs to the thread of its run. `now` is clock_ns(). A watch counts only
 * HANG_STEP_NS from one check to the next, so that the time of a stopped process is left out. */
#ifndef BLURD_GPU_CUDA_HANG_DETECTOR_H
#define BLURD_GPU_CUDA_HANG_DETECTOR_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    HANG_KINDS = 32,
    HANG_SIZES = 6, /* classes: pictures below 4, 16, 64, 256 and 1,024 times HANG_BYTES, and larger ones */
    HANG_RUNS = 32, /* of a class, until its history counts */
    HANG_TIMES = 8,
    HANG_MEMORY = 256,      /* runs of a class, in which the slowest falls to 0.37 of its time */
    HANG_BYTES = 64 * 1024, /* smaller pictures take as long as these */
    HANG_LEAST_NS = 250000, /* that a run takes, since a check may come too late to see it in progress */
    HANG_QUIET_NS = 100000000,
    HANG_CALL_NS = 100000000,
    HANG_LONG_NS = 250000000,
    HANG_ASK_BEYOND_NS = 1000000000,
    HANG_JUDGE_NS = 5000000, /* between two verdicts */
    HANG_STEP_NS = 20000000,
};

struct hang_detector_watch;

/* What the runs of one kind and class of sizes took of late. */
struct hang_detector_history {
    _Atomic double slowest; /* nanoseconds for each byte */
    _Atomic double shared;  /* the same, divided by the runs in progress */
    _Atomic unsigned done;  /* up to HANG_RUNS */
};

/* Of one device. All zero: it has done nothing. */
struct hang_detector {
    _Atomic unsigned completions; /* how often any work was done */
    _Atomic unsigned runs;        /* in progress; runs with the flag `alone` do not count */
    _Atomic unsigned long_runs;   /* runs in progress whose limit is above HANG_LONG_NS, or not known */
    _Atomic int64_t timeout;      /* clock_ns at which the last of their limits ends */
    struct hang_detector_history history[HANG_KINDS][HANG_SIZES];
    _Atomic double slowest_calls;        /* nanoseconds; the slowest hand-over of late */
    _Atomic unsigned slow;               /* calls in progress that take long without a fault */
    pthread_mutex_t lock;                /* guards the list, and the watches in it */
    struct hang_detector_watch *calling; /* runs whose work is being handed over */
};

struct hang_detector_work {
    uint32_t kinds; /* a set of bits; 0: unknown */
    uint32_t steps; /* at least 1 */
    double bytes;   /* of the largest picture; more if a byte takes longer than in other runs of the kind */
    bool alone;     /* the run takes the same time beside others as alone, and does not slow them */
};

struct hang_detector_watch {
    struct hang_detector_watch *next, **link; /* in the list; NULL: not in it */
    struct hang_detector_work work;
    unsigned completions;
    double runs;     /* in progress, the most at any time of the run */
    int64_t looked;  /* `now` of the last check */
    int64_t age;     /* nanoseconds since the begin, as far as they count */
    int64_t handed;  /* `age` at hang_detector_handed */
    int64_t seen;    /* `age` at the last check that found the work in progress */
    int64_t quiet;   /* since the device's last completion */
    int64_t judged;  /* `quiet` at the last verdict */
    bool takes_long; /* it counts in long_runs */
};

enum hang_detector_verdict { HANG_WAIT, HANG_ASK /* the driver */, HANG_LOST };

/* The thread begins to hand over the work. Call hang_detector_end later. */
void hang_detector_begin(struct hang_detector *detector, struct hang_detector_watch *watch,
                         const struct hang_detector_work *work, int64_t now);

/* The work is handed over; from now on the caller checks. */
void hang_detector_handed(struct hang_detector *detector, struct hang_detector_watch *watch, int64_t now);

/* What to do while the work is not done. Call it every few milliseconds or more often, after
 * hang_detector_handed. */
enum hang_detector_verdict hang_detector_check(struct hang_detector *detector,
                                               struct hang_detector_watch *watch, int64_t now);

/* The work is done. */
void hang_detector_complete(struct hang_detector *detector, struct hang_detector_watch *watch);

/* The run is over, whether the work was done or failed. */
void hang_detector_end(struct hang_detector *detector, struct hang_detector_watch *watch);

/* For the guard, every few milliseconds: how long the device has done nothing, if it is lost and a thread is
 * stuck in its calls; else 0. */
int64_t hang_detector_stuck_ns(struct hang_detector *detector, int64_t now);

/* Around a call that may take long without a fault, while others wait for it. The guard does not judge
 * meanwhile. */
void hang_detector_slow_begin(struct hang_detector *detector);
void hang_detector_slow_end(struct hang_detector *detector);

#endif
