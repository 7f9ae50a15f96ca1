/* SPDX-License-Identifier: MIT
 * The matrix of request smuggling: messages that two parsers could read differently. */
#include "server/framing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* Feeds "Name: value" lines, separated by LF, each in heap memory of its size. */
static struct framing feed(const char *lines) {
    struct framing framing = {0};
    while (*lines) {
        size_t size = strcspn(lines, "\n");
        const char *colon = memchr(lines, ':', size);
        assert_non_null(colon);
        size_t name_size = (size_t)(colon - lines), value_size = size - name_size - 2;
        char *name = malloc(name_size + 1), *value = malloc(value_size + 1);
        assert_true(name && value);
        memcpy(name, lines, name_size);
        memcpy(value, colon + 2, value_size);
        name[name_size] = value[value_size] = '\0';
        framing_header(&framing, name, name_size, value, value_size);
        free(name);
        free(value);
        lines += size + (lines[size] == '\n');
    }
    return framing;
}

struct row {
    const char *lines;
    enum problem verdict;
};

static void check(const char *version, const char *before, const struct row *table, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char lines[512];
        snprintf(lines, sizeof lines, "%s%s", before, table[i].lines);
        struct framing framing = feed(lines);
        enum problem verdict = framing_judge(&framing, version);
        if (verdict != table[i].verdict) {
            fail_msg("%s \"%s\": %s (%s)", version, lines, problem_kind(verdict)->slug,
                     framing.reason ? framing.reason : "");
        }
        assert_int_equal(framing.verdict, verdict);
        assert_true(verdict == PROBLEM_NONE || framing.reason[0]);
    }
}
#define CHECK(version, before, table) check(version, before, table, sizeof table / sizeof *table)

static void test_content_length(void **state) {
    (void)state;
    static const struct row table[] = {
        {"Content-Length: 0", PROBLEM_NONE},
        {"content-length: 5", PROBLEM_NONE},
        {"CONTENT-LENGTH: 999999999999999999", PROBLEM_NONE},
        {"Content-Length: ", PROBLEM_REQUEST},
        {"Content-Length: 5, 5", PROBLEM_REQUEST},
        {"Content-Length: 5,5", PROBLEM_REQUEST},
        {"Content-Length: +5", PROBLEM_REQUEST},
        {"Content-Length: -1", PROBLEM_REQUEST},
        {"Content-Length: -0", PROBLEM_REQUEST},
        {"Content-Length:  5", PROBLEM_REQUEST},
        {"Content-Length: 5 ", PROBLEM_REQUEST},
        {"Content-Length: 5\t", PROBLEM_REQUEST},
        {"Content-Length: 5 5", PROBLEM_REQUEST},
        {"Content-Length: 0x5", PROBLEM_REQUEST},
        {"Content-Length: 5e0", PROBLEM_REQUEST},
        {"Content-Length: 5.0", PROBLEM_REQUEST},
        {"Content-Length: 5;q=1", PROBLEM_REQUEST},
        {"Content-Length: \"5\"", PROBLEM_REQUEST},
        {"Content-Length: \xd9\xa5", PROBLEM_REQUEST},
        {"Content-Length: 9223372036854775808", PROBLEM_REQUEST},
        {"Content-Length: 18446744073709551615", PROBLEM_REQUEST},
        {"Content-Length: 18446744073709551616", PROBLEM_REQUEST},
        {"Content-Length: 18446744073709551621", PROBLEM_REQUEST},
        {"Content-Length: 5\nContent-Length: 5", PROBLEM_REQUEST},
        {"Content-Length: 5\ncontent-length: 6", PROBLEM_REQUEST},
        {"Content-Length: x\nContent-Length: 5", PROBLEM_REQUEST},
    };
    CHECK("HTTP/1.1", "Host: a\n", table);
    CHECK("HTTP/1.0", "", table);
}

