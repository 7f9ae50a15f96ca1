/* SPDX-License-Identifier: MIT
 * When a device counts as lost: soon after it stops, and never while it works. Time is what the test says. */
#include "gpu/cuda/hang_detector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#define MS INT64_C(1000000)

enum { BLUR = 1, MEDIAN = 2, TOOK_MS = 2, LOOK_MS = 1, HOUR_MS = 3600 * 1000 };

static const struct hang_detector_work blur = {.kinds = 1u << BLUR, .steps = 1, .bytes = 1e6};
static const struct hang_detector_work median = {.kinds = 1u << MEDIAN, .steps = 1, .bytes = 1e6};
static const struct hang_detector_work both = {.kinds = 1u << BLUR | 1u << MEDIAN, .steps = 2, .bytes = 1e6};

static struct hang_detector detector;
static int64_t now;

static int reset(void **state) {
    (void)state;
    detector = (struct hang_detector){.lock = PTHREAD_MUTEX_INITIALIZER};
    now = HOUR_MS * MS;
    return 0;
}

static void begin(struct hang_detector_watch *watch, int count, const struct hang_detector_work *work) {
    for (int i = 0; i < count; i++) {
        hang_detector_begin(&detector, &watch[i], work, now);
    }
}

static void hand_over(struct hang_detector_watch *watch, int count) {
    for (int i = 0; i < count; i++) {
        hang_detector_handed(&detector, &watch[i], now);
    }
}

static void start(struct hang_detector_watch *watch, int count, const struct hang_detector_work *work) {
    begin(watch, count, work);
    hand_over(watch, count);
}

static void end(struct hang_detector_watch *watch, int count, bool done) {
    for (int i = 0; i < count; i++) {
        if (done) {
            hang_detector_complete(&detector, &watch[i]);
        }
        hang_detector_end(&detector, &watch[i]);
    }
}

/* Runs that take that long, one after the other. */
static void do_runs(const struct hang_detector_work *work, int count, double ms) {
    struct hang_detector_watch watch;
    for (int i = 0; i < count; i++) {
        start(&watch, 1, work);
        for (double left = ms; left > 0; left -= LOOK_MS) {
            now += left < LOOK_MS ? (int64_t)(left * (double)MS) : LOOK_MS * MS;
            hang_detector_check(&detector, &watch, now);
        }
        end(&watch, 1, true);
    }
}

/* Looks every millisecond, until the verdict is another one or `most_ms` have passed. */
static enum hang_detector_verdict wait_ms(struct hang_detector_watch *watch, int most_ms) {
    enum hang_detector_verdict verdict = HANG_WAIT;
    for (int i = 0; i < most_ms && verdict == HANG_WAIT; i += LOOK_MS) {
        now += LOOK_MS * MS;
        verdict = hang_detector_check(&detector, watch, now);
    }
    return verdict;
}

/* Begins a run, and returns after how many milliseconds the device is lost; -1: the driver is asked. */
static int lost_after(const struct hang_detector_work *work) {
    struct hang_detector_watch watch;
    int64_t before = now;
    start(&watch, 1, work);
    enum hang_detector_verdict verdict = wait_ms(&watch, HOUR_MS);
    end(&watch, 1, false);
    assert_int_not_equal(verdict, HANG_WAIT);
    return verdict == HANG_LOST ? (int)((now - before) / MS) : -1;
}

/* The device is lost after HANG_QUIET_NS and so many milliseconds, and not before. The last 5 ms are those
 * between two verdicts. */
static void assert_limit(const struct hang_detector_work *work, int ms) {
    assert_in_range(lost_after(work), 100 + ms, 105 + ms);
}

/* A hung device is noticed soon, with a history of runs of TOOK_MS, and a run that is slow is not taken for
 * it: both also when the device has had nothing to do for long. */
static void test_a_hang_is_noticed(void **state) {
    (void)state;
    do_runs(&blur, HANG_RUNS, TOOK_MS);
    assert_limit(&blur, HANG_TIMES * TOOK_MS);
    now += HOUR_MS * MS; /* without work */
    assert_limit(&blur, HANG_TIMES * TOOK_MS);
}

/* A size that is not known follows from the next one that is: a larger picture has more time for its bytes, a
 * smaller one as much. Small pictures take as long as those of HANG_BYTES, and no less than HANG_LEAST_NS. */
