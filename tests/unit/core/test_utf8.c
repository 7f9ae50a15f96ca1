/* SPDX-License-Identifier: MIT */
#include "core/json/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static void test_valid(void **state) {
    (void)state;
    static const char *const good[] = {"",
                                       "a\x7f",
                                       "\xC2\x80",
                                       "\xE0\xA0\x80",
                                       "\xED\x9F\xBF",
                                       "\xEE\x80\x80",
                                       "\xF0\x90\x80\x80",
                                       "a\xF4\x8F\xBF\xBFz"};
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(utf8_is_valid(good[i]));
    }
}

/* Cut, overlong, surrogates, beyond U+10FFFF, and bytes that begin nothing. */
static void test_invalid(void **state) {
    (void)state;
    static const char *const bad[] = {
        "\x80",     "a\xC3",        "\xC0\x80",         "\xC1\xBF",         "\xE0\x9F\xBF",
        "\xE2\x82", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80",
        "\xFF",     "ok\xFE"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(utf8_is_valid(bad[i]));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_invalid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