static void test_transfer_encoding(void **state) {
    (void)state;
    static const struct row table[] = {
        {"Transfer-Encoding: chunked", PROBLEM_NONE},
        {"transfer-encoding: CHUNKED", PROBLEM_NONE},
        {"Transfer-Encoding: ", PROBLEM_TRANSFER},
        {"Transfer-Encoding: gzip, chunked", PROBLEM_TRANSFER},
        {"Transfer-Encoding: chunked, chunked", PROBLEM_TRANSFER},
        {"Transfer-Encoding: chunked, identity", PROBLEM_TRANSFER},
        {"Transfer-Encoding: identity", PROBLEM_TRANSFER},
        {"Transfer-Encoding: xchunked", PROBLEM_TRANSFER},
        {"Transfer-Encoding: chunkedx", PROBLEM_TRANSFER},
        {"Transfer-Encoding: chunk", PROBLEM_TRANSFER},
        {"Transfer-Encoding: \"chunked\"", PROBLEM_TRANSFER},
        {"Transfer-Encoding: chunked;a=b", PROBLEM_TRANSFER},
        {"Transfer-Encoding: chunked ", PROBLEM_TRANSFER},
        {"Transfer-Encoding:  chunked", PROBLEM_TRANSFER},
        {"Transfer-Encoding: \tchunked", PROBLEM_TRANSFER},
        {"Transfer-Encoding: \vchunked", PROBLEM_REQUEST},
        {"Transfer-Encoding: chunked\nTransfer-Encoding: chunked", PROBLEM_REQUEST},
        {"Transfer-Encoding: chunked\nTransfer-Encoding: identity", PROBLEM_TRANSFER},
        {"Transfer-Encoding: identity\nTransfer-Encoding: chunked", PROBLEM_TRANSFER},
        {"Transfer-Encoding : chunked", PROBLEM_REQUEST},
        {" Transfer-Encoding: chunked", PROBLEM_REQUEST},
        {"Content-Length: 5\nTransfer-Encoding: chunked", PROBLEM_REQUEST},
        {"Transfer-Encoding: chunked\nContent-Length: 5", PROBLEM_REQUEST},
        {"Transfer-Encoding: chunked\nContent-Length: 0", PROBLEM_REQUEST},
        {"Transfer-Encoding: identity\nContent-Length: 5", PROBLEM_TRANSFER},
    };
    CHECK("HTTP/1.1", "Host: a\n", table);
    static const struct row old[] = {
        {"Transfer-Encoding: chunked", PROBLEM_REQUEST},
        {"Transfer-Encoding: chunked\nContent-Length: 5", PROBLEM_REQUEST},
        {"Transfer-Encoding: identity", PROBLEM_TRANSFER},
    };
    CHECK("HTTP/1.0", "", old);
}

static void test_host(void **state) {
    (void)state;
    static const struct row now[] = {
        {"Host: a", PROBLEM_NONE},
        {"Host: ", PROBLEM_NONE},
        {"", PROBLEM_REQUEST},
        {"Host: a\nHost: a", PROBLEM_REQUEST},
        {"Host: a\nhost: b", PROBLEM_REQUEST},
        {"XHost: a", PROBLEM_REQUEST},
        {"Hos: a", PROBLEM_REQUEST},
    };
    CHECK("HTTP/1.1", "", now);
    CHECK("HTTP/1.2", "", now);
    static const struct row old[] = {
        {"", PROBLEM_NONE},
        {"Host: a", PROBLEM_NONE},
        {"Host: a\nHost: a", PROBLEM_REQUEST},
    };
    CHECK("HTTP/1.0", "", old);
}

static void test_names_and_values(void **state) {
    (void)state;
    static const struct row table[] = {
        {"!#$%&'*+-.^_`|~09azAZ: x", PROBLEM_NONE},
        {"X-A: \t b \t", PROBLEM_NONE},
        {"X-A: caf\xc3\xa9 \xe9", PROBLEM_NONE},
        {": x", PROBLEM_REQUEST},
        {"X A: x", PROBLEM_REQUEST},
        {"X-A : x", PROBLEM_REQUEST},
        {"\tX-A: x", PROBLEM_REQUEST},
        {"X\rA: x", PROBLEM_REQUEST},
        {"X(A): x", PROBLEM_REQUEST},
        {"X\"A: x", PROBLEM_REQUEST},
        {"X\xc3\xa9: x", PROBLEM_REQUEST},
        {"X-A: a\rb", PROBLEM_REQUEST},
        {"X-A: a\x7f", PROBLEM_REQUEST},
        {"X-A: \x01", PROBLEM_REQUEST},
        {"X-A: \x1b[31m", PROBLEM_REQUEST},
    };
    CHECK("HTTP/1.1", "Host: a\n", table);
}

