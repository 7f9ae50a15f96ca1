/* SPDX-License-Identifier: MIT */
#include "server/problem.h"
#include "tests/unit/core/json_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static void test_table_is_complete(void **state) {
    (void)state;
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        const struct problem_kind *kind = problem_kind(i);
        assert_non_null(kind->slug);
        assert_non_null(kind->title);
        assert_true(kind->slug[0] && kind->title[0]);
        assert_int_equal(strspn(kind->slug, "abcdefghijklmnopqrstuvwxyz-"), strlen(kind->slug));
        assert_null(strpbrk(kind->title, "\"\\"));
        assert_true(i == PROBLEM_NONE ? kind->http_status == 200
                                      : kind->http_status >= 400 && kind->http_status < 600);
        for (unsigned j = 0; j < i; j++) {
            assert_string_not_equal(kind->slug, problem_kind(j)->slug);
        }
    }
    assert_ptr_equal(problem_kind(PROBLEM_COUNT), problem_kind(PROBLEM_INTERNAL));
    assert_ptr_equal(problem_kind((enum problem)1000), problem_kind(PROBLEM_INTERNAL));
}

static void test_http_statuses(void **state) {
    (void)state;
    static const struct {
        enum status status;
        unsigned http_status;
    } table[] = {
        {ST_OK, 200},        {ST_ARGUMENT, 400},   {ST_CORRUPT, 400},      {ST_UNSUPPORTED, 415},
        {ST_TOO_LARGE, 413}, {ST_NOTHING, 422},    {ST_LIMIT, 422},        {ST_BUSY, 503},
        {ST_TIMEOUT, 408},   {ST_CANCELLED, 499},  {ST_DEVICE, 500},       {ST_COUNT, 500},
        {ST_INTERNAL, 500},  {ST_UNVERIFIED, 422}, {(enum status)77, 500},
    };
    bool seen[ST_COUNT + 1] = {false};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        enum problem problem = problem_of(table[i].status);
        assert_int_equal(problem_kind(problem)->http_status, table[i].http_status);
        assert_int_equal(problem == PROBLEM_NONE, table[i].status == ST_OK);
        seen[table[i].status < ST_COUNT ? table[i].status : ST_COUNT] = true;
    }
    for (unsigned i = 0; i < ST_COUNT; i++) {
        assert_true(seen[i]);
    }
}

/* The body as a text; it must be JSON. */
static void write_body(enum problem problem, const struct error *error, const char *id, char *text,
                       size_t size) {
    struct buf out;
    buf_init(&out, 1 << 16);
    assert_int_equal(problem_write(problem, error, id, &out), ST_OK);
    assert_true(out.size < size);
    memcpy(text, out.data, out.size);
    text[out.size] = '\0';
    assert_int_equal(strlen(text), out.size);
    buf_finish(&out);
    if (!json_valid(text)) {
        fail_msg("not JSON: %s", text);
    }
}

static void expect_member(const char *text, const char *key, const char *expected) {
    char value[512];
    if (!json_member(text, key, value, sizeof value)) {
        fail_msg("no \"%s\" in %s", key, text);
    }
    assert_string_equal(value, expected);
}

static void test_body(void **state) {
    (void)state;
    char text[4096], value[64];
    struct error error = {0};
    fail_argument(&error, "sigma", "sigma is \"%s\"", "big");
    write_body(PROBLEM_ARGUMENT, &error, "abc-1", text, sizeof text);
    expect_member(text, "type", "\"urn:blurd:problem:bad-parameter\"");
    expect_member(text, "title", "\"Bad parameter\"");
    expect_member(text, "status", "400");
    expect_member(text, "detail", "\"sigma is \\\"big\\\"\"");
    expect_member(text, "parameter", "\"sigma\"");
    expect_member(text, "request_id", "\"abc-1\"");
    error = (struct error){.status = ST_BUSY, .text = "later"};
    write_body(PROBLEM_BUSY, &error, "", text, sizeof text);
    expect_member(text, "status", "503");
    expect_member(text, "request_id", "\"\"");
    assert_false(json_member(text, "parameter", value, sizeof value));
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        write_body(i, &error, "x", text, sizeof text);
        snprintf(value, sizeof value, "%u", problem_kind(i)->http_status);
        expect_member(text, "status", value);
    }
}

/* With any text of full length the body stays valid JSON. */
static void test_hostile_texts(void **state) {
    (void)state;
    static const char *const pieces[] = {"\"",
                                         "\\",
                                         "\",\"status\":200,\"x\":\"",
                                         "\n",
                                         "\x01",
                                         "\x7f",
                                         "\xff",
                                         "\xe2\x80\xa8",
                                         "\xc3\xa9",
                                         "a\xf0\x9f",
                                         "</script>",
                                         "%n%s",
                                         "\xf0\x9f\x98\x80",
                                         "\xc2\x9b"};
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        struct error error = {.status = ST_ARGUMENT};
        char id[128], text[8192];
        size_t length = strlen(pieces[i]);
        for (size_t at = 0; at < sizeof error.text - 1; at++) {
            error.text[at] = pieces[i][at % length];
        }
        for (size_t at = 0; at < sizeof error.parameter - 1; at++) {
            error.parameter[at] = pieces[i][at % length];
        }
        for (size_t at = 0; at < sizeof id; at++) {
            id[at] = at < sizeof id - 1 ? pieces[i][at % length] : '\0';
        }
        write_body(PROBLEM_ARGUMENT, &error, id, text, sizeof text);
        expect_member(text, "status", "400");
        expect_member(text, "title", "\"Bad parameter\"");
    }
}

static void test_no_room(void **state) {
    (void)state;
    struct error error = {0};
    fail_argument(&error, "sigma", "no");
    uint8_t memory[256];
    for (size_t size = 0; size < 120; size += 7) {
        struct buf out;
        buf_init_fixed(&out, memory, size);
        assert_int_equal(problem_write(PROBLEM_ARGUMENT, &error, "id", &out), ST_LIMIT);
        assert_true(out.size <= size);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table_is_complete),
        cmocka_unit_test(test_http_statuses),
        cmocka_unit_test(test_body),
        cmocka_unit_test(test_hostile_texts),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
