/* SPDX-License-Identifier: MIT */
#include "server/queue/room.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { BUDGET = 1200, JOBS = 800, LARGEST = 640, MOST = 900 }; /* LARGEST: that is not lone */

static void test_limits(void **state) {
    (void)state;
    assert_int_equal(room_most(BUDGET), MOST);
    assert_int_equal(room_most_body(BUDGET), 300);
    assert_false(room_is_lone(BUDGET, LARGEST));
    assert_true(room_is_lone(BUDGET, LARGEST + 1));
}

/* Bodies have a third whatever jobs take, and jobs have two thirds whatever bodies take. */
static void test_parts(void **state) {
    (void)state;
    struct room room = {.budget = BUDGET, .bodies = BUDGET / 3};
    assert_true(room_fits(&room, LARGEST, 0));
    room_take(&room, LARGEST, 7);
    assert_int_equal(room_for_bodies(&room), 400);
    assert_int_equal(room.bytes, LARGEST);
    assert_true(room_fits(&room, 128, 0));
    assert_false(room_fits(&room, 129, 0));
    assert_true(room_fits(&room, 0, 0));
    room_give(&room, LARGEST);
    assert_int_equal(room.bytes, 0);
}

/* Whatever one job takes, a job of a fifth of its size may begin. */
static void test_no_job_takes_all(void **state) {
    (void)state;
    for (uint64_t bytes = 0; bytes <= MOST; bytes++) {
        struct room room = {.budget = BUDGET};
        assert_true(room_fits(&room, bytes, 0));
        room_take(&room, bytes, 0);
        assert_true(room_fits(&room, bytes / 5 < 120 ? bytes / 5 : 120, 0));
        assert_true(room_for_bodies(&room) >= (BUDGET - MOST) / 2);
        assert_true(room.bytes + room.lone + room_for_bodies(&room) <= BUDGET);
        room_give(&room, bytes);
        assert_int_equal(room.bytes + room.lone + room.lone_body, 0);
    }
}

/* A lone job and its body leave the rest to others, in halves. */
static void test_beside_a_lone_job(void **state) {
    (void)state;
    struct room room = {.budget = BUDGET};
    room_take(&room, 700, 100);
    assert_int_equal(room.lone, 700);
    assert_int_equal(room.lone_body, 100);
    assert_int_equal(room.bytes, 0);
    assert_int_equal(room_for_bodies(&room), 100 + 200);
    assert_true(room_fits(&room, 160, 0));
    assert_false(room_fits(&room, 161, 0));
    assert_false(room_fits(&room, LARGEST + 1, 0)); /* one at a time */
    room_take(&room, 100, 0);
    assert_int_equal(room.bytes, 100);
    assert_true(room_fits(&room, 80, 0));
    assert_false(room_fits(&room, 81, 0));
    room_give(&room, 700);
    assert_int_equal(room.lone + room.lone_body, 0);
    assert_int_equal(room.bytes, 100);
}

/* It begins when neither other jobs nor other bodies hold more than that. */
static void test_a_lone_job_begins(void **state) {
    (void)state;
    struct room room = {.budget = BUDGET, .bytes = 200, .bodies = 300};
    assert_true(room_fits(&room, 700, 100));
    room.bytes = 201;
    assert_false(room_fits(&room, 700, 100));
    room.bytes = 200;
    room.bodies = 301;
    assert_false(room_fits(&room, 700, 100));
    room.bodies = 0; /* its own is not counted any more */
    assert_true(room_fits(&room, 700, 100));
    assert_false(room_fits(&room, BUDGET, 100)); /* nothing is left beside it */
}

/* A job that deceived about its size gets no more than an honest one, but what it had to leave free. */
static void test_growing(void **state) {
    (void)state;
    struct room room = {.budget = BUDGET};
    uint64_t one = 1, two = 1;
    room_take(&room, one, 0);
    room_take(&room, two, 0);
    assert_true(room_grow(&room, &one, MOST, 0));
    assert_int_equal(room.lone, MOST);
    assert_false(room_grow(&room, &two, MOST, 0));
    assert_false(room_grow(&room, &two, (BUDGET - MOST) / 2 + 1, 0));
    assert_int_equal(two, 1);
    assert_true(room_grow(&room, &two, (BUDGET - MOST) / 2, 0));
    room_give(&room, one);
    assert_true(room_grow(&room, &two, LARGEST, 0));
    one = 160;
    assert_false(room_fits(&room, one, 0));
    room_take(&room, one, 0);
    assert_true(room_grow(&room, &one, 200, 0)); /* it left a quarter of itself free */
    assert_int_equal(one, 160);
    assert_false(room_grow(&room, &one, 201, 0));
    room_give(&room, two);
    room_give(&room, one);
    assert_int_equal(room.bytes + room.lone, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_no_job_takes_all),
        cmocka_unit_test(test_beside_a_lone_job),
        cmocka_unit_test(test_a_lone_job_begins),
        cmocka_unit_test(test_growing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
