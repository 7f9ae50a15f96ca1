/* SPDX-License-Identifier: MIT
 * When a device counts as lost. Time is what the test says. */
#include "tests/unit/gpu/cuda/hang_detector_fixture.h"

static const struct hang_detector_work median = {.kinds = 1u << MEDIAN, .steps = 1, .bytes = 1e6};
static const struct hang_detector_work both = {.kinds = 1u << BLUR | 1u << MEDIAN, .steps = 2, .bytes = 1e6};

/* With a history of runs of TOOK_MS. The last 5 ms are those between two verdicts. */
static void test_the_limit(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    const int limit = 100 + HANG_TIMES * TOOK_MS;
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    assert_in_range(lost_after(&detector, &blur), limit, limit + 5);
    now += HOUR_MS * MS; /* without work */
    assert_in_range(lost_after(&detector, &blur), limit, limit + 5);
}

static void test_sizes(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_work work = blur;
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    work.bytes = 10 * blur.bytes;
    assert_in_range(lost_after(&detector, &work), 100 + 10 * HANG_TIMES * TOOK_MS,
                    105 + 10 * HANG_TIMES * TOOK_MS);
    work.bytes = 1;
    assert_in_range(lost_after(&detector, &work), 102, 107);
}

/* Small pictures take as long as those of HANG_BYTES, and no less than HANG_LEAST_NS, so that large ones do
 * not get a minute. Once larger ones are known, they tell more. */
static void test_small_pictures(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_work small = blur, large = blur;
    small.bytes = 100;
    large.bytes = 128 * HANG_BYTES;
    do_runs(&detector, &small, HANG_RUNS, 0.05);
    assert_in_range(lost_after(&detector, &small), 102, 107);
    assert_in_range(lost_after(&detector, &large), 100 + 128 * HANG_TIMES / 4, 105 + 128 * HANG_TIMES / 4);
    do_runs(&detector, &large, HANG_RUNS, TOOK_MS);
    assert_in_range(lost_after(&detector, &large), 100 + HANG_TIMES * TOOK_MS, 105 + HANG_TIMES * TOOK_MS);
    large.bytes *= 2; /* another class; 64 times HANG_BYTES are the least of the one that is known */
    assert_in_range(lost_after(&detector, &large), 100 + 2 * HANG_TIMES * TOOK_MS,
                    105 + 2 * HANG_TIMES * TOOK_MS);
}

/* Classes of sizes begin at 4, 16, 64, 256 and 1,024 times HANG_BYTES. Each has its own history: a larger
 * one does not shorten or lengthen the limit of a smaller one. */
static void test_where_sizes_begin(void **state) {
    (void)state;
    enum { SHORT_MS = 5, LONG_MS = 15 };
    for (double begin = 4 * HANG_BYTES; begin <= 1024 * HANG_BYTES; begin *= 4) {
        for (int longer = 0; longer < 2; longer++) {
            struct hang_detector detector = {0};
            struct hang_detector_work small = blur, large = blur;
            const int small_ms = longer ? SHORT_MS : LONG_MS, large_ms = longer ? LONG_MS : SHORT_MS;
            small.bytes = begin - 1;
            large.bytes = begin;
            do_runs(&detector, &small, HANG_RUNS, small_ms);
            do_runs(&detector, &large, HANG_RUNS, large_ms);
            const int limit = 100 + HANG_TIMES * small_ms, larger = 100 + HANG_TIMES * LONG_MS;
            assert_in_range(lost_after(&detector, &small), limit, limit + 5);
            assert_true(!longer || (lost_after(&detector, &large) >= larger &&
                                    lost_after(&detector, &large) <= larger + 5));
        }
    }
}

/* The driver is asked every few milliseconds until enough is known about each filter of the chain. */
static void test_what_is_not_known(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_watch watch;
    const struct hang_detector_work nothing = {.steps = 1};
    assert_int_equal(lost_after(&detector, &blur), -1);
    do_runs(&detector, &blur, HANG_RUNS - 1, TOOK_MS);
    assert_int_equal(lost_after(&detector, &blur), -1);
    do_runs(&detector, &blur, 1, TOOK_MS);
    assert_true(lost_after(&detector, &blur) > 0);
    assert_int_equal(lost_after(&detector, &median), -1);
    assert_int_equal(lost_after(&detector, &both), -1);
    assert_int_equal(lost_after(&detector, &nothing), -1);
    hang_detector_begin(&detector, &watch, &median, now);
    for (int i = 0; i < 100; i++) {
        int64_t before = now;
        assert_int_equal(wait_ms(&detector, &watch, HOUR_MS), HANG_ASK);
        assert_int_equal(now - before, HANG_JUDGE_NS);
    }
    hang_detector_end(&detector, &watch);
}

