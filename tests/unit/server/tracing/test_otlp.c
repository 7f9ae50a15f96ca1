/* SPDX-License-Identifier: MIT
 * An id of a trace or a span that is all zeros is invalid (W3C Trace Context), so none is made, not even when
 * the random numbers fail or are zeros. The program replaces getrandom to try both. */
#include "server/tracing/otlp.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/random.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static bool fails;

ssize_t getrandom(void *bytes, size_t size, unsigned flags) {
    (void)flags;
    memset(bytes, 0, size);
    errno = ENOSYS;
    return fails ? -1 : (ssize_t)size;
}

static void check(bool without) {
    static const struct span_record record = {.method = "GET", .path = "/blur"};
    struct buf message;
    struct error err = {0};
    fails = without;
    buf_init(&message, OTLP_MESSAGE_HEAD_MAX + OTLP_RECORD_MAX);
    assert_int_equal(otlp_write(&message, &record, 1, &err), ST_OK);
    assert_int_equal(buf_append(&message, "", 1, &err), ST_OK);
    const char *text = (const char *)message.data;
    assert_non_null(strstr(text, "\"traceId\":\"01000000000000000000000000000000\""));
    assert_non_null(strstr(text, "\"spanId\":\"0100000000000000\""));
    assert_null(strstr(text, "\"spanId\":\"0000000000000000\""));
    buf_finish(&message);
}

static void test_zeros(void **state) {
    (void)state;
    check(false);
}

static void test_no_bytes(void **state) {
    (void)state;
    check(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_zeros), cmocka_unit_test(test_no_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
