/* SPDX-License-Identifier: MIT
 * When a device counts as lost that does several runs at a time. Time is what the test says. */
#include "tests/unit/gpu/cuda/hang_detector_fixture.h"

static const struct hang_detector_work median = {.kinds = 1u << MEDIAN, .steps = 1, .bytes = 1e6};

/* Begins so many runs, which stay in progress. */
static void begin_others(struct hang_detector *detector, const struct hang_detector_work *work,
                         struct hang_detector_watch *other, int count) {
    for (int i = 0; i < count; i++) {
        hang_detector_begin(detector, &other[i], work, now);
    }
}

static void end_others(struct hang_detector *detector, struct hang_detector_watch *other, int count) {
    for (int i = 0; i < count; i++) {
        hang_detector_end(detector, &other[i]);
    }
}

/* Runs of so many milliseconds, one after the other, with so many others in progress. */
static void do_among(struct hang_detector *detector, int others, double ms) {
    struct hang_detector_watch other[HANG_RUNS];
    begin_others(detector, &median, other, others);
    do_runs(detector, &blur, HANG_RUNS, ms);
    end_others(detector, other, others);
}

/* As lost_after, with so many others of a kind in progress. */
static int lost_among(struct hang_detector *detector, const struct hang_detector_work *work, int others) {
    struct hang_detector_watch other[HANG_RUNS];
    begin_others(detector, work, other, others);
    int ms = lost_after(detector, &blur);
    end_others(detector, other, others);
    return ms;
}

/* The time of runs that share the device is divided by their number. */
static void test_past_concurrency(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    do_runs(&detector, &median, HANG_RUNS, 0);
    do_among(&detector, 9, 10 * TOOK_MS);
    const int limit = 100 + 10 * HANG_TIMES * TOOK_MS;
    assert_in_range(lost_among(&detector, &median, 9), limit, limit + 5);
    /* Eight runs are the fewest of that history. */
    assert_in_range(lost_after(&detector, &blur), 100 + 8 * HANG_TIMES * TOOK_MS,
                    105 + 8 * HANG_TIMES * TOOK_MS);
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    assert_in_range(lost_after(&detector, &blur), 116, 121);
}

enum { TOGETHER = 28, ROUNDS = 3 /* more than HANG_RUNS */, TOGETHER_MS = 8, ALONE_MS = 18, LATE_MS = 15 };

/* As many runs end at once, while their thread is late before and after. */
static void do_concurrent(struct hang_detector *detector, int64_t late) {
    struct hang_detector_watch watch[TOGETHER];
    for (int i = 0; i < TOGETHER; i++) {
        hang_detector_begin(detector, &watch[i], &blur, now);
    }
    now += late;
    for (int i = 0; i < TOGETHER; i++) {
        hang_detector_handed(detector, &watch[i], now);
    }
    for (int i = 0; i < TOGETHER * TOGETHER_MS; i++) {
        now += i % TOGETHER == 0 ? MS : 0;
        hang_detector_check(detector, &watch[i % TOGETHER], now);
    }
    now += late;
    for (int i = 0; i < TOGETHER; i++) {
        hang_detector_complete(detector, &watch[i]);
        hang_detector_end(detector, &watch[i]);
    }
}

/* The last one to be noted is alone by then, but that is no time of one alone. A thread that gets a core late
 * makes no difference. */
static void test_concurrent_runs(void **state) {
    (void)state;
    for (int64_t late = 0; late <= LATE_MS * MS; late += LATE_MS * MS) {
        struct hang_detector detector = {0};
        do_runs(&detector, &blur, HANG_RUNS, 0.1);
        for (int i = 0; i < ROUNDS; i++) {
            do_concurrent(&detector, late);
        }
        assert_in_range(lost_after(&detector, &blur), 101, 107);
        assert_in_range(lost_among(&detector, &blur, TOGETHER - 1), 100 + HANG_TIMES * TOGETHER_MS,
                        105 + 2 * HANG_TIMES * TOGETHER_MS);
    }
}

/* One that is alone leaves most of the device idle: many at a time take as long as that one, but not as many
 * times. */
static void test_a_slow_one_alone(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    for (int i = 0; i < ROUNDS; i++) {
        do_concurrent(&detector, 0);
    }
    assert_in_range(lost_among(&detector, &blur, TOGETHER - 1), 100, 105 + 2 * HANG_TIMES * TOGETHER_MS);
    do_runs(&detector, &blur, HANG_RUNS, ALONE_MS);
    const int limit = 100 + HANG_TIMES * ALONE_MS;
    assert_in_range(lost_after(&detector, &blur), limit, limit + 5);
    assert_in_range(lost_among(&detector, &blur, TOGETHER - 1), limit, limit + 5);
}