/* A filter is judged by its own history, a chain by its slowest filter and its steps. */
static void test_filters(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    do_runs(&detector, &blur, HANG_RUNS, 0.1);
    do_runs(&detector, &median, HANG_RUNS, 20);
    assert_in_range(lost_after(&detector, &blur), 101, 107);
    assert_in_range(lost_after(&detector, &median), 260, 266);
    assert_in_range(lost_after(&detector, &both), 420, 426);
}

/* The slowest run is forgotten little by little. */
static void test_memory(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    do_runs(&detector, &blur, 1, 50);
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    assert_in_range(lost_after(&detector, &blur), 440, 500);
    do_runs(&detector, &blur, 8 * HANG_MEMORY, TOOK_MS);
    assert_in_range(lost_after(&detector, &blur), 116, 121);
}

/* A run may wait behind others: work of anybody is progress, and concurrent runs have more time. */
static void test_others(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_watch watch, other[40];
    do_runs(&detector, &median, HANG_RUNS, 0);
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    hang_detector_begin(&detector, &watch, &blur, now);
    for (int i = 0; i < 100; i++) {
        assert_int_equal(wait_ms(&detector, &watch, 90), HANG_WAIT);
        do_runs(&detector, &median, 1, 0);
    }
    int64_t before = now;
    assert_int_equal(wait_ms(&detector, &watch, HOUR_MS), HANG_LOST);
    assert_in_range(now - before, 100 * MS, 107 * MS);
    hang_detector_end(&detector, &watch);
    for (int i = 0; i < 39; i++) {
        hang_detector_begin(&detector, &other[i], &median, now);
    }
    assert_in_range(lost_after(&detector, &blur), 100 + 40 * HANG_TIMES * TOOK_MS,
                    106 + 40 * HANG_TIMES * TOOK_MS);
    for (int i = 0; i < 39; i++) {
        hang_detector_end(&detector, &other[i]);
    }
    assert_in_range(lost_after(&detector, &blur), 116, 121);
}

/* A run that may take seconds: the driver knows earlier. In the end the clock decides. */
static void test_long_runs(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_watch watch;
    enum hang_detector_verdict verdict = HANG_ASK;
    int64_t begin;
    do_runs(&detector, &median, HANG_RUNS, 200);
    hang_detector_begin(&detector, &watch, &median, begin = now);
    hang_detector_handed(&detector, &watch, now);
    while (verdict == HANG_ASK) {
        verdict = wait_ms(&detector, &watch, HOUR_MS);
    }
    assert_int_equal(verdict, HANG_LOST);
    assert_in_range(now - begin, 1700 * MS, 1706 * MS);
    hang_detector_end(&detector, &watch);
}

/* Short runs wait behind a long one, for as long as that may take. */
static void test_behind_a_long_run(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_watch slow;
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    do_runs(&detector, &median, HANG_RUNS, 50);
    now += HOUR_MS * MS;
    hang_detector_begin(&detector, &slow, &median, now); /* 100 ms and 8 times 50 */
    assert_in_range(lost_after(&detector, &blur), 501, 506);
    hang_detector_end(&detector, &slow);
    assert_in_range(lost_after(&detector, &blur), 116, 121);
}

/* The time of a process that is stopped does not count, neither for a verdict nor in the history. */
static void test_a_stop(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_watch watch;
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    hang_detector_begin(&detector, &watch, &blur, now);
    hang_detector_handed(&detector, &watch, now);
    assert_int_equal(wait_ms(&detector, &watch, 50), HANG_WAIT);
    now += HOUR_MS * MS;
    assert_int_equal(wait_ms(&detector, &watch, 50), HANG_WAIT);
    now += HOUR_MS * MS;
    hang_detector_complete(&detector, &watch);
    hang_detector_end(&detector, &watch);
    assert_in_range(detector.history[BLUR][0][1].slowest * blur.bytes, 100 * MS, 101 * MS + 2 * HANG_STEP_NS);
}

