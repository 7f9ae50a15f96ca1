/* SPDX-License-Identifier: MIT
 * The time of a GPU in equal parts: the clock before and after each call bounds what a run may get. */
#include "core/clock.h"
#include "gpu/front/shared_time.h"
/* last, see CONTRIBUTING.md */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SOME_NS = 2000000 };

static int64_t pass_some_time(void) {
    const int64_t until = clock_ns() + SOME_NS;
    int64_t now;
    while ((now = clock_ns()) < until) {
    }
    return now;
}

static void test_a_run_that_is_alone_gets_all(void **state) {
    (void)state;
    struct shared_time time;
    shared_time_init(&time);
    for (int i = 0; i < 2; i++) { /* no run gets the time between two runs */
        const int64_t before = clock_ns(), run = shared_time_begin(&time), begun = clock_ns();
        const int64_t ending = pass_some_time(), part = shared_time_end(&time, run);
        assert_in_range(part, ending - begun, clock_ns() - before);
        pass_some_time();
    }
    shared_time_finish(&time);
}

static void test_two_runs_get_halves_while_both_are_in_progress(void **state) {
    (void)state;
    struct shared_time time;
    shared_time_init(&time);
    const int64_t before = clock_ns(), first = shared_time_begin(&time), alone = clock_ns();
    const int64_t joining = pass_some_time(), second = shared_time_begin(&time), joined = clock_ns();
    const int64_t leaving = pass_some_time(), half = shared_time_end(&time, second), left = clock_ns();
    const int64_t ending = pass_some_time(), most = shared_time_end(&time, first), ended = clock_ns();
    assert_in_range(half, (leaving - joined) / 2, (left - joining) / 2 + 1);
    assert_in_range(most, joining - alone + (leaving - joined) / 2 + ending - left, ended - before);
    assert_in_range(half + most, 0, ended - before);
    shared_time_finish(&time);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_run_that_is_alone_gets_all),
        cmocka_unit_test(test_two_runs_get_halves_while_both_are_in_progress),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
