/* SPDX-License-Identifier: MIT */
#include "core/status.h"

#include <string.h>

/* Before cmocka, which has a macro called fail. */
static enum status fail_number(struct error *err, int number) {
    return fail(err, ST_CORRUPT, "row %d of %s", number, "many");
}

static enum status fail_text(struct error *err, const char *text) {
    return fail(err, ST_LIMIT, "%s", text);
}

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_names(void **state) {
    (void)state;
    for (unsigned i = 0; i < ST_COUNT; i++) {
        const char *name = status_name(i);
        assert_non_null(name);
        assert_true(name[0] && strspn(name, "abcdefghijklmnopqrstuvwxyz-") == strlen(name));
        for (unsigned j = 0; j < i; j++) {
            assert_string_not_equal(name, status_name(j));
        }
    }
    assert_string_equal(status_name(ST_CORRUPT), "corrupt");
    assert_string_equal(status_name(ST_COUNT), "unknown");
    assert_string_equal(status_name((enum status) - 1), "unknown");
}

static void test_fail(void **state) {
    (void)state;
    struct error err = {0};
    assert_int_equal(fail_argument(&err, "sigma", "it is %d", 3), ST_ARGUMENT);
    assert_int_equal(err.status, ST_ARGUMENT);
    assert_string_equal(err.parameter, "sigma");
    assert_string_equal(err.text, "it is 3");
    assert_int_equal(fail_number(&err, 7), ST_CORRUPT);
    assert_int_equal(err.status, ST_CORRUPT);
    assert_string_equal(err.parameter, "");
    assert_string_equal(err.text, "row 7 of many");
    assert_int_equal(fail_naming(&err, ST_NOTHING, "mask", "it is %d", 3), ST_NOTHING);
    assert_int_equal(err.status, ST_NOTHING);
    assert_string_equal(err.parameter, "mask");
    assert_int_equal(fail_number(NULL, 7), ST_CORRUPT);
    assert_int_equal(fail_argument(NULL, "sigma", "x"), ST_ARGUMENT);
}

static void test_cutting(void **state) {
    (void)state;
    struct error err = {0};
    char text[2 * ERROR_TEXT_MAX];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    assert_int_equal(fail_text(&err, text), ST_LIMIT);
    assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
    assert_int_equal(fail_argument(&err, text, "%s", text), ST_ARGUMENT);
    assert_int_equal(strlen(err.parameter), ERROR_PARAMETER_MAX - 1);
    assert_int_equal(strlen(err.text), ERROR_TEXT_MAX - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_fail),
        cmocka_unit_test(test_cutting),
    };
    return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
