/* SPDX-License-Identifier: MIT
 * How long an event thread waits while handshakes are under way. */
#include "core/clock.h"
#include "server/http/handshake_backoff.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { LONGEST_MS = 20 };

/* The wait that the library asks for is used while no handshake is stalled. */
static void test_no_rest(void **state) {
    (void)state;
    struct handshake_backoff backoff = {0};
    handshake_backoff_begin(&backoff);
    assert_int_equal(handshake_backoff_wait(&backoff, 0), 0);
    backoff.handshakes = 1;
    backoff.moved = true;
    assert_int_equal(handshake_backoff_wait(&backoff, 0), 0);
    handshake_backoff_begin(&backoff);
    assert_int_equal(handshake_backoff_wait(&backoff, 7), 7);
    assert_int_equal(handshake_backoff_wait(&backoff, -1), -1);
}

/* Progress counts for its own round only. */
static void test_each_round_starts_without_progress(void **state) {
    (void)state;
    struct handshake_backoff backoff = {.handshakes = 1, .moved = true};
    handshake_backoff_begin(&backoff);
    assert_in_range(handshake_backoff_wait(&backoff, 0), 1, LONGEST_MS);
}

/* The rest is four times as long as the round, and never longer than the longest. */
static void test_rest(void **state) {
    (void)state;
    struct handshake_backoff backoff = {.handshakes = 1};
    int64_t ms = LONGEST_MS;
    for (int i = 0; i < 100 && ms == LONGEST_MS; i++) { /* another process may come in between */
        handshake_backoff_begin(&backoff);
        ms = handshake_backoff_wait(&backoff, 0);
    }
    assert_in_range(ms, 1, LONGEST_MS - 1);
    for (int i = 0; i < 100 && ms != 9; i++) {
        backoff.begin = clock_ns() - 2000000;
        ms = handshake_backoff_wait(&backoff, 0);
    }
    assert_int_equal(ms, 9);
    backoff.begin = clock_ns() - 3600 * INT64_C(1000000000);
    assert_int_equal(handshake_backoff_wait(&backoff, 0), LONGEST_MS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_rest),
        cmocka_unit_test(test_each_round_starts_without_progress),
        cmocka_unit_test(test_rest),
    };
    return cmocka_run_group_tests_name("handshake_backoff", tests, NULL, NULL);
}
