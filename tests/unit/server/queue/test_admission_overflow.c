/* SPDX-License-Identifier: MIT
 * Jobs that workers without a device take from the device's queue. */
#include "tests/unit/server/queue/admission_fixture.h"

/* The device is no faster than the processor. A job that the device will finish sooner is left to it. */
static void test_overflow(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    desk.admission.limits.workers = 16;
    for (unsigned i = 0; i < 8; i++) {
        enter(&desk, 40, 12, 1);
        assert_false(admission_overflows(&desk.admission, desk.now)); /* as none runs, however many wait */
    }
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    assert_int_equal(take(&desk, ROLE_DEVICE), 1);
    /* (6 waiting + half of 2 running) of 12 ms on two devices, and 12 ms of its own: 54 ms */
    for (int newest = 7; newest > 4; newest--) {
        assert_true(admission_overflows(&desk.admission, desk.now));
        assert_int_equal(take(&desk, ROLE_ANY), newest);
        assert_int_equal(desk.job[newest].way, WAY_CPU);
    }
    /* (3 + 1) * 12 / 2 + 12 ms: the processor takes longer */
    assert_false(admission_overflows(&desk.admission, desk.now));
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    for (int i = 2; i < 5; i++) {
        assert_int_equal(take(&desk, ROLE_DEVICE), i);
    }
    for (int i = 0; i < 8; i++) {
        done(&desk, i);
    }
    assert_idle(&desk);
}

/* The processor takes no job from the queue of a faster device, however long the queue is. */
static void test_a_fast_device_keeps_its_queue(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    for (unsigned i = 0; i < 30; i++) {
        enter(&desk, 40, 39, 1);
    }
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_DEVICE), 1);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    enter(&desk, 40, 40, 1); /* for this kind the device is not faster */
    assert_int_equal(take(&desk, ROLE_ANY), 30);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    for (int i = 2; i < 30; i++) {
        done(&desk, i - 2);
        assert_int_equal(take(&desk, ROLE_DEVICE), i);
    }
    done(&desk, 28);
    done(&desk, 29);
    done(&desk, 30);
    assert_idle(&desk);
}

static void test_a_device_that_stalls(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    for (unsigned i = 0; i < 6; i++) {
        enter(&desk, 40, 4, 1);
    }
    desk.now += 5 * ADMISSION_STALL_NS; /* the device was idle because no job was taken */
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_DEVICE), 1);
    desk.now += ADMISSION_STALL_NS - 1;
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    desk.now += 1;
    assert_int_equal(take(&desk, ROLE_ANY), 2);
    done(&desk, 2);
    assert_int_equal(take(&desk, ROLE_ANY), 3);
    done(&desk, 0); /* it goes on */
    assert_int_equal(take(&desk, ROLE_DEVICE), 4);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    done(&desk, 1);
    assert_int_equal(take(&desk, ROLE_DEVICE), 5);
    for (int i = 3; i < 6; i++) {
        done(&desk, i);
    }
    assert_idle(&desk);
}

/* The jobs that have waited longest for the device come first. */
static void test_a_device_that_is_down(void **state) {
    (void)state;
    struct desk desk = make_desk(2, true);
    for (unsigned i = 0; i < 4; i++) {
        enter(&desk, 40, 4, 1);
    }
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    desk.admission.device_down = true;
    for (int i = 1; i < 4; i++) {
        assert_int_equal(take(&desk, ROLE_ANY), i);
        assert_int_equal(desk.job[i].way, WAY_CPU);
    }
    for (int i = 0; i < 4; i++) {
        done(&desk, i);
    }
    assert_idle(&desk);
}

static void test_not_shared(void **state) {
    (void)state;
    struct desk desk = make_desk(1, false);
    for (unsigned i = 0; i < 20; i++) {
        enter(&desk, 1, 50, 1);
    }
    assert_int_equal(take(&desk, ROLE_DEVICE), 0);
    assert_false(admission_overflows(&desk.admission, desk.now));
    assert_int_equal(take(&desk, ROLE_ANY), -1);
    for (int i = 1; i < 20; i++) {
        done(&desk, i - 1);
        assert_int_equal(take(&desk, ROLE_DEVICE), i);
    }
    done(&desk, 19);
    assert_idle(&desk);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_a_fast_device_keeps_its_queue),
        cmocka_unit_test(test_a_device_that_stalls),
        cmocka_unit_test(test_a_device_that_is_down),
        cmocka_unit_test(test_not_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