static void test_zero_bytes(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t name_size;
        const char *value;
        size_t value_size;
    } table[] = {
        {"X-A", 3, "a\0b", 3},
        {"X\0A", 3, "ab", 2},
        {"X-A", 3, "\0", 1},
        {"Content-Length", 14, "5\0", 2},
        {"Content-Length\0", 15, "5", 1},
        {"Transfer-Encoding", 17, "chunked\0x", 9},
        {"Host", 4, "a\nHost: b", 9},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct framing framing = {0};
        framing_header(&framing, "Host", 4, "a", 1);
        framing_header(&framing, table[i].name, table[i].name_size, table[i].value, table[i].value_size);
        assert_int_equal(framing_judge(&framing, "HTTP/1.1"), PROBLEM_REQUEST);
    }
}

static void test_count(void **state) {
    (void)state;
    for (unsigned count = HEADER_COUNT_MAX - 1; count <= HEADER_COUNT_MAX + 1; count++) {
        struct framing framing = {0};
        framing_header(&framing, "Host", 4, "a", 1);
        for (unsigned i = 1; i < count; i++) {
            framing_header(&framing, "X", 1, "", 0);
        }
        assert_int_equal(framing_judge(&framing, "HTTP/1.1"),
                         count <= HEADER_COUNT_MAX ? PROBLEM_NONE : PROBLEM_HEADERS);
    }
}

static void test_size(void **state) {
    (void)state;
    char *value = malloc(HEADER_BYTES_MAX);
    assert_non_null(value);
    memset(value, 'x', HEADER_BYTES_MAX);
    for (size_t total = HEADER_BYTES_MAX - 1; total <= HEADER_BYTES_MAX + 1; total++) {
        struct framing framing = {0};
        framing_header(&framing, "Host", 4, "a", 1);
        framing_header(&framing, "X", 1, value, total - 6);
        assert_int_equal(framing.header_bytes, total);
        assert_int_equal(framing_judge(&framing, "HTTP/1.1"),
                         total <= HEADER_BYTES_MAX ? PROBLEM_NONE : PROBLEM_HEADERS);
    }
    free(value);
}

/* The values that the rest of the server reads; the first fault is the one reported. */
static void test_findings(void **state) {
    (void)state;
    struct framing framing = feed("Host: a\nContent-Length: 00120\nExpect: 100-Continue");
    assert_int_equal(framing_judge(&framing, "HTTP/1.1"), PROBLEM_NONE);
    assert_int_equal(framing.content_length, 120);
    assert_int_equal(framing.content_lengths, 1);
    assert_false(framing.chunked);
    assert_true(framing.expects_continue);
    framing = feed("Host: a\nTransfer-Encoding: chunked\nExpect: 200-ok");
    assert_int_equal(framing_judge(&framing, "HTTP/1.1"), PROBLEM_NONE);
    assert_true(framing.chunked);
    assert_int_equal(framing.transfer_encodings, 1);
    assert_false(framing.expects_continue);
    framing = feed("X A: b\nTransfer-Encoding: gzip");
    assert_int_equal(framing_judge(&framing, "HTTP/1.1"), PROBLEM_REQUEST);
    assert_string_equal(framing.reason, "a header field has a malformed name");
}

/* Strings as the library leaves them in its buffer: at 0, 5 and 11. */
static void test_a_request_line_in_pieces(void **state) {
    (void)state;
    static const char line[] = "POST\0/blur\0HTTP/1.1", *target = line + 5, *end = line + 10,
                      *version = line + 11;
    struct framing framing = {0};
    framing_line(&framing, line, target, end, version);
    assert_int_equal(framing.verdict, PROBLEM_NONE);
    framing_line(&framing, line + 1, target, end, version); /* ends where it should: not our business */
    assert_int_equal(framing.verdict, PROBLEM_NONE);
    framing_line(&framing, line, target + 1, end, version);
    assert_int_equal(framing.verdict, PROBLEM_REQUEST);
    framing = (struct framing){0};
    framing_line(&framing, line, target, end - 1, version);
    assert_int_equal(framing.verdict, PROBLEM_REQUEST);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_content_length),
        cmocka_unit_test(test_transfer_encoding),
        cmocka_unit_test(test_host),
        cmocka_unit_test(test_names_and_values),
        cmocka_unit_test(test_zero_bytes),
        cmocka_unit_test(test_count),
        cmocka_unit_test(test_size),
        cmocka_unit_test(test_findings),
        cmocka_unit_test(test_a_request_line_in_pieces),
    };
    return cmocka_run_group_tests_name("framing", tests, NULL, NULL);
}
