/* SPDX-License-Identifier: MIT
 * Which bodies an event thread reads now, and which one later. */
#include "core/tuned.h"
#include "server/http/body_throttle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { LIMIT = 3, MANY = 10 };
#define MS INT64_C(1000000)
#define READING_MS (TUNED_BODY_READ_NS / MS)
#define WAITING_MS (TUNED_BODY_WAIT_NS / MS)

static struct body_throttle throttle;
static struct body_throttle_turn turn[MANY];

static int fresh(void **state) {
    (void)state;
    throttle = (struct body_throttle){.limit = LIMIT};
    for (unsigned i = 0; i < MANY; i++) {
        turn[i] = (struct body_throttle_turn){0};
    }
    return 0;
}

static bool begins(unsigned i, int64_t ms) {
    return body_throttle_begin(&throttle, &turn[i], ms * MS);
}

static void next_is(int expected, int64_t ms) {
    assert_ptr_equal(body_throttle_next(&throttle, ms * MS, false), expected < 0 ? NULL : &turn[expected]);
}

static void fill(int64_t ms) {
    for (unsigned i = 0; i < LIMIT; i++) {
        assert_true(begins(i, ms));
    }
}

static void test_limits(void **state) {
    (void)state;
    assert_int_equal(body_throttle_limit(0, 8), 0);
    assert_int_equal(body_throttle_limit(28, 8), 18);
    assert_int_equal(body_throttle_limit(56, 16), 18);
    assert_int_equal(body_throttle_limit(1, 8), 8);
    assert_int_equal(body_throttle_limit(28, 1), 140);
}

static void test_no_limit(void **state) {
    (void)state;
    throttle.limit = 0;
    for (unsigned i = 0; i < MANY; i++) {
        assert_true(begins(i, 0));
        body_throttle_work(&throttle, &turn[i]);
    }
    next_is(-1, 1000);
    assert_int_equal(body_throttle_wait_ms(&throttle, 0), -1);
}

/* Bodies are read in the order of their requests, one for each answer. */
static void test_the_oldest_is_next(void **state) {
    (void)state;
    fill(0);
    for (unsigned i = 0; i < LIMIT; i++) {
        body_throttle_work(&throttle, &turn[i]);
    }
    for (unsigned i = LIMIT; i < LIMIT + 3; i++) {
        assert_false(begins(i, 1));
    }
    next_is(-1, 2);
    body_throttle_end(&throttle, &turn[1]);
    assert_false(begins(8, 2)); /* a new body does not overtake waiting ones */
    next_is(LIMIT, 2);
    next_is(-1, 2);
    body_throttle_end(&throttle, &turn[LIMIT]); /* its client is gone */
    next_is(LIMIT + 1, 3);
    body_throttle_end(&throttle, &turn[LIMIT + 2]); /* a client goes while it waits */
    body_throttle_end(&throttle, &turn[0]);
    next_is(8, 3);
    next_is(-1, 3);
    body_throttle_end(&throttle, &turn[2]);
    body_throttle_end(&throttle, &turn[8]);
    assert_true(begins(9, 4));
}

/* Only bodies that arrive soon are counted. */
static void test_slow_clients(void **state) {
    (void)state;
    fill(0);
    assert_false(begins(3, 1));
    assert_int_equal(body_throttle_wait_ms(&throttle, 1 * MS), READING_MS - 1);
    assert_int_equal(body_throttle_wait_ms(&throttle, 1 * MS + 1), READING_MS - 1); /* never too early */
    next_is(-1, READING_MS - 1);
    assert_int_equal(body_throttle_wait_ms(&throttle, READING_MS * MS), 0);
    next_is(3, READING_MS);
    body_throttle_work(&throttle, &turn[0]); /* counted again when it is there */
    body_throttle_work(&throttle, &turn[1]);
    assert_false(begins(4, READING_MS));
    body_throttle_end(&throttle, &turn[2]); /* was not counted */
    next_is(-1, READING_MS);
    body_throttle_end(&throttle, &turn[3]);
    next_is(4, READING_MS);
}

/* However long the workers take, no body waits for longer than TUNED_BODY_WAIT_NS. */
static void test_the_longest_wait(void **state) {
    (void)state;
    fill(0);
    for (unsigned i = 0; i < LIMIT; i++) {
        body_throttle_work(&throttle, &turn[i]);
    }
    assert_false(begins(3, 5));
    assert_false(begins(4, 6));
    assert_int_equal(body_throttle_wait_ms(&throttle, 6 * MS), WAITING_MS - 1);
    next_is(-1, WAITING_MS + 4);
    next_is(3, WAITING_MS + 5);
    next_is(-1, WAITING_MS + 5);
    next_is(4, WAITING_MS + 6);
    assert_int_equal(body_throttle_wait_ms(&throttle, 0), -1);
}

static void test_all_at_the_end(void **state) {
    (void)state;
    fill(0);
    assert_false(begins(3, 1));
    assert_false(begins(4, 1));
    assert_ptr_equal(body_throttle_next(&throttle, 1 * MS, true), &turn[3]);
    assert_ptr_equal(body_throttle_next(&throttle, 1 * MS, true), &turn[4]);
    assert_null(body_throttle_next(&throttle, 1 * MS, true));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_limits, fresh),
        cmocka_unit_test_setup(test_no_limit, fresh),
        cmocka_unit_test_setup(test_the_oldest_is_next, fresh),
        cmocka_unit_test_setup(test_slow_clients, fresh),
        cmocka_unit_test_setup(test_the_longest_wait, fresh),
        cmocka_unit_test_setup(test_all_at_the_end, fresh),
    };
    return cmocka_run_group_tests_name("body_throttle", tests, NULL, NULL);
}
