/* SPDX-License-Identifier: MIT
 * A list has the calls that it was given, and no other. */
#include "core/process/call_list.h"

#include <seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const int calls[] = {SCMP_SYS(read), SCMP_SYS(write), __NR_SCMP_ERROR};
static const struct call_rule rules[] = {
    {SCMP_SYS(ioctl), 1, CALL_WHOLE, 1}, {SCMP_SYS(fcntl), 1, CALL_WHOLE, 1}, {__NR_SCMP_ERROR, 0, 0, 0}};

/* The last one is no call, for which there is an error. */
static void test_count(void **state) {
    (void)state;
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(1));
    assert_non_null(filter);
    assert_int_equal(call_list_allow(filter, calls, 2), 0);
    assert_int_equal(call_list_allow_rules(filter, rules, 2), 0);
    assert_int_not_equal(call_list_allow(filter, calls, 3), 0);
    assert_int_not_equal(call_list_allow_rules(filter, rules, 3), 0);
    seccomp_release(filter);
}

/* An error is kept when later calls succeed. */
static void test_the_first_error_counts(void **state) {
    (void)state;
    static const int wrong_first[] = {__NR_SCMP_ERROR, SCMP_SYS(read)};
    static const struct call_rule wrong_rule[] = {{__NR_SCMP_ERROR, 0, 0, 0}, {SCMP_SYS(ioctl), 1, 1, 1}};
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(1));
    assert_non_null(filter);
    assert_int_not_equal(call_list_allow(filter, wrong_first, 2), 0);
    assert_int_not_equal(call_list_allow_rules(filter, wrong_rule, 2), 0);
    seccomp_release(filter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_the_first_error_counts),
    };
    return cmocka_run_group_tests_name("call_list", tests, NULL, NULL);
}