/* A single run may take as long as concurrent ones did if only these are known. do_concurrent leaves
 * histories of 14 to 28 runs, which divide its time, so the limit is half of their time at least. */
static void test_one_after_concurrent_runs(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    for (int i = 0; i < ROUNDS; i++) {
        do_concurrent(&detector, 0);
    }
    assert_in_range(lost_after(&detector, &blur), 100 + HANG_TIMES * TOGETHER_MS / 2,
                    105 + HANG_TIMES * TOGETHER_MS);
}

/* Classes begin at 2, 4, 8 and 16 runs. More runs have the longer limit, fewer keep their own. */
static void test_where_classes_begin(void **state) {
    (void)state;
    enum { SHORT_MS = 5, LONG_MS = 15 };
    for (int runs = 2; runs <= 16; runs *= 2) {
        struct hang_detector detector = {0};
        do_runs(&detector, &median, HANG_RUNS, 0);
        do_among(&detector, runs - 2, SHORT_MS);
        do_among(&detector, runs - 1, LONG_MS);
        assert_in_range(lost_among(&detector, &median, runs - 2), 100 + HANG_TIMES * SHORT_MS,
                        105 + HANG_TIMES * SHORT_MS);
        assert_in_range(lost_among(&detector, &median, runs - 1), 100 + HANG_TIMES * LONG_MS,
                        105 + HANG_TIMES * LONG_MS);
    }
}

/* Runs without a history take no more than more of them did, though one alone took long for its size. */
static void test_between_two_classes(void **state) {
    (void)state;
    enum { ALONE = 4, AMONG_16 = 10 };
    struct hang_detector detector = {0};
    do_runs(&detector, &median, HANG_RUNS, 0);
    do_among(&detector, 0, ALONE);
    do_among(&detector, 15, AMONG_16);
    assert_in_range(lost_among(&detector, &median, 7), 100 + HANG_TIMES * AMONG_16,
                    105 + HANG_TIMES * AMONG_16);
}

/* Concurrent runs that the device does one after the other. The last one is alone for a while, but has waited
 * for all. */
static void test_the_last_of_slow_runs(void **state) {
    (void)state;
    enum { EACH_MS = 150, SLOW = 12 };
    struct hang_detector detector = {0};
    struct hang_detector_watch watch[SLOW];
    do_runs(&detector, &blur, HANG_RUNS, EACH_MS);
    for (int i = 0; i < SLOW; i++) {
        hang_detector_begin(&detector, &watch[i], &blur, now);
        hang_detector_handed(&detector, &watch[i], now);
    }
    for (int i = 0; i < SLOW; i++) {
        for (int ms = 0; ms < EACH_MS; ms += LOOK_MS) {
            now += LOOK_MS * MS;
            for (int j = i; j < SLOW; j++) {
                assert_int_not_equal(hang_detector_check(&detector, &watch[j], now), HANG_LOST);
            }
        }
        hang_detector_complete(&detector, &watch[i]);
        hang_detector_end(&detector, &watch[i]);
    }
}

/* What took long alone says nothing of concurrent runs any more when many others have come. For one alone it
 * counts. */
static void test_what_is_long_ago(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    do_runs(&detector, &median, HANG_RUNS, 0);
    do_among(&detector, 0, 4 * TOGETHER_MS);
    do_among(&detector, 15, TOGETHER_MS);
    assert_in_range(lost_among(&detector, &median, 15), 100 + 4 * HANG_TIMES * TOGETHER_MS,
                    105 + 4 * HANG_TIMES * TOGETHER_MS);
    for (int i = 0; i <= HANG_RECENT / HANG_RUNS; i++) {
        do_among(&detector, 15, TOGETHER_MS);
        do_runs(&detector, &blur, 1, 1); /* a quick one alone does not keep the slow one in mind */
    }
    assert_in_range(lost_among(&detector, &median, 15), 100 + HANG_TIMES * TOGETHER_MS,
                    105 + HANG_TIMES * TOGETHER_MS);
    assert_in_range(lost_after(&detector, &blur), 100 + 3 * HANG_TIMES * TOGETHER_MS,
                    105 + 4 * HANG_TIMES * TOGETHER_MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_past_concurrency, reset),
        cmocka_unit_test_setup(test_concurrent_runs, reset),
        cmocka_unit_test_setup(test_a_slow_one_alone, reset),
        cmocka_unit_test_setup(test_one_after_concurrent_runs, reset),
        cmocka_unit_test_setup(test_where_classes_begin, reset),
        cmocka_unit_test_setup(test_between_two_classes, reset),
        cmocka_unit_test_setup(test_what_is_long_ago, reset),
        cmocka_unit_test_setup(test_the_last_of_slow_runs, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
