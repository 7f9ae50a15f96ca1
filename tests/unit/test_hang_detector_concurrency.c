/* SPDX-License-Identifier: MIT
 * When a device counts as lost that does several runs at a time. Time is what the test says. */
#include "tests/unit/hang_detector_fixture.h"

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
static void test_a_crowd_of_the_past(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    do_runs(&detector, &median, HANG_RUNS, 0);
    do_among(&detector, 9, 10 * TOOK_MS);
    const int limit = 100 + 10 * HANG_TIMES * TOOK_MS;
    assert_in_range(lost_among(&detector, &median, 9), limit, limit + 5);
    /* A crowd of 8 is the smallest of that history. */
    assert_in_range(lost_after(&detector, &blur), 100 + 8 * HANG_TIMES * TOOK_MS,
                    105 + 8 * HANG_TIMES * TOOK_MS);
    do_runs(&detector, &blur, HANG_RUNS, TOOK_MS);
    assert_in_range(lost_after(&detector, &blur), 116, 121);
}

enum { CROWD = 28, CROWDS = 3 /* more than HANG_RUNS */, CROWD_MS = 8, ALONE_MS = 18, LATE_MS = 15 };

/* As many runs end at once, while their thread is late before and after. */
static void do_a_crowd(struct hang_detector *detector, int64_t late) {
    struct hang_detector_watch watch[CROWD];
    for (int i = 0; i < CROWD; i++) {
        hang_detector_begin(detector, &watch[i], &blur, now);
    }
    now += late;
    for (int i = 0; i < CROWD; i++) {
        hang_detector_handed(detector, &watch[i], now);
    }
    for (int i = 0; i < CROWD * CROWD_MS; i++) {
        now += i % CROWD == 0 ? MS : 0;
        hang_detector_look(detector, &watch[i % CROWD], now);
    }
    now += late;
    for (int i = 0; i < CROWD; i++) {
        hang_detector_note(detector, &watch[i]);
        hang_detector_end(detector, &watch[i]);
    }
}

/* The last one to be noted is alone by then, but that is no time of one alone. A thread that gets a core late
 * makes no difference. */
static void test_crowds(void **state) {
    (void)state;
    for (int64_t late = 0; late <= LATE_MS * MS; late += LATE_MS * MS) {
        struct hang_detector detector = {0};
        do_runs(&detector, &blur, HANG_RUNS, 0.1);
        for (int i = 0; i < CROWDS; i++) {
            do_a_crowd(&detector, late);
        }
        assert_in_range(lost_after(&detector, &blur), 101, 107);
        assert_in_range(lost_among(&detector, &blur, CROWD - 1), 100 + HANG_TIMES * CROWD_MS,
                        105 + 2 * HANG_TIMES * CROWD_MS);
    }
}

/* One that is alone leaves most of the device idle: a crowd takes as long as that one, but not as many times.
 */
static void test_a_slow_one_alone(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    for (int i = 0; i < CROWDS; i++) {
        do_a_crowd(&detector, 0);
    }
    assert_in_range(lost_among(&detector, &blur, CROWD - 1), 100, 105 + 2 * HANG_TIMES * CROWD_MS);
    do_runs(&detector, &blur, HANG_RUNS, ALONE_MS);
    const int limit = 100 + HANG_TIMES * ALONE_MS;
    assert_in_range(lost_after(&detector, &blur), limit, limit + 5);
    assert_in_range(lost_among(&detector, &blur, CROWD - 1), limit, limit + 5);
}

/* A single run may take as long as a crowd did if only crowds are known. do_a_crowd leaves histories of 14 to
 * 28 runs, which divide its time, so the limit is half of the crowd's time at least. */
static void test_one_after_a_crowd(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    for (int i = 0; i < CROWDS; i++) {
        do_a_crowd(&detector, 0);
    }
    assert_in_range(lost_after(&detector, &blur), 100 + HANG_TIMES * CROWD_MS / 2,
                    105 + HANG_TIMES * CROWD_MS);
}

/* Classes begin at 2, 4, 8 and 16 runs. The larger crowd has the longer limit, the smaller one keeps its own.
 */
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

/* A crowd without a history takes no more than a larger one, though one alone took long for its size. */
static void test_between_two_crowds(void **state) {
    (void)state;
    enum { ALONE = 4, AMONG_16 = 10 };
    struct hang_detector detector = {0};
    do_runs(&detector, &median, HANG_RUNS, 0);
    do_among(&detector, 0, ALONE);
    do_among(&detector, 15, AMONG_16);
    assert_in_range(lost_among(&detector, &median, 7), 100 + HANG_TIMES * AMONG_16,
                    105 + HANG_TIMES * AMONG_16);
}

/* A crowd that the device does one after the other. The last one is alone for a while, but has waited for
 * all. */
static void test_the_last_of_a_slow_crowd(void **state) {
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
                assert_int_not_equal(hang_detector_look(&detector, &watch[j], now), HANG_LOST);
            }
        }
        hang_detector_note(&detector, &watch[i]);
        hang_detector_end(&detector, &watch[i]);
    }
}

/* What took long alone says nothing of a crowd any more when many others have come. For one alone it counts.
 */
static void test_what_is_long_ago(void **state) {
    (void)state;
    struct hang_detector detector = {0};
    do_runs(&detector, &median, HANG_RUNS, 0);
    do_among(&detector, 0, 4 * CROWD_MS);
    do_among(&detector, 15, CROWD_MS);
    assert_in_range(lost_among(&detector, &median, 15), 100 + 4 * HANG_TIMES * CROWD_MS,
                    105 + 4 * HANG_TIMES * CROWD_MS);
    for (int i = 0; i <= HANG_RECENT / HANG_RUNS; i++) {
        do_among(&detector, 15, CROWD_MS);
        do_runs(&detector, &blur, 1, 1); /* a quick one alone does not keep the slow one in mind */
    }
    assert_in_range(lost_among(&detector, &median, 15), 100 + HANG_TIMES * CROWD_MS,
                    105 + HANG_TIMES * CROWD_MS);
    assert_in_range(lost_after(&detector, &blur), 100 + 3 * HANG_TIMES * CROWD_MS,
                    105 + 4 * HANG_TIMES * CROWD_MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_crowd_of_the_past, reset),
        cmocka_unit_test_setup(test_crowds, reset),
        cmocka_unit_test_setup(test_a_slow_one_alone, reset),
        cmocka_unit_test_setup(test_one_after_a_crowd, reset),
        cmocka_unit_test_setup(test_where_classes_begin, reset),
        cmocka_unit_test_setup(test_between_two_crowds, reset),
        cmocka_unit_test_setup(test_what_is_long_ago, reset),
        cmocka_unit_test_setup(test_the_last_of_a_slow_crowd, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
