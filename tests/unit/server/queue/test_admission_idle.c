/* SPDX-License-Identifier: MIT
 * When the queue is open, what idle workers mean for the wait, what a standing queue spares, and which jobs
 * tell what is typical. */
#include "tests/unit/server/queue/admission_fixture.h"

static void test_open(void **state) {
    (void)state;
    struct desk desk = make_desk(0, false);
    assert_true(admission_is_open(&desk.admission));
    desk.admission.standing = true;
    assert_false(admission_is_open(&desk.admission));
    desk.admission.standing = false;
    enter(&desk, 10, 0, 1);
    assert_false(admission_is_open(&desk.admission)); /* it waits, though workers are idle */
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    assert_true(admission_is_open(&desk.admission));
    enter(&desk, 10, 0, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_false(admission_is_open(&desk.admission)); /* both workers are busy */
    done(&desk, 0);
    assert_true(admission_is_open(&desk.admission));
    enter(&desk, 2000, 0, 1);
    assert_true(desk.job[2].kind == JOB_LARGE && admission_is_open(&desk.admission));
    desk.admission.limits.queue = 1; /* and that many wait */
    assert_false(admission_is_open(&desk.admission));
}

/* The predicted wait is 0 while a general worker is idle, also when all workers for large jobs are busy. */
static void test_wait_beside_idle_workers(void **state) {
    (void)state;
    struct desk desk = make_desk(0, false);
    assert_int_equal(admission_wait(&desk.admission, JOB_DEVICE, desk.now), 0); /* there is none */
    enter(&desk, 10, 0, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 0);
    enter(&desk, 10, 0, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 5 * MS);
    done(&desk, 1);
    enter(&desk, 2000, 0, 1);
    assert_int_equal(take(&desk, ROLE_LARGE), 2);
    assert_int_equal(admission_wait(&desk.admission, JOB_SMALL, desk.now), 0);
}

/* A queue that is long, but does not stand, is served in the order of arrival. */
static void test_order_of_a_burst(void **state) {
    (void)state;
    struct desk desk = make_desk(0, false);
    for (unsigned i = 0; i < 30; i++) {
        assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_NONE);
    }
    assert_true(admission_wait(&desk.admission, JOB_SMALL, desk.now) > 2 * admission_target(&desk.admission));
    assert_int_equal(take(&desk, ROLE_ANY), 0);
}

/* Large jobs wait by intention, so a standing queue does not drop them for their age. */
static void test_old_large_jobs(void **state) {
    (void)state;
    struct desk desk = make_desk(0, false);
    assert_int_equal(enter(&desk, 2000, 0, 1), REFUSAL_NONE);
    for (unsigned i = 0; i < 10; i++) {
        enter(&desk, 10, 0, 1);
    }
    desk.admission.standing = true;
    desk.now += 1000 * MS;
    enum refusal refusal;
    for (unsigned i = 1; i <= 10; i++) {
        assert_ptr_equal(admission_take(&desk.admission, ROLE_LARGE, desk.now, &refusal), &desk.job[i]);
        assert_int_equal(refusal, REFUSAL_AGE);
    }
    assert_int_equal(take(&desk, ROLE_LARGE), 0);
}

/* A client can send any number of pictures that claim to be large and are refused, before or after they
 * begin.
 */
static void test_refused_ones_do_not_make_large_ones_usual(void **state) {
    (void)state;
    struct desk desk = make_desk(0, false);
    for (unsigned i = 0; i < 20 * JOBS; i++) {
        desk.used = 0;
        enter(&desk, 400, 0, 1);
        assert_int_equal(desk.job[0].kind, JOB_LARGE);
        assert_int_equal(take(&desk, ROLE_LARGE), 0);
        admission_done(&desk.admission, &desk.job[0], desk.now);
        desk.job[1] = make_job(400 * MS, WAY_GPU_FILE, 0, 0);
        desk.job[1].max_wait_ns = -1;
        assert_int_equal(admission_enter(&desk.admission, &desk.job[1], desk.now), REFUSAL_WAIT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_wait_beside_idle_workers),
        cmocka_unit_test(test_order_of_a_burst),
        cmocka_unit_test(test_old_large_jobs),
        cmocka_unit_test(test_refused_ones_do_not_make_large_ones_usual),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
