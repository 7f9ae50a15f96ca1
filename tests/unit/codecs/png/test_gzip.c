/* SPDX-License-Identifier: MIT
 * Pages are appended to the contents of a buffer. */
#include "codecs/png/gzip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#include <libdeflate.h>

static const char plain[] = "a page, a page, a page, a page, a page, a page, a page, a page";

static void test_appended(void **state) {
    (void)state;
    struct buf out;
    char text[sizeof plain];
    buf_init(&out, 1 << 16);
    assert_int_equal(buf_append(&out, "before", 6, NULL), ST_OK);
    assert_int_equal(gzip_pack((struct bytes){(const uint8_t *)plain, sizeof plain}, &out, NULL), ST_OK);
    assert_memory_equal(out.data, "before", 6);
    assert_in_range(out.size, 7, 6 + sizeof plain - 1);
    struct libdeflate_decompressor *decompressor = libdeflate_alloc_decompressor();
    assert_int_equal(
        libdeflate_gzip_decompress(decompressor, out.data + 6, out.size - 6, text, sizeof text, NULL),
        LIBDEFLATE_SUCCESS);
    assert_memory_equal(text, plain, sizeof plain);
    libdeflate_free_decompressor(decompressor);
    buf_finish(&out);
}

static void test_over_the_limit(void **state) {
    (void)state;
    struct buf out;
    buf_init(&out, 10);
    assert_int_equal(gzip_pack((struct bytes){(const uint8_t *)plain, sizeof plain}, &out, NULL), ST_LIMIT);
    assert_int_equal(out.size, 0);
    buf_finish(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_appended),
        cmocka_unit_test(test_over_the_limit),
    };
    return cmocka_run_group_tests_name("gzip", tests, NULL, NULL);
}
