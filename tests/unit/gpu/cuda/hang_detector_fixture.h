/* SPDX-License-Identifier: MIT
 * Runs on a device whose time is what the test says. */
#ifndef BLURD_TESTS_UNIT_HANG_DETECTOR_FIXTURE_H
#define BLURD_TESTS_UNIT_HANG_DETECTOR_FIXTURE_H

#include "gpu/cuda/hang_detector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

enum { BLUR = 1, MEDIAN = 2, JPEG = 31, TOOK_MS = 2, LOOK_MS = 1, HOUR_MS = 3600 * 1000 };

static const struct hang_detector_work blur = {.kinds = 1u << BLUR, .steps = 1, .bytes = 1e6};

static int64_t now;

static inline int reset(void **state) {
    (void)state;
    now = HOUR_MS * MS;
    return 0;
}

/* Runs that take that long, one after the other. */
static inline void do_runs(struct hang_detector *detector, const struct hang_detector_work *work, int count,
                           double ms) {
    struct hang_detector_watch watch;
    for (int i = 0; i < count; i++) {
        hang_detector_begin(detector, &watch, work, now);
        hang_detector_handed(detector, &watch, now);
        for (double left = ms; left > 0; left -= LOOK_MS) {
            now += left < LOOK_MS ? (int64_t)(left * (double)MS) : LOOK_MS * MS;
            hang_detector_check(detector, &watch, now);
        }
        hang_detector_complete(detector, &watch);
        hang_detector_end(detector, &watch);
    }
}

/* Looks every millisecond, until the verdict is another one or `most_ms` have passed. */
static inline enum hang_detector_verdict wait_ms(struct hang_detector *detector,
                                                 struct hang_detector_watch *watch, int most_ms) {
    enum hang_detector_verdict verdict = HANG_WAIT;
    for (int i = 0; i < most_ms && verdict == HANG_WAIT; i += LOOK_MS) {
        now += LOOK_MS * MS;
        verdict = hang_detector_check(detector, watch, now);
    }
    return verdict;
}

/* Begins a run, and returns after how many milliseconds the device is lost; -1: the driver is asked. */
static inline int lost_after(struct hang_detector *detector, const struct hang_detector_work *work) {
    struct hang_detector_watch watch;
    int64_t begin = now;
    hang_detector_begin(detector, &watch, work, now);
    hang_detector_handed(detector, &watch, now);
    enum hang_detector_verdict verdict = wait_ms(detector, &watch, HOUR_MS);
    hang_detector_end(detector, &watch);
    assert_int_not_equal(verdict, HANG_WAIT);
    return verdict == HANG_LOST ? (int)((now - begin) / MS) : -1;
}

#endif
