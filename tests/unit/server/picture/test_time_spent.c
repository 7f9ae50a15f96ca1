/* SPDX-License-Identifier: MIT
 * What helpers compute for a request while its worker waits is the request's, not time that it waited. */
#include "server/picture/time_spent.h"

#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "core/clock.h"
#include "server/request.h"
#include "server/service.h"
#include "tests/filters/helpers.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { COMPUTED_NS = 20000000 };

static enum status wait_or_compute(void *context, unsigned part, unsigned seat, struct error *err) {
    (void)part;
    (void)err;
    sem_t *computed = context;
    if (seat == 0) {
        sem_wait(computed);
        return ST_OK;
    }
    const int64_t until = clock_thread_ns() + COMPUTED_NS;
    while (clock_thread_ns() < until) {
    }
    sem_post(computed);
    return ST_OK;
}

static void test_helpers_compute(void **state) {
    (void)state;
    static struct service service;
    static struct request request = {.service = &service};
    struct worker worker = {0};
    struct helpers *helpers = helpers_start(1, 1, false);
    sem_t computed;
    sem_init(&computed, 0, 0);
    struct crew_work work = {.part = wait_or_compute, .context = &computed, .parts = 2, .seats = 2};
    helpers_await(helpers);
    const struct time_spent begun = time_spent_begin(&request, &worker);
    assert_int_equal(crew_run(helpers_crew(helpers), &work, NULL), ST_OK);
    time_spent_end(&begun, &request, &worker);
    const int64_t elapsed = clock_ns() - begun.now_ns;
    assert_in_range(request.outcome.computed_ns, COMPUTED_NS * 9 / 10, elapsed);
    assert_true(request.outcome.idle_ns <= elapsed - COMPUTED_NS * 9 / 10);
    helpers_stop(helpers);
    sem_destroy(&computed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_helpers_compute)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
