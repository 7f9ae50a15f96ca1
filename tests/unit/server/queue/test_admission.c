/* SPDX-License-Identifier: MIT */
#include "tests/unit/server/queue/admission_fixture.h"

/* Without devices. */
static struct desk make_desk_of(unsigned workers) {
    struct desk desk = make_desk(0, false);
    desk.admission.limits.workers = workers;
    return desk;
}

static void test_order_of_arrival(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_NONE);
    }
    assert_int_equal(admission_waiting(&desk.admission), 3);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(take(&desk, ROLE_ANY), i);
        done(&desk, i);
    }
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 0);
    assert_int_equal(desk.admission.room.bytes, 0);
}

static void test_wait_is_work_over_workers(void **state) {
    (void)state;
    struct desk desk = make_desk_of(2);
    for (unsigned i = 0; i < 6; i++) {
        enter(&desk, 10, 0, 1);
    }
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 30 * MS);
    take(&desk, ROLE_ANY);
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 27 * MS + MS / 2);
    desk.now += 100 * MS; /* the oldest of them has waited for longer than was thought */
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 100 * MS);
}

/* Large jobs get the workers reserved for them, and no others. */
static void test_wait_for_large_jobs_counts_their_workers(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4);
    desk.admission.limits.large_only = 3;
    for (unsigned i = 0; i < 12; i++) {
        enter(&desk, 10, 0, 1);
    }
    for (unsigned i = 0; i < 6; i++) {
        enter(&desk, 1000, 0, 1);
        assert_int_equal(desk.job[12 + i].kind, JOB_LARGE);
    }
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 12 * 10 / 4 * MS);
    assert_int_equal(admission_wait(&desk.admission, JOB_LARGE, desk.now), 6 * 1000 / 3 * MS);
}

static void test_limits_of_a_burst(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    unsigned most = desk.admission.limits.queue;
    assert_true(admission_is_open(&desk.admission));
    for (unsigned i = 0; i < most; i++) {
        assert_int_equal(admission_gate(&desk.admission, 10000 * MS, desk.now), REFUSAL_NONE);
        assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_NONE);
    }
    assert_false(admission_is_open(&desk.admission));
    assert_int_equal(admission_gate(&desk.admission, 10000 * MS, desk.now), REFUSAL_QUEUE);
    assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_QUEUE);
    take(&desk, ROLE_ANY);
    assert_int_equal(admission_gate(&desk.admission, 100 * MS, desk.now), REFUSAL_WAIT);
    assert_int_equal(admission_gate(&desk.admission, 1000 * MS, desk.now), REFUSAL_NONE);
}

/* Without a limit only the wait counts. */
static void test_no_limit_of_a_burst(void **state) {
    (void)state;
    static struct desk desk;
    desk = make_desk_of(1);
    desk.admission.limits.queue = 0;
    for (unsigned i = 0; i < JOBS; i++) {
        assert_int_equal(admission_gate(&desk.admission, 10000 * MS, desk.now), REFUSAL_NONE);
        assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_NONE);
    }
    assert_int_equal(admission_gate(&desk.admission, JOBS * 10 * MS, desk.now), REFUSAL_NONE);
    assert_int_equal(admission_gate(&desk.admission, JOBS * 10 * MS - 1, desk.now), REFUSAL_WAIT);
}

/* Keeps the queue full for so long; returns the last verdict of the gate. */
static enum refusal press(struct desk *desk, int64_t ms) {
    for (int64_t until = desk->now + ms * MS; desk->now < until; desk->now += 5 * MS) {
        admission_gate(&desk->admission, 10000 * MS, desk->now);
    }
    return admission_gate(&desk->admission, 10000 * MS, desk->now);
}

