/* SPDX-License-Identifier: MIT
 * Runs on a device whose time is what the test says. */
#ifndef BLURD_TESTS_PULSE_FIXTURE_H
#define BLURD_TESTS_PULSE_FIXTURE_H

#include "gpu/cuda/pulse.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

enum { BLUR = 1, MEDIAN = 2, JPEG = 31, TOOK_MS = 2, LOOK_MS = 1, HOUR_MS = 3600 * 1000 };

static const struct pulse_work blur = {.kinds = 1u << BLUR, .steps = 1, .bytes = 1e6};

static int64_t now;

static inline int reset(void **state) {
    (void)state;
    now = HOUR_MS * MS;
    return 0;
}

/* Runs that take that long, one after the other. */
static inline void do_runs(struct pulse *pulse, const struct pulse_work *work, int count, double ms) {
    struct pulse_watch watch;
    for (int i = 0; i < count; i++) {
        pulse_begin(pulse, &watch, work, now);
        pulse_handed(pulse, &watch, now);
        for (double left = ms; left > 0; left -= LOOK_MS) {
            now += left < LOOK_MS ? (int64_t)(left * (double)MS) : LOOK_MS * MS;
            pulse_look(pulse, &watch, now);
        }
        pulse_note(pulse, &watch);
        pulse_end(pulse, &watch);
    }
}

/* Looks every millisecond, until the verdict is another one or `most_ms` have passed. */
static inline enum pulse_verdict wait_ms(struct pulse *pulse, struct pulse_watch *watch, int most_ms) {
    enum pulse_verdict verdict = PULSE_WAIT;
    for (int i = 0; i < most_ms && verdict == PULSE_WAIT; i += LOOK_MS) {
        now += LOOK_MS * MS;
        verdict = pulse_look(pulse, watch, now);
    }
    return verdict;
}

/* Begins a run, and returns after how many milliseconds the device is lost; -1: the driver is asked. */
static inline int lost_after(struct pulse *pulse, const struct pulse_work *work) {
    struct pulse_watch watch;
    int64_t begin = now;
    pulse_begin(pulse, &watch, work, now);
    pulse_handed(pulse, &watch, now);
    enum pulse_verdict verdict = wait_ms(pulse, &watch, HOUR_MS);
    pulse_end(pulse, &watch);
    assert_int_not_equal(verdict, PULSE_WAIT);
    return verdict == PULSE_LOST ? (int)((now - begin) / MS) : -1;
}

#endif