/* Looks as the guard does, every 20 ms. Returns after how many milliseconds a thread is stuck; 0: not yet. */
static int stuck_after(struct hang_detector *detector, int most_ms) {
    for (int ms = 20; ms <= most_ms; ms += 20) {
        now += 20 * MS;
        int64_t quiet = hang_detector_stuck_ns(detector, now);
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
    struct hang_detector detector = {0};
    struct hang_detector_watch watch[3];
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    assert_int_equal(stuck_after(&detector, 1000), 0);
    for (int i = 0; i < 3; i++) {
        hang_detector_begin(&detector, &watch[i], i == 1 ? &blur : &median, now);
    }
    assert_int_equal(stuck_after(&detector, 10000), 1020); /* the second; nothing is known of medians */
    hang_detector_handed(&detector, &watch[1], now);
    assert_int_equal(stuck_after(&detector, 10000), 0);
    assert_int_equal(wait_ms(&detector, &watch[1], 90), HANG_WAIT); /* its thread looks */
    assert_int_equal(wait_ms(&detector, &watch[1], 100), HANG_LOST);
    for (int i = 0; i < 3; i++) {
        hang_detector_end(&detector, &watch[i]);
    }
    assert_null(detector.calling);
}

/* Work of others is progress. A slow call keeps the others waiting. */
static void test_calls_that_wait(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    struct hang_detector_watch watch;
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    hang_detector_begin(&detector, &watch, &blur, now);
    for (int i = 0; i < 10; i++) {
        assert_int_equal(stuck_after(&detector, 180), 0);
        do_runs(&detector, &blur, 1, TOOK_MS);
    }
    hang_detector_slow_begin(&detector);
    assert_int_equal(stuck_after(&detector, 10000), 0);
    hang_detector_slow_end(&detector);
    assert_int_equal(stuck_after(&detector, 180), 0);
    assert_in_range(stuck_after(&detector, 10000), 20, 60);
    hang_detector_end(&detector, &watch);
    assert_int_equal(stuck_after(&detector, 1000), 0);
}

/* Where calls take long without a fault, as the driver copies in them, the guard waits for longer. */
static void test_calls_that_take_long(void **state) {
    (void)state;
    enum { CALLS_MS = 50 };
    struct hang_detector detector = {0};
    struct hang_detector_watch watch;
    for (int i = 0; i < HANG_RUNS; i++) {
        hang_detector_begin(&detector, &watch, &blur, now);
        assert_int_equal(stuck_after(&detector, CALLS_MS), 0);
        hang_detector_handed(&detector, &watch, now);
        hang_detector_complete(&detector, &watch);
        hang_detector_end(&detector, &watch);
    }
    hang_detector_begin(&detector, &watch, &blur, now);
    assert_in_range(stuck_after(&detector, 10000), 200 + HANG_TIMES * (CALLS_MS - 20),
                    260 + HANG_TIMES * CALLS_MS);
    hang_detector_end(&detector, &watch);
}

/* Runs that take the same time beside others: their limit does not follow from how many there were. */
static void test_runs_that_share_nothing(void **state) {
    (void)state;
    enum { SIDE_BY_SIDE = 24, SCANS = 3, SCANS_MS = 46, LONG_TIMES = 2 };
    struct hang_detector detector = {.lock = PTHREAD_MUTEX_INITIALIZER};
    struct hang_detector_work scans = {.kinds = 1u << SCANS, .steps = 1, .bytes = 2e5, .alone = true};
    struct hang_detector_watch others[SIDE_BY_SIDE];
    for (unsigned i = 0; i < SIDE_BY_SIDE; i++) {
        hang_detector_begin(&detector, &others[i], i % 2 ? &scans : &blur, now);
        hang_detector_handed(&detector, &others[i], now);
    }
    do_runs(&detector, &scans, HANG_RUNS, SCANS_MS);
    for (unsigned i = 0; i < SIDE_BY_SIDE; i++) {
        hang_detector_end(&detector, &others[i]);
    }
    assert_int_equal(detector.runs, 0);
    scans.bytes *= LONG_TIMES;
    const int limit = 100 + HANG_TIMES * LONG_TIMES * SCANS_MS;
    assert_in_range(lost_after(&detector, &scans), limit, limit + 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_runs_that_share_nothing, reset),
        cmocka_unit_test_setup(test_the_limit, reset),
        cmocka_unit_test_setup(test_sizes, reset),
        cmocka_unit_test_setup(test_small_pictures, reset),
        cmocka_unit_test_setup(test_where_sizes_begin, reset),
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