static void test_a_queue_that_stands(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    for (unsigned i = 0; i < 20; i++) {
        enter(&desk, 10, 0, 1);
    }
    assert_int_equal(admission_target(&desk.admission), 50 * MS);
    assert_int_equal(press(&desk, 190), REFUSAL_NONE);
    assert_false(desk.admission.standing);
    assert_int_equal(press(&desk, 20), REFUSAL_STANDING);
    assert_true(desk.admission.standing);
    enum refusal refusal;
    for (unsigned i = 0; i < 20; i++) { /* all have waited for more than twice the target */
        assert_ptr_equal(admission_take(&desk.admission, ROLE_ANY, desk.now, &refusal), &desk.job[i]);
        assert_int_equal(refusal, REFUSAL_AGE);
    }
    assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_NONE);
    assert_int_equal(enter(&desk, 900, 0, 1), REFUSAL_LARGE);
    assert_int_equal(take(&desk, ROLE_ANY), 20);
    assert_true(desk.admission.standing);
    done(&desk, 20);
    desk.now += 700 * MS;
    assert_int_equal(admission_gate(&desk.admission, 10000 * MS, desk.now), REFUSAL_NONE);
    assert_true(desk.admission.standing);
    desk.now += 101 * MS;
    assert_int_equal(admission_gate(&desk.admission, 10000 * MS, desk.now), REFUSAL_NONE);
    assert_false(desk.admission.standing);
}

static void test_newest_first_when_there_is_too_much(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    for (unsigned i = 0; i < 12; i++) {
        enter(&desk, 10, 0, 1);
    }
    desk.admission.standing = true;
    assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_STANDING);
    for (int newest = 11; newest > 9; newest--) {
        assert_int_equal(take(&desk, ROLE_ANY), newest);
        done(&desk, newest);
    }
    assert_int_equal(take(&desk, ROLE_ANY), 0); /* the others can all be served in time */
}

static void test_what_came_too_late(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    enter(&desk, 10, 0, 1);
    desk.now += 10000 * MS;
    enum refusal refusal;
    assert_ptr_equal(admission_take(&desk.admission, ROLE_LARGE, desk.now, &refusal), &desk.job[0]);
    assert_int_equal(refusal, REFUSAL_DEADLINE);
    assert_int_equal(admission_waiting(&desk.admission), 0);
}

static void test_large_ones_are_apart(void **state) {
    (void)state;
    struct desk desk = make_desk_of(2);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(enter(&desk, 2000, 0, 1), REFUSAL_NONE);
        assert_int_equal(desk.job[i].kind, JOB_LARGE);
    }
    assert_int_equal(take(&desk, ROLE_ANY), -1); /* it has too high a priority for them */
    assert_int_equal(take(&desk, ROLE_LARGE), 0);
    enter(&desk, 10, 0, 1);
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 10 * MS / 2);
    assert_int_equal(admission_wait(&desk.admission, JOB_LARGE, desk.now), 7000 * MS);
    assert_int_equal(take(&desk, ROLE_ANY), 4);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    done(&desk, 0);
    assert_int_equal(take(&desk, ROLE_LARGE), 1);
}

static void test_where_all_are_large_none_is(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    for (unsigned i = 0; i < 2 * JOBS; i++) {
        desk.used = 0;
        enter(&desk, 400, 0, 1);
        assert_int_equal(take(&desk, (enum role)desk.job[0].kind), 0);
        done(&desk, 0);
    }
    assert_int_equal(desk.job[0].kind, JOB_SMALL);
    enter(&desk, 5000, 0, 1);
    assert_int_equal(desk.job[1].kind, JOB_LARGE);
}

/* Of the 1500 bytes of the desk jobs have 1000; later jobs pass one for which there is no memory. */
static void test_memory(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4);
    enter(&desk, 10, 0, 700);
    enter(&desk, 10, 0, 600);
    enter(&desk, 10, 0, 240);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    done(&desk, 0);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    done(&desk, 1);
    done(&desk, 2);
}

/* A job that fits with a quarter of its size is admitted; one that needs a byte more is not. */
static void test_memory_to_the_last_byte(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4);
    enter(&desk, 10, 0, 400);
    enter(&desk, 10, 0, 484);
    enter(&desk, 10, 0, 480);
    enter(&desk, 10, 0, 97);
    enter(&desk, 10, 0, 96);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    assert_int_equal(desk.admission.room.bytes, 880);
    assert_int_equal(take(&desk, ROLE_ANY), 4);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    done(&desk, 2);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    done(&desk, 0);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
}

