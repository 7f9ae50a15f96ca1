/* SPDX-License-Identifier: MIT
 * Judges whether a device has stopped, for everyone who waits for it.
 *
 * After a fault the driver says so one to two seconds late, and a thread that asks is blocked until then. The
 * device's fences stop at once. So every run has a watch, and the thread that polls its fence looks at the
 * watch, too. The device counts as lost when it has done no work for PULSE_QUIET_NS, and this run takes
 * PULSE_QUIET_NS and PULSE_TIMES times longer than the slowest of late of its kinds, for its size. A kind is
 * a filter, or JPEGs: kinds differ by a factor of hundreds. Runs that share the device with more than
 * PULSE_TIMES others have that many times longer, and so do chains for each step. The driver is asked where
 * this is no use: until PULSE_RUNS runs of each kind are done, and for runs that have more than
 * PULSE_ASK_BEYOND_NS.
 *
 * A watch belongs to one thread; the rest is thread-safe and takes no lock. `now` is clock_ns(). A watch
 * counts only PULSE_STEP_NS from one look to the next, so that the time of a stopped process is left out. */
#ifndef BLURD_GPU_CUDA_PULSE_H
#define BLURD_GPU_CUDA_PULSE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    PULSE_KINDS = 32,
    PULSE_RUNS = 32,
    PULSE_TIMES = 16,
    PULSE_MEMORY = 256,      /* runs of a kind, after which the slowest is forgotten */
    PULSE_BYTES = 64 * 1024, /* smaller pictures take as long as these */
    PULSE_QUIET_NS = 100000000,
    PULSE_ASK_BEYOND_NS = 1000000000,
    PULSE_JUDGE_NS = 5000000, /* between two verdicts */
    PULSE_STEP_NS = 10000000,
};

/* Of one device. All zero: it has done nothing. */
struct pulse {
    _Atomic unsigned beats; /* how often any work was done */
    _Atomic unsigned runs;  /* in progress */
    struct {
        _Atomic double slowest; /* nanoseconds for each byte */
        _Atomic unsigned done;  /* up to PULSE_RUNS */
    } kind[PULSE_KINDS];
};

struct pulse_work {
    uint32_t kinds; /* a set of bits; 0: unknown */
    uint32_t steps; /* at least 1 */
    double bytes;   /* of the largest picture */
};

struct pulse_watch {
    struct pulse_work work;
    unsigned beats;
    int64_t looked; /* `now` of the last look */
    int64_t age;    /* nanoseconds since the begin, as far as they count */
    int64_t quiet;  /* since the device's last beat */
    int64_t judged; /* `quiet` at the last verdict */
};

enum pulse_verdict { PULSE_WAIT, PULSE_ASK /* the driver */, PULSE_LOST };

/* The work has been handed to the device. Call pulse_end later. */
void pulse_begin(struct pulse *pulse, struct pulse_watch *watch, const struct pulse_work *work, int64_t now);

/* What to do while the work is not done. Call it every few milliseconds or more often. */
enum pulse_verdict pulse_look(struct pulse *pulse, struct pulse_watch *watch, int64_t now);

/* The work is done: remembers how long it took. */
void pulse_note(struct pulse *pulse, struct pulse_watch *watch, int64_t now);

/* The run is over, whether the work was done or failed. */
void pulse_end(struct pulse *pulse);

#endif
