/* SPDX-License-Identifier: MIT
 * Standard error goes to a pipe for the time of a line. */
#include "core/log.h"
#include "tests/unit/core/json_check.h"

#include <ctype.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static int saved_stderr, pipe_end;

static void capture(void) {
    int fd[2];
    assert_int_equal(pipe2(fd, O_NONBLOCK), 0);
    saved_stderr = dup(STDERR_FILENO);
    assert_true(saved_stderr >= 0 && dup2(fd[1], STDERR_FILENO) >= 0);
    close(fd[1]);
    pipe_end = fd[0];
}

/* The text written to standard error since capture(). */
static size_t captured(char *text, size_t size) {
    ssize_t got = read(pipe_end, text, size - 1);
    close(pipe_end);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    text[got > 0 ? got : 0] = '\0';
    return got > 0 ? (size_t)got : 0;
}

static size_t lines_in(const char *text) {
    size_t count = 0;
    for (; *text; text++) {
        count += *text == '\n';
    }
    return count;
}

/* One line with a string of that value. */
static size_t log_value(const char *value, char *text, size_t size) {
    struct log_line line;
    capture();
    log_begin(&line, LOG_INFO, "event");
    log_string(&line, "key", value);
    log_number(&line, "after", 7);
    log_end(&line);
    return captured(text, size);
}

static void check_stamp(const char *text) {
    static const char form[] = "0000-00-00T00:00:00.000Z";
    for (size_t i = 0; form[i]; i++) {
        assert_true(form[i] == '0' ? isdigit((unsigned char)text[i]) : text[i] == form[i]);
    }
}

static void test_text(void **state) {
    (void)state;
    static const struct {
        const char *value;
        const char *written;
    } table[] = {
        {"plain", "plain"},
        {"/blur?sigma:2&x", "/blur?sigma:2&x"},
        {"", "\"\""},
        {"two words", "\"two words\""},
        {"a=b", "\"a=b\""},
        {"say \"x\"", "\"say \\\"x\\\"\""},
        {"back\\slash", "\"back\\\\slash\""},
        {"x\n2024-01-01T00:00:00.000Z error forged", "\"x\\u000a2024-01-01T00:00:00.000Z error forged\""},
        {"x\r\n", "\"x\\u000d\\u000a\""},
        {"\x1b[31m", "\"\\u001b[31m\""},
        {"\x7f", "\"\\u007f\""},
        {"\xc2\x9b", "\"\\u009b\""},
        {"\x9b", "\"\xef\xbf\xbd\""},
        {"caf\xc3\xa9", "\"caf\xc3\xa9\""},
    };
    log_init(LOG_INFO, LOG_TEXT);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char text[4096], expected[256];
        log_value(table[i].value, text, sizeof text);
        snprintf(expected, sizeof expected, " info event key=%s after=7\n", table[i].written);
        check_stamp(text);
        assert_string_equal(text + 24, expected);
    }
}

static void test_json(void **state) {
    (void)state;
    static const char *const values[] = {"plain",       "",        "a b",  "\",\"level\":\"error\",\"x\":\"",
                                         "\n{}\n",      "\\",      "\xff", "\xc2\x9b",
                                         "caf\xc3\xa9", "\x01\x1f"};
    log_init(LOG_INFO, LOG_JSON);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[4096], value[64];
        log_value(values[i], text, sizeof text);
        assert_true(json_valid(text));
        assert_int_equal(lines_in(text), 1);
        assert_true(json_member(text, "time", value, sizeof value));
        check_stamp(value + 1);
        assert_true(json_member(text, "severity", value, sizeof value));
        assert_string_equal(value, "\"INFO\"");
        assert_true(json_member(text, "level", value, sizeof value));
        assert_string_equal(value, "\"info\"");
        assert_true(json_member(text, "event", value, sizeof value));
        assert_string_equal(value, "\"event\"");
        assert_true(json_member(text, "after", value, sizeof value));
        assert_string_equal(value, "7");
        assert_true(json_member(text, "key", value, sizeof value));
    }
}

