/* SPDX-License-Identifier: MIT */
#include "core/json/json_reader.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct json_reader reader_of(const char *text) {
    struct json_reader reader;
    json_reader_init(&reader, (struct bytes){(const uint8_t *)text, strlen(text)});
    return reader;
}

/* Whether the text is one value and nothing else. */
static bool is_json(const char *text) {
    struct json_reader reader = reader_of(text);
    return json_reader_skip(&reader) && json_reader_peek(&reader) == '\0' && reader.depth == 0;
}

static void test_valid(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1.5e-3",
                                        "10E+2",
                                        "true",
                                        "false",
                                        "null",
                                        "\"\"",
                                        "\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u20ac\"",
                                        "[]",
                                        "{}",
                                        " [ ] ",
                                        "[1,2]",
                                        "[1,[2,[]],{}]",
                                        "{\"a\":1}",
                                        "{\"a\":{\"b\":[1,{\"c\":null}]},\"d\":\"\"}",
                                        "[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]",
                                        "\t\r\n[ 1 , 2 ]\n",
                                        "\"\\ud83d\\ude00\""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (!is_json(texts[i])) {
            fail_msg("%s", texts[i]);
        }
    }
}

static const char *const invalid[] = {"",
                                      "01",
                                      "-",
                                      "+1",
                                      ".5",
                                      "1.",
                                      "1e",
                                      "1e+",
                                      "nul",
                                      "truer",
                                      "\"",
                                      "\"\\\"",
                                      "\"\\x\"",
                                      "\"\n\"",
                                      "\"\\u12\"",
                                      "\"\\u0000\"",
                                      "\"\\ud800\"",
                                      "\"\\udc00\"",
                                      "\"\\ud800\\n\"",
                                      "\"\\ud800\\u0041\"",
                                      "[",
                                      "]",
                                      "[1",
                                      "[1,",
                                      "[1,]",
                                      "[,1]",
                                      "[1 2]",
                                      "[1]]",
                                      "{",
                                      "}",
                                      "{1:2}",
                                      "{\"a\"}",
                                      "{\"a\":}",
                                      "{\"a\":1,}",
                                      "{\"a\" 1}",
                                      "{\"a\":1 \"b\":2}",
                                      "[}",
                                      "{]",
                                      "{\"a\":]",
                                      "[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
                                      "NaN",
                                      "'a'",
                                      "[1]x",
                                      "1e999",
                                      "0.00000000000000000000000000000000000000000000000000000000000001"};

static void test_invalid(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof *invalid; i++) {
        if (is_json(invalid[i])) {
            fail_msg("%s", invalid[i]);
        }
    }
}

static void test_text(void **state) {
    (void)state;
    char text[8];
    struct json_reader reader = reader_of("\"\\u0041\\u00e9\\u20ac\" rest");
    assert_true(json_reader_text(&reader, text, sizeof text));
    assert_string_equal(text, "A\xc3\xa9\xe2\x82\xac");
    assert_int_equal(json_reader_offset(&reader), 20);
    reader = reader_of("\"\\uD83D\\uDE00\"");
    assert_true(json_reader_text(&reader, text, sizeof text));
    assert_string_equal(text, "\xf0\x9f\x98\x80");
    reader = reader_of("\"123456\xc3\xa9"
                       "7\""); /* cut before a character that does not fit, and behind it */
    assert_true(json_reader_text(&reader, text, sizeof text));
    assert_memory_equal(text, "123456", 6);
    assert_true(strlen(text) < sizeof text);
    reader = reader_of("\"abc");
    assert_false(json_reader_text(&reader, text, sizeof text));
}

static void test_numbers(void **state) {
    (void)state;
    double value = 7;
    struct json_reader reader = reader_of("[-12.5e1,0.25]");
    bool more;
    assert_true(json_reader_open(&reader, '[') && json_reader_next(&reader, ']', &more) && more);
    assert_true(json_reader_number(&reader, &value) && value == -125);
    assert_true(json_reader_next(&reader, ']', &more) && more);
    assert_true(json_reader_number(&reader, &value) && value == 0.25);
    assert_true(json_reader_next(&reader, ']', &more) && !more);
    assert_int_equal(json_reader_peek(&reader), 0);
    reader = reader_of("\"1\"");
    assert_false(json_reader_number(&reader, &value));
    assert_true(value == 0.25 && json_reader_offset(&reader) == 0);
}

/* The end of the bytes is the end, without a zero behind them. */
static void test_views(void **state) {
    (void)state;
    static const char all[] = "[{\"name\":[1.25,true,\"x\\u0041\"]}]";
    for (size_t size = 0; size < sizeof all; size++) {
        uint8_t *copy = malloc(size ? size : 1);
        memcpy(copy, all, size);
        struct json_reader reader;
        json_reader_init(&reader, (struct bytes){size ? copy : NULL, size});
        assert_int_equal(json_reader_skip(&reader), size >= sizeof all - 1);
        assert_true(json_reader_offset(&reader) <= size);
        free(copy);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),   cmocka_unit_test(test_invalid), cmocka_unit_test(test_text),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_views),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
