/* SPDX-License-Identifier: MIT
 * The queue of jobs whose files the device reads, beside the others of server/queue/admission.h. */
#include "tests/unit/server/queue/admission_fixture.h"

static struct desk make_desk_of(unsigned workers, unsigned decoders) {
    struct desk desk = make_desk(1, true);
    desk.admission.limits.workers = workers;
    desk.admission.limits.entropy_decodes = decoders;
    return desk;
}

/* Lets half of the general workers run readable jobs, so that the next ones are the decoders'. */
static struct desk make_busy_desk(unsigned decoders) {
    struct desk desk = make_desk_of(2, decoders);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    return desk;
}

static void test_cores_read_while_few_are_in_progress(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4, 8);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(enter_readable(&desk, 10, 40, 1), REFUSAL_NONE);
        assert_int_equal(desk.job[i].way, WAY_GPU_COEFFICIENTS);
        assert_int_equal(desk.job[i].kind, JOB_SMALL);
        assert_int_equal(take(&desk, ROLE_ANY), i);
    }
    assert_int_equal(desk.admission.decoding, 2);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[2].way, WAY_GPU_SCANS);
    assert_int_equal(desk.job[2].kind, JOB_ENTROPY_DECODE);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_DEVICE), -1);
    assert_int_equal(take(&desk, ROLE_LARGE), -1);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 2);
    assert_int_equal(desk.admission.queue[JOB_ENTROPY_DECODE].running_ns, 40 * MS);
    done(&desk, 0);
    enter_readable(&desk, 10, 40, 1); /* a core is free of such jobs again */
    assert_int_equal(desk.job[3].way, WAY_GPU_COEFFICIENTS);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), -1);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    for (int i = 1; i < 4; i++) {
        done(&desk, i);
    }
    assert_idle(&desk);
}

/* Where general workers leave all to the device, it reads the first file, too. */
static void test_nothing_shared(void **state) {
    (void)state;
    struct desk desk = make_desk(1, false);
    desk.admission.limits.entropy_decodes = 2;
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[0].way, WAY_GPU_SCANS);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 0);
    assert_int_equal(desk.admission.room.bytes, 1);
    done(&desk, 0);
    desk.admission.device_down = true;
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[1].way, WAY_GPU_COEFFICIENTS);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(desk.admission.room.bytes, 10);
    done(&desk, 1);
    assert_idle(&desk);
}

/* One general worker alone reads one file at a time. */
static void test_one_worker(void **state) {
    (void)state;
    struct desk desk = make_desk_of(1, 8);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 0);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[0].way, WAY_GPU_COEFFICIENTS);
    assert_int_equal(desk.job[1].way, WAY_GPU_SCANS);
}

/* Where small jobs wait for a core, no further one is needed. */
static void test_small_jobs_wait(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4, 8);
    for (int i = 0; i < 4; i++) {
        enter(&desk, 10, 0, 1);
        assert_int_equal(take(&desk, ROLE_ANY), i);
    }
    enter_readable(&desk, 10, 40, 1); /* all workers are busy, and none waits yet */
    assert_int_equal(desk.job[4].way, WAY_GPU_COEFFICIENTS);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[5].way, WAY_GPU_SCANS);
    done(&desk, 0);
    enter(&desk, 2000, 0, 1); /* large ones have workers of their own */
    assert_int_equal(take(&desk, ROLE_ANY), 4);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[7].way, WAY_GPU_COEFFICIENTS);
}

/* A job that an idle worker is about to take does not count as one that waits. */
static void test_idle_workers_come_first(void **state) {
    (void)state;
    struct desk desk = make_desk_of(4, 8);
    for (unsigned i = 0; i < 3; i++) {
        enter(&desk, 10, 0, 1);
    }
    enter_readable(&desk, 10, 40, 1); /* the fourth worker takes it */
    assert_int_equal(desk.job[3].way, WAY_GPU_COEFFICIENTS);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[4].way, WAY_GPU_SCANS);
}