static void test_numbers(void **state) {
    (void)state;
    for (int style = LOG_TEXT; style <= LOG_JSON; style++) {
        struct log_line line;
        char text[4096];
        log_init(LOG_INFO, (enum log_format)style);
        capture();
        log_begin(&line, LOG_ERROR, "event");
        log_number(&line, "low", INT64_MIN);
        log_number(&line, "high", INT64_MAX);
        log_ms(&line, "short", 1499);
        log_ms(&line, "half", 26500);
        log_ms(&line, "long", INT64_C(3600000000000));
        log_end(&line);
        captured(text, sizeof text);
        assert_non_null(strstr(
            text,
            style == LOG_JSON
                ? ",\"low\":-9223372036854775808,\"high\":9223372036854775807,\"short\":0.001,\"half\":0.027,"
                  "\"long\":3600000.000}\n"
                : " low=-9223372036854775808 high=9223372036854775807 short=0.001 half=0.027 "
                  "long=3600000.000\n"));
        assert_int_equal(json_valid(text), style == LOG_JSON);
    }
}

static void test_levels(void **state) {
    (void)state;
    for (int wanted = LOG_ERROR; wanted <= LOG_DEBUG; wanted++) {
        char text[4096];
        log_init((enum log_level)wanted, LOG_TEXT);
        capture();
        for (int level = LOG_ERROR; level <= LOG_DEBUG; level++) {
            log_message((enum log_level)level, "event", "number %d", level);
        }
        captured(text, sizeof text);
        assert_int_equal(lines_in(text), wanted + 1);
        assert_non_null(strstr(text, "Z error event message=\"number 0\"\n"));
        assert_int_equal(!!strstr(text, "Z debug event message=\"number 3\"\n"), wanted == LOG_DEBUG);
    }
}

/* Values of every size: one line, within the bound, ended, valid, with nothing half. */
static void test_cutting(void **state) {
    (void)state;
    static const char *const pieces[] = {"x", "\"", "\xc3\xa9", " \x01"};
    for (int i = 0; i < 8; i++) {
        log_init(LOG_INFO, i & 1 ? LOG_JSON : LOG_TEXT);
        const char *piece = pieces[i / 2];
        for (size_t size = 0; size < 3 * LOG_LINE_MAX; size += 1 + size / 40) {
            char value[3 * LOG_LINE_MAX + 1], text[2 * LOG_LINE_MAX];
            for (size_t at = 0; at < size; at++) {
                value[at] = piece[at % strlen(piece)];
            }
            value[size] = '\0';
            size_t length = log_value(value, text, sizeof text);
            assert_true(length <= LOG_LINE_MAX);
            assert_int_equal(strlen(text), length);
            assert_int_equal(lines_in(text), 1);
            assert_int_equal(text[length - 1], '\n');
            assert_int_equal(json_valid(text), i & 1);
            assert_non_null(strstr(text, i & 1 ? ",\"key\":\"" : " key="));
        }
    }
}

/* More fields than fit: fields that do not fit are left out completely. */
static void test_many_fields(void **state) {
    (void)state;
    for (int style = LOG_TEXT; style <= LOG_JSON; style++) {
        struct log_line line;
        char text[2 * LOG_LINE_MAX];
        log_init(LOG_INFO, (enum log_format)style);
        capture();
        log_begin(&line, LOG_INFO, "event");
        for (int i = 0; i < 1000; i++) {
            log_string(&line, "key", "some value");
            log_number(&line, "number", 123456);
        }
        log_end(&line);
        size_t length = captured(text, sizeof text);
        assert_in_range(length, LOG_LINE_MAX - 30, LOG_LINE_MAX);
        assert_int_equal(lines_in(text), 1);
        assert_int_equal(json_valid(text), style == LOG_JSON);
        assert_int_equal(text[length - 2], style == LOG_JSON ? '}' : text[length - 2]);
    }
    log_init(LOG_INFO, LOG_TEXT);
}