static void test_sizes(void **state) {
    (void)state;
    enum { TIMES = 128, SMALL_MS = 5 };
    struct hang_detector_work small = blur, large = blur, larger = blur, larger_yet = blur;
    small.bytes = 100;
    large.bytes = TIMES * HANG_BYTES;
    larger.bytes = 2.0 * TIMES * HANG_BYTES;
    larger_yet.bytes = 8.0 * TIMES * HANG_BYTES;
    do_runs(&small, HANG_RUNS, 0.05);
    assert_limit(&small, 2);
    assert_limit(&large, HANG_TIMES * TIMES / 4);
    do_runs(&larger_yet, HANG_RUNS, TOOK_MS);
    assert_limit(&larger, HANG_TIMES * TOOK_MS);
    /* Many of another size neither lengthen nor shorten the limit of one that is known. */
    do_runs(&large, HANG_RUNS, 2 * TOOK_MS);
    do_runs(&small, 8 * HANG_MEMORY, SMALL_MS);
    assert_limit(&large, HANG_TIMES * 2 * TOOK_MS);
    assert_limit(&small, HANG_TIMES * SMALL_MS);
}

/* The driver is asked every few milliseconds until enough is known about each filter of the chain. */
static void test_what_is_not_known(void **state) {
    (void)state;
    struct hang_detector_watch watch;
    const struct hang_detector_work nothing = {.steps = 1};
    assert_int_equal(lost_after(&blur), -1);
    do_runs(&blur, HANG_RUNS - 1, TOOK_MS);
    assert_int_equal(lost_after(&blur), -1);
    do_runs(&blur, 1, TOOK_MS);
    assert_true(lost_after(&blur) > 0);
    assert_int_equal(lost_after(&median), -1);
    assert_int_equal(lost_after(&both), -1);
    assert_int_equal(lost_after(&nothing), -1);
    begin(&watch, 1, &median);
    for (int i = 0; i < 100; i++) {
        int64_t before = now;
        assert_int_equal(wait_ms(&watch, HOUR_MS), HANG_ASK);
        assert_int_equal(now - before, HANG_JUDGE_NS);
    }
    end(&watch, 1, false);
}

/* A filter is judged by its own history, a chain by its slowest filter and its steps. */
static void test_filters(void **state) {
    (void)state;
    do_runs(&blur, HANG_RUNS, 0.1);
    do_runs(&median, HANG_RUNS, 20);
    assert_limit(&blur, 2);
    assert_limit(&median, HANG_TIMES * 20);
    assert_limit(&both, 2 * HANG_TIMES * 20);
}

/* The slowest run is forgotten little by little. */
static void test_memory(void **state) {
    (void)state;
    do_runs(&blur, 1, 50);
    do_runs(&blur, HANG_RUNS, TOOK_MS);
    assert_in_range(lost_after(&blur), 440, 500);
    do_runs(&blur, 8 * HANG_MEMORY, TOOK_MS);
    assert_limit(&blur, HANG_TIMES * TOOK_MS);
}

/* A run may wait behind others: work of anybody is progress. */
static void test_others(void **state) {
    (void)state;
    struct hang_detector_watch watch;
    do_runs(&median, HANG_RUNS, 0);
    do_runs(&blur, HANG_RUNS, TOOK_MS);
    begin(&watch, 1, &blur);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(wait_ms(&watch, 90), HANG_WAIT);
        do_runs(&median, 1, 0);
    }
    assert_int_equal(wait_ms(&watch, 100), HANG_WAIT);
    assert_int_equal(wait_ms(&watch, 7), HANG_LOST);
    end(&watch, 1, false);
}

/* A run that may take seconds: the driver knows earlier. In the end the clock decides. */
static void test_long_runs(void **state) {
    (void)state;
    struct hang_detector_watch watch;
    enum hang_detector_verdict verdict;
    do_runs(&median, HANG_RUNS, 200);
    const int64_t before = now;
    start(&watch, 1, &median);
    while ((verdict = wait_ms(&watch, HOUR_MS)) == HANG_ASK) {
    }
    assert_int_equal(verdict, HANG_LOST);
    assert_in_range(now - before, 1700 * MS, 1706 * MS);
    end(&watch, 1, false);
}

/* Short runs wait behind a long one, for as long as that may take. */
static void test_behind_a_long_run(void **state) {
    (void)state;
    struct hang_detector_watch slow;
    do_runs(&blur, HANG_RUNS, TOOK_MS);
    do_runs(&median, HANG_RUNS, 50);
    now += HOUR_MS * MS;
    begin(&slow, 1, &median); /* 100 ms and 8 times 50 */
    assert_in_range(lost_after(&blur), 501, 506);
    end(&slow, 1, false);
    assert_limit(&blur, HANG_TIMES * TOOK_MS);
}

