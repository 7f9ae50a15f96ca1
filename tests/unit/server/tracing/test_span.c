/* SPDX-License-Identifier: MIT
 * Which requests are exported: not the probes that were answered, and what the caller wants of its trace. */
#include "server/tracing/span.h"

#include "server/request.h"
#include "server/route.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static void answer(struct request *request) {
    (void)request;
}

static void test_wanted(void **state) {
    (void)state;
    static const struct route probe = {.answer = answer}, picture = {0};
    static const struct {
        const struct route *route;
        enum problem problem;
        bool known, sampled, wanted;
    } cases[] = {
        {&picture, PROBLEM_NONE, false, false, true}, {&picture, PROBLEM_NONE, true, true, true},
        {&picture, PROBLEM_NONE, true, false, false}, {&probe, PROBLEM_NONE, false, false, false},
        {&probe, PROBLEM_NONE, true, true, false},    {&probe, PROBLEM_INTERNAL, false, false, true},
        {NULL, PROBLEM_NONE, false, false, true},     {&picture, PROBLEM_INTERNAL, true, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct request request;
        request.route = cases[i].route;
        request.outcome.problem = cases[i].problem;
        request.trace.known = cases[i].known;
        request.trace.sampled = cases[i].sampled;
        assert_int_equal(span_is_wanted(&request), cases[i].wanted);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wanted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
