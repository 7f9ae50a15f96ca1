/* SPDX-License-Identifier: MIT
 * What helpers compute for a request while its worker waits is the request's, not time that it waited. */
#include "server/picture/time_spent.h"

#include "core/clock.h"
#include "server/request.h"
#include "server/service.h"
#include "tests/unit/core/helped_fixture.h"

static void test_helpers_compute(void **state) {
    (void)state;
    static struct service service;
    static struct request request = {.service = &service};
    struct worker worker = {0};
    struct helpers *helpers = helpers_start(1, 1, false);
    helpers_await(helpers);
    const struct time_spent begun = time_spent_begin(&request, &worker);
    run_helped(helpers);
    time_spent_end(&begun, &request, &worker);
    const int64_t elapsed = clock_ns() - begun.now_ns;
    assert_in_range(request.outcome.computed_ns, HELPED_NS * 9 / 10, elapsed);
    assert_true(request.outcome.idle_ns <= elapsed - HELPED_NS * 9 / 10);
    helpers_stop(helpers);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_helpers_compute)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