/* The time of a process that is stopped does not count, neither for a verdict nor in the history. */
static void test_a_stop(void **state) {
    (void)state;
    struct hang_detector_watch watch;
    do_runs(&blur, HANG_RUNS, TOOK_MS);
    start(&watch, 1, &blur);
    assert_int_equal(wait_ms(&watch, 50), HANG_WAIT);
    now += HOUR_MS * MS;
    assert_int_equal(wait_ms(&watch, 50), HANG_WAIT);
    now += HOUR_MS * MS;
    end(&watch, 1, true);
    assert_in_range(detector.history[BLUR][1].slowest * blur.bytes, 100 * MS, 101 * MS + 2 * HANG_STEP_NS);
}

/* Looks as the guard does, every 20 ms. Returns after how many milliseconds a thread is stuck; 0: not yet. */
static int stuck_after(int most_ms) {
    for (int ms = 20; ms <= most_ms; ms += 20) {
        now += 20 * MS;
        int64_t quiet = hang_detector_stuck_ns(&detector, now);
        if (quiet > 0) {
            assert_true(quiet > HANG_QUIET_NS + HANG_CALL_NS);
            return ms;
        }
    }
    return 0;
}

/* Threads that do not return from the driver. */
static void test_calls(void **state) {
    (void)state;
    struct hang_detector_watch watch[2];
    do_runs(&blur, HANG_RUNS, TOOK_MS);
    assert_int_equal(stuck_after(1000), 0);
    begin(watch, 1, &median);
    begin(&watch[1], 1, &blur);
    assert_int_equal(stuck_after(10000), 1020); /* the second; nothing is known of medians */
    hang_detector_handed(&detector, &watch[1], now);
    assert_int_equal(stuck_after(10000), 0);
    assert_int_equal(wait_ms(&watch[1], 90), HANG_WAIT); /* its thread looks */
    assert_int_equal(wait_ms(&watch[1], 100), HANG_LOST);
    end(watch, 2, false);
    assert_null(detector.calling);
}

/* Work of others is progress. A slow call keeps the others waiting. */
static void test_calls_that_wait(void **state) {
    (void)state;
    struct hang_detector_watch watch;
    do_runs(&blur, HANG_RUNS, TOOK_MS);
    begin(&watch, 1, &blur);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(stuck_after(180), 0);
        do_runs(&blur, 1, TOOK_MS);
    }
    hang_detector_slow_begin(&detector);
    assert_int_equal(stuck_after(10000), 0);
    hang_detector_slow_end(&detector);
    assert_int_equal(stuck_after(180), 0);
    assert_in_range(stuck_after(10000), 20, 60);
    end(&watch, 1, false);
    assert_int_equal(stuck_after(1000), 0);
}

/* Where calls take long without a fault, as the driver copies in them, the guard waits for longer. */
static void test_calls_that_take_long(void **state) {
    (void)state;
    enum { CALLS_MS = 50 };
    struct hang_detector_watch watch;
    for (int i = 0; i < HANG_RUNS; i++) {
        begin(&watch, 1, &blur);
        assert_int_equal(stuck_after(CALLS_MS), 0);
        hand_over(&watch, 1);
        end(&watch, 1, true);
    }
    begin(&watch, 1, &blur);
    assert_in_range(stuck_after(10000), 200 + HANG_TIMES * (CALLS_MS - 20), 260 + HANG_TIMES * CALLS_MS);
    end(&watch, 1, false);
}

/* ---- runs that share the device ---- */

enum { TOGETHER = 28, ROUNDS = 3 /* more than HANG_RUNS */, TOGETHER_MS = 8, ALONE_MS = 18, LATE_MS = 15 };

/* As lost_after of a blur, with so many others in progress. */
static int lost_among(int others) {
    struct hang_detector_watch other[HANG_RUNS];
    begin(other, others, &blur);
    int ms = lost_after(&blur);
    end(other, others, false);
    return ms;
}