/* While a lone job of 900 bytes runs, other jobs have 300; it waits for its memory, and they do not wait. */
static void test_a_lone_job(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4);
    enter(&desk, 10, 0, 301);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    enter(&desk, 10, 0, 900);
    desk.now += MS;
    enter(&desk, 10, 0, 240);
    enter(&desk, 10, 0, 240);
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    done(&desk, 0);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(desk.admission.room.lone, 900);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    done(&desk, 2);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    done(&desk, 1);
    assert_int_equal(desk.admission.room.lone, 0);
    done(&desk, 3);
    assert_int_equal(desk.admission.room.bytes, 0);
}

/* What waited for the end of one lone job begins before the next one, which has come later. */
static void test_lone_jobs_take_turns(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4);
    enter(&desk, 10, 0, 900);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    enter(&desk, 10, 0, 500);
    desk.now += MS;
    enter(&desk, 10, 0, 900);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(take(&desk, ROLE_ANY), -1);
    }
    done(&desk, 0);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    done(&desk, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 2);
}

/* The same where the older job is in another queue, which a general worker looks at later. */
static void test_a_lone_job_waits_for_other_queues(void **state) {
    (void)state;
    struct desk desk = make_desk_of(2);
    enter(&desk, 2000, 0, 1);
    assert_int_equal(desk.job[0].kind, JOB_LARGE);
    desk.now += MS;
    enter(&desk, 10, 0, 900);
    assert_int_equal(desk.job[1].kind, JOB_SMALL);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_LARGE), 0);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
}

/* A lone job waits for the memory of bodies, but not of its own. */
static void test_a_lone_job_and_bodies(void **state) {
    (void)state;
    struct desk desk = make_desk_of(2);
    enter(&desk, 10, 0, 900);
    desk.job[0].body = 100;
    desk.admission.room.bodies = 351;
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    desk.admission.room.bodies = 350;
    assert_int_equal(take(&desk, ROLE_ANY), 0);
}

static void test_clear(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    enter(&desk, 2000, 0, 1);
    enter(&desk, 10, 0, 1);
    assert_ptr_equal(admission_clear(&desk.admission), &desk.job[1]);
    assert_ptr_equal(admission_clear(&desk.admission), &desk.job[0]);
    assert_null(admission_clear(&desk.admission));
}

/* Arrivals at 3 times what one worker can do, every job as long as predicted: it stays busy, and no request
 * that is served waits for more than twice the target. */
static void test_goodput(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1);
    int64_t end_of_job = 0, busy = 0, start = desk.now, latest = 0;
    int running = -1;
    enum refusal refusal;
    for (unsigned i = 0; i < 20000; i++, desk.now += MS) {
        if (running >= 0 && desk.now >= end_of_job) {
            done(&desk, running);
            running = -1;
        }
        if (i % 3 == 0 && admission_gate(&desk.admission, 10000 * MS, desk.now) == REFUSAL_NONE) {
            desk.used = desk.used % JOBS;
            enter(&desk, 10, 0, 1);
        }
        struct job *job;
        while (running < 0 && (job = admission_take(&desk.admission, ROLE_ANY, desk.now, &refusal))) {
            if (refusal == REFUSAL_NONE) {
                running = (int)(job - desk.job);
                end_of_job = desk.now + job->ways[job->way].ns;
                int64_t waited = desk.now - job->entered_ns;
                latest = desk.now - start > 1000 * MS && waited > latest ? waited : latest;
            }
        }
        busy += running >= 0;
    }
    assert_true(busy > 19900);
    assert_true(latest <= 100 * MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_of_arrival),
        cmocka_unit_test(test_wait_is_work_over_workers),
        cmocka_unit_test(test_wait_for_large_jobs_counts_their_workers),
        cmocka_unit_test(test_limits_of_a_burst),
        cmocka_unit_test(test_no_limit_of_a_burst),
        cmocka_unit_test(test_a_queue_that_stands),
        cmocka_unit_test(test_newest_first_when_there_is_too_much),
        cmocka_unit_test(test_what_came_too_late),
        cmocka_unit_test(test_large_ones_are_apart),
        cmocka_unit_test(test_where_all_are_large_none_is),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_to_the_last_byte),
        cmocka_unit_test(test_a_lone_job),
        cmocka_unit_test(test_lone_jobs_take_turns),
        cmocka_unit_test(test_a_lone_job_waits_for_other_queues),
        cmocka_unit_test(test_a_lone_job_and_bodies),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_goodput),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
