/* SPDX-License-Identifier: MIT */
#include "core/bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static void test_append(void **state) {
    (void)state;
    struct buf buf;
    struct error err = {0};
    buf_init(&buf, 100000);
    assert_null(buf.data);
    assert_int_equal(buf_bytes(&buf).size, 0);
    assert_int_equal(buf_append(&buf, NULL, 0, &err), ST_OK);
    for (unsigned i = 0; i < 100000; i++) {
        uint8_t byte = (uint8_t)(i * 7);
        assert_int_equal(buf_append(&buf, &byte, 1, &err), ST_OK);
        assert_true(buf.size == i + 1 && buf.capacity >= buf.size && buf.capacity <= buf.maximum);
    }
    for (unsigned i = 0; i < 100000; i++) {
        assert_int_equal(buf_bytes(&buf).data[i], (uint8_t)(i * 7));
    }
    struct buf before = buf;
    assert_int_equal(buf_append(&buf, "x", 1, &err), ST_LIMIT);
    assert_int_equal(err.status, ST_LIMIT);
    assert_memory_equal(&buf, &before, sizeof buf);
    buf_finish(&buf);
    assert_null(buf.data);
    buf_finish(&buf);
    buf_finish(NULL);
}

static void test_reserve(void **state) {
    (void)state;
    struct buf buf;
    struct error err = {0};
    buf_init(&buf, 1000);
    assert_int_equal(buf_append(&buf, "abc", 3, &err), ST_OK);
    struct buf before = buf;
    static const size_t sizes[] = {998, 1000, SIZE_MAX / 2, SIZE_MAX - 2, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_int_equal(buf_reserve(&buf, sizes[i], &err), ST_LIMIT);
        assert_memory_equal(&buf, &before, sizeof buf);
    }
    assert_int_equal(buf_reserve(&buf, 997, &err), ST_OK);
    assert_int_equal(buf.capacity, 1000);
    assert_int_equal(buf.size, 3);
    assert_memory_equal(buf.data, "abc", 3);
    buf_finish(&buf);
    buf_init(&buf, SIZE_MAX);
    assert_int_equal(buf_reserve(&buf, SIZE_MAX / 2, &err), ST_BUSY); /* more than any machine has */
    assert_null(buf.data);
    assert_int_equal(buf_reserve(&buf, SIZE_MAX / 2, NULL), ST_BUSY);
    buf_finish(&buf);
}

static void test_fixed(void **state) {
    (void)state;
    struct buf buf;
    struct error err = {0};
    uint8_t memory[8] = {0};
    buf_init_fixed(&buf, memory, 4);
    assert_int_equal(buf_append(&buf, "abc", 3, &err), ST_OK);
    assert_int_equal(buf_append(&buf, "de", 2, &err), ST_LIMIT);
    assert_int_equal(buf.size, 3);
    assert_int_equal(buf_append(&buf, "d", 1, &err), ST_OK);
    assert_ptr_equal(buf.data, memory);
    assert_memory_equal(memory, "abcd\0\0\0\0", 8);
    buf_finish(&buf); /* leaves the lender's memory alone */
    assert_memory_equal(memory, "abcd", 4);
    buf_init_fixed(&buf, NULL, 0);
    assert_int_equal(buf_append(&buf, "", 0, &err), ST_OK);
    assert_int_equal(buf_append(&buf, "x", 1, &err), ST_LIMIT);
}

static void test_printf(void **state) {
    (void)state;
    struct buf buf;
    struct error err = {0};
    buf_init(&buf, 64);
    assert_int_equal(buf_printf(&buf, &err, "%s", ""), ST_OK);
    assert_int_equal(buf.size, 0);
    assert_int_equal(buf_printf(&buf, &err, "%d-%s", 42, "x"), ST_OK);
    assert_int_equal(buf_printf(&buf, &err, "%c", 0), ST_OK); /* counted like any character */
    assert_int_equal(buf_printf(&buf, &err, "%05.1f", 2.25), ST_OK);
    assert_int_equal(buf.size, 10);
    assert_memory_equal(buf.data, "42-x\0002.2", 5);
    assert_int_equal(buf_printf(&buf, &err, "%60s", "x"), ST_LIMIT);
    assert_int_equal(buf.size, 10);
    buf_finish(&buf);
}

static void test_numbers(void **state) {
    (void)state;
    static const uint8_t bytes[] = {0xFE, 0xDC, 0xBA, 0x98};
    uint8_t written[4];
    assert_int_equal(bytes_be16(bytes), 0xFEDC);
    assert_true(bytes_be32(bytes) == 0xFEDCBA98u);
    bytes_put_be32(written, 0xFEDCBA98u);
    assert_memory_equal(written, bytes, 4);
    assert_int_equal(bytes_align_up(0, 64), 0);
    assert_int_equal(bytes_align_up(1, 64), 64);
    assert_int_equal(bytes_align_up(64, 64), 64);
    assert_int_equal(bytes_align_up(65, 64), 128);
    assert_int_equal(bytes_align_up(7, 3), 9);
}

/* All alignments of both sides, and sizes around those of a line and of the shortest copy past the caches. */
static void test_stream(void **state) {
    (void)state;
    enum { ROOM = 1024, ASIDE = 64, GUARD = 0xA5 };
    static const size_t sizes[] = {0, 1, 63, 64, 65, 255, 256, 257, 319, 320, 321, 511, 512, 700};
    _Alignas(64) static uint8_t from[ROOM], to[ROOM];
    for (unsigned i = 0; i < ROOM; i++) {
        from[i] = (uint8_t)(i * 7 + (i >> 8));
    }
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (unsigned aside = 0; aside < ASIDE; aside++) {
            uint8_t *begin = to + ASIDE + aside;
            const uint8_t *source = from + (aside * 5) % ASIDE;
            memset(to, GUARD, ROOM);
            bytes_stream(begin, source, sizes[i]);
            assert_memory_equal(begin, source, sizes[i]);
            for (uint8_t *p = to; p < to + ROOM; p++) {
                assert_true((p >= begin && p < begin + sizes[i]) || *p == GUARD);
            }
        }
    }
}

static void test_skip_ones(void **state) {
    uint8_t data[150];
    (void)state;
    memset(data, 0xFF, sizeof data);
    assert_int_equal(bytes_skip_ones((struct bytes){NULL, 0}, 0), 0);
    for (size_t size = 0; size <= 140; size++) {
        for (size_t at = 0; at <= size; at++) {
            struct bytes bytes = {data, size};
            assert_int_equal(bytes_skip_ones(bytes, at), size); /* what follows is none of it */
            for (size_t other = at; other < size; other++) {
                data[other] = 0xFE;
                assert_int_equal(bytes_skip_ones(bytes, at), other);
                data[other] = 0xFF;
            }
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_skip_ones), cmocka_unit_test(test_append), cmocka_unit_test(test_reserve),
        cmocka_unit_test(test_fixed),     cmocka_unit_test(test_printf), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_stream),
    };
    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