/* As many runs end at once, while their thread is late before and after. */
static void do_concurrent(int64_t late) {
    struct hang_detector_watch watch[TOGETHER];
    begin(watch, TOGETHER, &blur);
    now += late;
    hand_over(watch, TOGETHER);
    for (int i = 0; i < TOGETHER * TOGETHER_MS; i++) {
        now += i % TOGETHER == 0 ? MS : 0;
        hang_detector_check(&detector, &watch[i % TOGETHER], now);
    }
    now += late;
    end(watch, TOGETHER, true);
}

/* Many at a time take as long as before. The last one to be noted is alone by then, but that is no time of
 * one alone. A thread that gets a core late makes no difference. */
static void test_concurrent_runs(void **state) {
    (void)state;
    for (int64_t late = 0; late <= LATE_MS * MS; late += LATE_MS * MS) {
        for (int i = 0; i < ROUNDS; i++) {
            do_concurrent(late);
        }
        assert_in_range(lost_among(TOGETHER - 1), 164, 169); /* 100 ms and 8 times 8 */
        assert_limit(&blur, HANG_TIMES * TOGETHER_MS);       /* one alone takes no longer */
    }
}

/* One that was alone may say nothing of many: they have as much time for each, until enough of them were
 * done. */
static void test_more_than_before(void **state) {
    (void)state;
    do_runs(&blur, HANG_RUNS, ALONE_MS);
    now += HOUR_MS * MS;
    assert_in_range(lost_among(4), 100 + 5 * HANG_TIMES * ALONE_MS, 105 + 5 * HANG_TIMES * ALONE_MS);
    for (int i = 0; i < 4 * HANG_MEMORY / TOGETHER; i++) {
        do_concurrent(0);
    }
    assert_in_range(lost_among(TOGETHER - 1), 100 + HANG_TIMES * TOGETHER_MS,
                    105 + 2 * HANG_TIMES * TOGETHER_MS);
}

/* Concurrent runs that the device does one after the other. The last one is alone for a while, but has waited
 * for all. */
static void test_the_last_of_slow_runs(void **state) {
    (void)state;
    enum { EACH_MS = 150, SLOW = 12 };
    struct hang_detector_watch watch[SLOW];
    do_runs(&blur, HANG_RUNS, EACH_MS);
    start(watch, SLOW, &blur);
    for (int i = 0; i < SLOW; i++) {
        for (int ms = 0; ms < EACH_MS; ms += LOOK_MS) {
            now += LOOK_MS * MS;
            for (int j = i; j < SLOW; j++) {
                assert_int_not_equal(hang_detector_check(&detector, &watch[j], now), HANG_LOST);
            }
        }
        end(&watch[i], 1, true);
    }
}

/* Runs that take the same time beside others: their limit does not follow from how many there were. */
static void test_runs_that_share_nothing(void **state) {
    (void)state;
    enum { SIDE_BY_SIDE = 24, SCANS = 3, SCANS_MS = 46, LONG_TIMES = 2 };
    struct hang_detector_work scans = {.kinds = 1u << SCANS, .steps = 1, .bytes = 2e5, .alone = true};
    struct hang_detector_watch others[SIDE_BY_SIDE];
    begin(others, SIDE_BY_SIDE / 2, &scans);
    begin(others + SIDE_BY_SIDE / 2, SIDE_BY_SIDE / 2, &blur);
    do_runs(&scans, HANG_RUNS, SCANS_MS);
    end(others, SIDE_BY_SIDE, false);
    assert_int_equal(detector.runs, 0);
    scans.bytes *= LONG_TIMES;
    assert_limit(&scans, HANG_TIMES * LONG_TIMES * SCANS_MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_hang_is_noticed, reset),
        cmocka_unit_test_setup(test_sizes, reset),
        cmocka_unit_test_setup(test_what_is_not_known, reset),
        cmocka_unit_test_setup(test_filters, reset),
        cmocka_unit_test_setup(test_memory, reset),
        cmocka_unit_test_setup(test_others, reset),
        cmocka_unit_test_setup(test_long_runs, reset),
        cmocka_unit_test_setup(test_behind_a_long_run, reset),
        cmocka_unit_test_setup(test_a_stop, reset),
        cmocka_unit_test_setup(test_calls, reset),
        cmocka_unit_test_setup(test_calls_that_wait, reset),
        cmocka_unit_test_setup(test_calls_that_take_long, reset),
        cmocka_unit_test_setup(test_concurrent_runs, reset),
        cmocka_unit_test_setup(test_more_than_before, reset),
        cmocka_unit_test_setup(test_the_last_of_slow_runs, reset),
        cmocka_unit_test_setup(test_runs_that_share_nothing, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
