/* SPDX-License-Identifier: MIT */
#include "server/message/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define TRACE "4bf92f3577b34da6a3ce929d0e0e4736"
#define PARENT "00f067aa0ba902b7"
#define ZEROS "00000000000000000000000000000000"

/* Reads a field out of memory of exactly its size, so that a sanitizer sees reads beyond. */
static struct trace read_field(const char *value) {
    struct trace trace = {0};
    size_t size = strlen(value);
    char *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, value, size);
    trace_header(&trace, exact, size);
    free(exact);
    return trace;
}

static void test_valid(void **state) {
    (void)state;
    static const char *const values[] = {
        "00-" TRACE "-" PARENT "-01", "00-" TRACE "-" PARENT "-00",      "00-" TRACE "-" PARENT "-ff",
        "01-" TRACE "-" PARENT "-01", "fe-" TRACE "-" PARENT "-01-more", "cc-" TRACE "-" PARENT "-09-",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct trace trace = read_field(values[i]);
        assert_true(trace.known);
        assert_string_equal(trace.trace_id, TRACE);
        assert_string_equal(trace.parent_id, PARENT);
    }
}

/* The lowest bit of the flags. */
static void test_sampled(void **state) {
    (void)state;
    static const char *const yes[] = {"01", "03", "ff", "0d"}, *const no[] = {"00", "02", "fe", "0c", "10"};
    for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
        char value[sizeof "00-" TRACE "-" PARENT "-01"];
        snprintf(value, sizeof value, "00-" TRACE "-" PARENT "-%s", yes[i]);
        assert_true(read_field(value).sampled);
    }
    for (size_t i = 0; i < sizeof no / sizeof *no; i++) {
        char value[sizeof "00-" TRACE "-" PARENT "-01"];
        snprintf(value, sizeof value, "00-" TRACE "-" PARENT "-%s", no[i]);
        assert_false(read_field(value).sampled);
    }
}

static void test_malformed(void **state) {
    (void)state;
    static const char *const values[] = {
        "",
        "00",
        "00-",
        "00-" TRACE,
        "00-" TRACE "-" PARENT,
        "00-" TRACE "-" PARENT "-",
        "00-" TRACE "-" PARENT "-0",
        "00-" TRACE "-" PARENT "-011",     /* too long for version 00 */
        "00-" TRACE "-" PARENT "-01-more", /* the same */
        "01-" TRACE "-" PARENT "-01.more", /* a later one has a dash there */
        "ff-" TRACE "-" PARENT "-01",      /* no version */
        "0x-" TRACE "-" PARENT "-01",
        "0-" TRACE "-" PARENT "-01",
        "00-" ZEROS "-" PARENT "-01",
        "00-" TRACE "-0000000000000000-01",
        "00-4BF92F3577B34DA6A3CE929D0E0E4736-" PARENT "-01",
        "00-" TRACE "-00F067AA0BA902B7-01",
        "00-" TRACE "-" PARENT "-0G",
        "00-" TRACE "_" PARENT "-01",
        "00_" TRACE "-" PARENT "-01",
        "00-" TRACE "-" PARENT "_01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-" PARENT "1-01",
        " 00-" TRACE "-" PARENT "-01",
        "00-4bf92f3577b34da6a3ce929d0e0e47\"6-" PARENT "-01",
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        if (read_field(values[i]).known) {
            fail_msg("\"%s\" was taken", values[i]);
        }
    }
}

static void test_several_are_none(void **state) {
    (void)state;
    static const char value[] = "00-" TRACE "-" PARENT "-01";
    struct trace trace = {0};
    trace_header(&trace, value, sizeof value - 1);
    assert_true(trace.known);
    trace_header(&trace, value, sizeof value - 1);
    assert_false(trace.known);
    trace_header(&trace, value, sizeof value - 1);
    assert_false(trace.known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_sampled),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_several_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