static void test_without_decoders(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(0);
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[1].way, WAY_GPU_COEFFICIENTS);
    desk = make_busy_desk(8);
    desk.admission.device_down = true;
    enter_readable(&desk, 10, 40, 1);
    assert_int_equal(desk.job[1].way, WAY_GPU_COEFFICIENTS);
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    done(&desk, 0);
    done(&desk, 1);
    assert_idle(&desk);
}

/* A job of the decoders takes no core, however long one would need. */
static void test_none_is_large(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(8);
    enter_readable(&desk, 2000, 40, 1);
    assert_int_equal(desk.job[1].way, WAY_GPU_SCANS);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 1);
    done(&desk, 0);
    enter_readable(&desk, 2000, 40, 1);
    assert_int_equal(desk.job[2].way, WAY_GPU_COEFFICIENTS);
    assert_int_equal(desk.job[2].kind, JOB_LARGE);
    assert_int_equal(take(&desk, ROLE_LARGE), 2);
    done(&desk, 1);
    done(&desk, 2);
    assert_idle(&desk);
}

static void test_waits(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(4);
    const struct admission *admission = &desk.admission;
    assert_int_equal(admission_wait(admission, JOB_ENTROPY_DECODE, desk.now), 0);
    for (unsigned i = 0; i < 6; i++) {
        enter_readable(&desk, 10, 40, 1);
    }
    assert_int_equal(admission_wait(admission, JOB_ENTROPY_DECODE, desk.now), 60 * MS);
    assert_int_equal(admission_wait(admission, JOB_SMALL, desk.now), 0);
    for (int i = 1; i < 5; i++) {
        assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), i);
    }
    assert_int_equal(admission_wait(admission, JOB_ENTROPY_DECODE, desk.now), 40 * MS);
    struct job hasty = make_job(MS, WAY_GPU_SCANS, MS, 0);
    hasty.max_wait_ns = 39 * MS;
    assert_int_equal(admission_enter(&desk.admission, &hasty, desk.now), REFUSAL_WAIT);
    assert_int_equal(desk.admission.decoding, 1);
    hasty.max_wait_ns = 40 * MS;
    assert_int_equal(admission_enter(&desk.admission, &hasty, desk.now), REFUSAL_NONE);
    assert_int_equal(admission_waiting(admission), 3);
}

/* Beside a standing queue of small jobs the decoders are not refused. */
static void test_beside_a_queue_that_stands(void **state) {
    (void)state;
    struct desk desk = make_desk_of(2, 4);
    for (unsigned i = 0; i < 20; i++) {
        enter(&desk, 20, 0, 1);
    }
    desk.admission.standing = true;
    assert_int_equal(enter(&desk, 20, 0, 1), REFUSAL_STANDING);
    assert_int_equal(enter_readable(&desk, 20, 40, 1), REFUSAL_NONE);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 21);
}

static void test_full(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(4);
    for (unsigned i = 0; i < desk.admission.limits.queue; i++) {
        assert_int_equal(enter_readable(&desk, 10, 40, 1), REFUSAL_NONE);
    }
    assert_int_equal(enter_readable(&desk, 10, 40, 1), REFUSAL_QUEUE);
    assert_int_equal(enter(&desk, 10, 0, 1), REFUSAL_QUEUE);
}

static void test_memory(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(4);
    enter_readable(&desk, 10, 40, 700);
    enter_readable(&desk, 10, 40, 400);
    enter_readable(&desk, 10, 40, 200);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 1);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 3); /* the oldest that fits */
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), -1);
    done(&desk, 1);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 2);
    done(&desk, 0);
    done(&desk, 2);
    done(&desk, 3);
    assert_idle(&desk);
}

/* Every worker finds jobs that came too late, and none of them stays counted. */
static void test_what_came_too_late(void **state) {
    (void)state;
    static const enum role roles[] = {ROLE_ANY, ROLE_LARGE, ROLE_DEVICE, ROLE_ENTROPY_DECODE};
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        struct desk desk = make_desk_of(2, 4);
        enum refusal refusal;
        enter_readable(&desk, 10, 40, 1);
        enter_readable(&desk, 10, 40, 1);
        assert_int_equal(desk.job[0].way, WAY_GPU_COEFFICIENTS);
        assert_int_equal(desk.job[1].way, WAY_GPU_SCANS);
        desk.now += 10000 * MS;
        for (unsigned j = 0; j < 2; j++) {
            assert_ptr_equal(admission_take(&desk.admission, roles[i], desk.now, &refusal), &desk.job[j]);
            assert_int_equal(refusal, REFUSAL_DEADLINE);
            assert_int_equal(desk.admission.decoding, 0);
        }
        assert_idle(&desk);
    }
}

