/* SPDX-License-Identifier: MIT */
#include "core/json/json.h"
#include "tests/unit/core/json_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define BAD "\xEF\xBF\xBD"

static const struct {
    const char *text;
    const char *json;
} escaped[] = {
    {"", ""},
    {"plain /text/", "plain /text/"},
    {"\"", "\\\""},
    {"\\", "\\\\"},
    {"\n\r\t\x01\x1f", "\\u000a\\u000d\\u0009\\u0001\\u001f"},
    {"\x7f", "\\u007f"},
    {"\xc2\x80\xc2\x9b\xc2\x9f", "\\u0080\\u009b\\u009f"},
    {"\xc2\xa0", "\xc2\xa0"},
    {"\xe2\x80\xa8\xe2\x80\xa9", "\\u2028\\u2029"},
    {"\xe2\x80\xa7\xe2\x80\xaa", "\xe2\x80\xa7\xe2\x80\xaa"},
    {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
    {"\xdf\xbf\xe0\xa0\x80", "\xdf\xbf\xe0\xa0\x80"},
    {"\xed\x9f\xbf\xee\x80\x80", "\xed\x9f\xbf\xee\x80\x80"},
    {"\xf0\x90\x80\x80\xf4\x8f\xbf\xbf", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
    {"\x80", BAD},
    {"\xbf\xbf", BAD BAD},
    {"\xff\xfe", BAD BAD},
    {"\xc0\x80", BAD BAD},                         /* overlong zero */
    {"\xc1\xbf", BAD BAD},                         /* overlong DEL */
    {"\xe0\x80\xaf", BAD BAD BAD},                 /* overlong slash */
    {"\xe0\x9f\xbf", BAD BAD BAD},                 /* overlong */
    {"\xed\xa0\x80", BAD BAD BAD},                 /* surrogate */
    {"\xed\xbf\xbf", BAD BAD BAD},                 /* surrogate */
    {"\xf0\x8f\xbf\xbf", BAD BAD BAD BAD},         /* overlong */
    {"\xf4\x90\x80\x80", BAD BAD BAD BAD},         /* beyond U+10FFFF */
    {"\xf5\x80\x80\x80", BAD BAD BAD BAD},         /* never begins anything */
    {"\xf8\x88\x80\x80\x80", BAD BAD BAD BAD BAD}, /* five bytes */
    {"a\xc3", "a" BAD},                            /* cut after one of two */
    {"a\xe2\x82", "a" BAD BAD},                    /* two of three */
    {"a\xf0\x9f\x98", "a" BAD BAD BAD},            /* three of four */
    {"\xe2\x82\"", BAD BAD "\\\""},                /* the quote is not swallowed */
    {"\xc3\\\xc3\n", BAD "\\\\" BAD "\\u000a"},
};

static void test_table(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof escaped / sizeof *escaped; i++) {
        char out[128], expected[128];
        char *text = strdup(escaped[i].text); /* asan: nothing behind the zero is read */
        size_t length = json_string(out, sizeof out, text);
        free(text);
        snprintf(expected, sizeof expected, "\"%s\"", escaped[i].json);
        assert_string_equal(out, expected);
        assert_int_equal(length, strlen(expected));
        assert_true(json_valid(out));
    }
}

/* At every capacity: valid, terminated, within bounds, and the longest whole prefix. */
static void test_truncation(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "abc",
                                        "\"\"\"\"",
                                        "a\xc3\xa9\xf0\x9f\x98\x80z",
                                        "\x01\x02\xff\x7f",
                                        "\xe2\x80\xa8\xe2\x82\xac\\"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char whole[128];
        size_t full = json_string(whole, sizeof whole, texts[i]);
        size_t before = 2;
        for (size_t capacity = 3; capacity <= full + 3; capacity++) {
            char *out = malloc(capacity);
            assert_non_null(out);
            size_t length = json_string(out, capacity, texts[i]);
            assert_true(length < capacity);
            assert_int_equal(strlen(out), length);
            assert_true(json_valid(out));
            assert_memory_equal(out, whole, length - 1);
            assert_int_equal(out[length - 1], '"');
            assert_true(length >= before && length + 6 >= (capacity <= full ? capacity : full + 1));
            assert_int_equal(length == full, capacity > full);
            before = length;
            free(out);
        }
    }
}

static void test_random(void **state) {
    (void)state;
    static const uint8_t edges[] = {0x01, 0x1f, 0x22, 0x5c, 0x61, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xa8,
                                    0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xe2, 0xed, 0xef, 0xf0, 0xf4, 0xf5, 0xff};
    uint32_t seed = 99;
    for (unsigned round = 0; round < 20000; round++) {
        char text[12], out[80];
        size_t size = round % (unsigned)sizeof text;
        for (size_t i = 0; i < size; i++) {
            seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
            text[i] = (char)edges[seed % sizeof edges];
        }
        text[size] = '\0';
        size_t length = json_string(out, sizeof out, text);
        assert_int_equal(strlen(out), length);
        assert_true(json_valid(out));
        for (size_t i = 0; i < length; i++) {
            assert_true((uint8_t)out[i] >= 0x20 && (uint8_t)out[i] != 0x7f);
        }
    }
}

/* The reader that these tests rely on refuses invalid JSON. */
static void test_checker(void **state) {
    (void)state;
    static const char *const bad[] = {"",          "\"",    "\"\n\"",   "\"\\x\"",  "\"\xff\"",
                                      "{",         "{a:1}", "{\"a\"}",  "{\"a\":}", "{\"a\":1,}",
                                      "01",        "1.",    "[1 2]",    "[,]",      "truex",
                                      "\"\\u12\"", "{} {}", "\"\xc3\"", "{\"a\" 1}"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        if (json_valid(bad[i])) {
            fail_msg("\"%s\" passes as JSON", bad[i]);
        }
    }
    char value[16];
    const char *good = " {\"a\" : [1, -0.5, {}], \"b\":\"x\\\"\", \"c\":null}\n";
    assert_true(json_valid(good));
    assert_true(json_member(good, "b", value, sizeof value));
    assert_string_equal(value, "\"x\\\"\"");
    assert_false(json_member(good, "x", value, sizeof value));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_checker),
    };
    return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
