/* SPDX-License-Identifier: MIT
 * The start of the process that posts spans, with and without memory. This program has an mmap of its own. */
#include "server/tracing/exporter.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const char url[] = "http://127.0.0.1:4318/v1/traces";
static bool refuses;

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset) {
    if (refuses && (flags & MAP_SHARED)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, address, size, protection, flags, fd, offset);
}

static void test_no_memory(void **state) {
    (void)state;
    struct exporter *exporter;
    struct error err = {0};
    refuses = true;
    enum status status = exporter_start(&exporter, url, &err);
    refuses = false;
    assert_int_equal(status, ST_BUSY);
    assert_string_equal(err.text, "out of memory");
    assert_null(exporter);
}

static void test_start_and_end(void **state) {
    (void)state;
    struct exporter *exporter;
    struct error err = {0};
    int64_t exported = -1, dropped = -1;
    assert_int_equal(exporter_start(&exporter, "", &err), ST_OK);
    assert_null(exporter);
    assert_int_equal(exporter_start(&exporter, url, &err), ST_OK);
    assert_non_null(exporter);
    exporter_counts(exporter, &exported, &dropped);
    assert_int_equal(exported, 0);
    assert_int_equal(dropped, 0);
    exporter_end(exporter);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_start_and_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