static void test_clear(void **state) {
    (void)state;
    struct desk desk = make_desk_of(2, 4);
    enter_readable(&desk, 10, 40, 1);
    enter_readable(&desk, 10, 40, 1);
    enter(&desk, 10, 5, 1);
    static const int order[] = {0, 2, 1};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(desk.admission.decoding, i == 0);
        assert_ptr_equal(admission_clear(&desk.admission), &desk.job[order[i]]);
    }
    assert_null(admission_clear(&desk.admission));
    assert_idle(&desk);
}

/* General workers then take the oldest job, as an ordinary one. */
static void test_a_device_that_is_down(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(2);
    desk.admission.limits.shared = false;
    for (unsigned i = 0; i < 4; i++) {
        enter_readable(&desk, 20, 40, 1);
    }
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 1);
    assert_false(admission_overflows(&desk.admission, desk.now));
    desk.admission.device_down = true;
    assert_true(admission_overflows(&desk.admission, desk.now));
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    assert_int_equal(desk.job[2].way, WAY_GPU_COEFFICIENTS);
    assert_int_equal(desk.admission.decoding, 2);
    assert_int_equal(desk.admission.queue[JOB_SMALL].running_ns, 30 * MS);
    assert_int_equal(desk.admission.queue[JOB_ENTROPY_DECODE].waiting_ns, 80 * MS);
    assert_int_equal(take(&desk, ROLE_LARGE), -1);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    assert_int_equal(take(&desk, ROLE_ENTROPY_DECODE), 4); /* decoders compute in the end as well */
    assert_int_equal(desk.job[4].way, WAY_GPU_SCANS);
    for (int i = 0; i < 5; i++) {
        done(&desk, i);
    }
    assert_idle(&desk);
}

/* A general worker needs more memory for such a job than a decoder does. */
static void test_memory_of_a_job_that_moves(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(4);
    enter_readable(&desk, 10, 40, 60);
    enter_readable(&desk, 10, 40, 60);
    desk.admission.device_down = true;
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(desk.admission.room.bytes, 610);
    done(&desk, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    done(&desk, 0);
    done(&desk, 2);
    assert_idle(&desk);
}

/* Half of the general workers stay free of large ones, and these do not keep the device's jobs waiting. */
static void test_large_ones_of_a_device_that_is_down(void **state) {
    (void)state;
    struct desk desk = make_busy_desk(2);
    for (unsigned i = 0; i < 2; i++) {
        enter_readable(&desk, 500, 40, 1);
    }
    enter(&desk, 10, 5, 1);
    desk.admission.device_down = true;
    assert_int_equal(take(&desk, ROLE_ANY), 1);
    assert_int_equal(desk.job[1].kind, JOB_LARGE);
    assert_int_equal(desk.admission.large_on_general, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    done(&desk, 1);
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    done(&desk, 0);
    done(&desk, 2);
    done(&desk, 3);
    assert_idle(&desk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory_of_a_job_that_moves),
        cmocka_unit_test(test_nothing_shared),
        cmocka_unit_test(test_cores_read_while_few_are_in_progress),
        cmocka_unit_test(test_one_worker),
        cmocka_unit_test(test_small_jobs_wait),
        cmocka_unit_test(test_idle_workers_come_first),
        cmocka_unit_test(test_without_decoders),
        cmocka_unit_test(test_none_is_large),
        cmocka_unit_test(test_waits),
        cmocka_unit_test(test_beside_a_queue_that_stands),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_what_came_too_late),
        cmocka_unit_test(test_clear),
        cmocka_unit_test(test_a_device_that_is_down),
        cmocka_unit_test(test_large_ones_of_a_device_that_is_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