/* A string that makes the line as long as may be stays, one that is a byte longer is left out. */
static void test_a_full_line(void **state) {
    (void)state;
    enum { VALUE = LOG_LINE_MAX / 2, AROUND = 100 };
    for (int style = LOG_TEXT; style <= LOG_JSON; style++) {
        size_t longest = 0;
        bool left_out = false;
        log_init(LOG_INFO, (enum log_format)style);
        for (size_t size = VALUE - AROUND; size < VALUE; size++) {
            char first[VALUE + 1] = "", second[VALUE + 1] = "", text[2 * LOG_LINE_MAX];
            struct log_line line;
            memset(first, 'x', VALUE - AROUND / 4);
            memset(second, 'y', size);
            capture();
            log_begin(&line, LOG_INFO, "event");
            log_string(&line, "first", first);
            log_string(&line, "second", second);
            log_end(&line);
            size_t length = captured(text, sizeof text);
            assert_true(length <= LOG_LINE_MAX);
            assert_int_equal(lines_in(text), 1);
            assert_int_equal(json_valid(text), style == LOG_JSON);
            assert_int_equal(strstr(text, "second") == NULL, length < LOG_LINE_MAX - 2 * AROUND);
            assert_false(left_out && strstr(text, "second"));
            left_out = !strstr(text, "second");
            longest = length > longest ? length : longest;
        }
        assert_true(left_out);
        assert_in_range(longest, LOG_LINE_MAX - 3, LOG_LINE_MAX);
    }
    log_init(LOG_INFO, LOG_TEXT);
}

static void *write_lines(void *argument) {
    for (int i = 0; i < 50; i++) {
        log_message(LOG_INFO, argument, "%s", "a sentence of some length, as sentences are");
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 6 };
    pthread_t thread[THREADS];
    static char names[THREADS][16], text[1 << 16];
    log_init(LOG_INFO, LOG_JSON);
    capture();
    for (int i = 0; i < THREADS; i++) {
        snprintf(names[i], sizeof names[i], "t%d", i);
        assert_int_equal(pthread_create(&thread[i], NULL, write_lines, names[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
    }
    captured(text, sizeof text);
    assert_int_equal(lines_in(text), 50 * THREADS);
    char *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line;) {
        assert_true(json_valid(line));
    }
}

/* Standard error is a pipe or a socket that nobody reads; it does not block for others who have it. An alarm
 * ends a test that waits. */
static void check_unread(const int end[2], int *flags) {
    int saved = dup(STDERR_FILENO);
    int64_t before = log_dropped();
    log_init(LOG_INFO, LOG_TEXT);
    dup2(end[1], STDERR_FILENO);
    log_never_wait();
    alarm(20);
    for (int i = 0; i < 5000; i++) {
        log_message(LOG_INFO, "event", "a sentence of some length, as sentences are, and of some more");
    }
    alarm(0);
    int64_t dropped = log_dropped() - before;
    char text[1 << 16];
    while (recv(end[0], text, sizeof text, MSG_DONTWAIT) > 0 ||
           (fcntl(end[0], F_GETFL) & O_NONBLOCK && read(end[0], text, sizeof text) > 0)) {
    }
    log_message(LOG_INFO, "event", "this one is read");
    ssize_t got = read(end[0], text, sizeof text - 1);
    *flags = fcntl(end[1], F_GETFL);
    dup2(saved, STDERR_FILENO);
    close(saved);
    close(end[0]);
    close(end[1]);
    text[got > 0 ? got : 0] = '\0';
    assert_in_range(dropped, 1, 4999);
    assert_non_null(strstr(text, "this one is read"));
    char told[80];
    snprintf(told, sizeof told, "%d lines before this one were dropped", (int)dropped);
    assert_non_null(strstr(text, told));
}

static void test_a_pipe_that_nobody_reads(void **state) {
    (void)state;
    int end[2], flags;
    assert_int_equal(pipe(end), 0);
    fcntl(end[0], F_SETFL, O_NONBLOCK);
    check_unread(end, &flags);
    assert_false(flags & O_NONBLOCK);
}

static void test_a_socket_that_nobody_reads(void **state) {
    (void)state;
    int end[2], flags;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, end), 0);
    check_unread(end, &flags);
    assert_false(flags & O_NONBLOCK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_json),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_many_fields),
        cmocka_unit_test(test_cutting),
        cmocka_unit_test(test_a_full_line),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_a_pipe_that_nobody_reads),
        cmocka_unit_test(test_a_socket_that_nobody_reads),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
