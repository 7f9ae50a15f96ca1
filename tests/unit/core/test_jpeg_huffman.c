/* SPDX-License-Identifier: MIT
 * Huffman tables of JPEGs. That they are libjpeg's is tested with whole files (test_jpeg_encode.c). */
#include "core/jpeg/huffman.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* Every symbol that occurs has a code of up to 16 bits, no other has, and none consists of ones alone. */
static void check(const uint64_t frequency[JPEG_SYMBOLS], const struct jpeg_huffman *codes) {
    uint32_t code[JPEG_SYMBOLS], used = 0;
    jpeg_huffman_number(codes, code, JPEG_SYMBOLS);
    for (unsigned symbol = 0; symbol < JPEG_SYMBOLS; symbol++) {
        uint32_t length = code[symbol] >> JPEG_CODE_LENGTHS;
        assert_int_equal(frequency[symbol] > 0, length > 0);
        assert_in_range(length, 0, JPEG_CODE_LENGTHS);
        used += length ? 0x10000u >> length : 0;
    }
    assert_in_range(used, 1, 0xffff);
}

static void test_one_symbol(void **state) {
    (void)state;
    for (unsigned symbol = 0; symbol < JPEG_SYMBOLS; symbol += 51) {
        uint64_t frequency[JPEG_SYMBOLS] = {0};
        struct jpeg_huffman codes;
        frequency[symbol] = 1000;
        jpeg_huffman_optimal(0, frequency, &codes);
        assert_int_equal(jpeg_huffman_size(&codes), 1);
        assert_int_equal(codes.count[0], 1);
        assert_int_equal(codes.value[0], symbol);
        check(frequency, &codes);
    }
}

static void test_equal_symbols(void **state) {
    (void)state;
    for (unsigned count = 2; count <= JPEG_SYMBOLS; count++) {
        uint64_t frequency[JPEG_SYMBOLS] = {0};
        struct jpeg_huffman codes;
        for (unsigned i = 0; i < count; i++) {
            frequency[i] = 1u << 20;
        }
        jpeg_huffman_optimal(1, frequency, &codes);
        assert_int_equal(jpeg_huffman_size(&codes), count);
        check(frequency, &codes);
    }
}

/* Without the limit, such symbols would have codes of up to `count` bits; libjpeg gives up at 33. */
static void test_steep_frequencies(void **state) {
    (void)state;
    for (unsigned count = 2; count <= 80; count++) {
        uint64_t frequency[JPEG_SYMBOLS] = {0}, before = 1, now = 1;
        struct jpeg_huffman codes;
        for (unsigned i = 0; i < count; i++) {
            uint64_t next = before + now;
            frequency[(i * 37) % JPEG_SYMBOLS] = now;
            before = now;
            now = next;
        }
        jpeg_huffman_optimal(3, frequency, &codes);
        assert_int_equal(jpeg_huffman_size(&codes), count);
        assert_int_equal(codes.id, 0x11);
        check(frequency, &codes);
    }
}

static void test_standard_tables(void **state) {
    (void)state;
    static const uint8_t ids[JPEG_CODE_TABLES] = {0x00, 0x10, 0x01, 0x11};
    for (unsigned table = 0; table < JPEG_CODE_TABLES; table++) {
        const struct jpeg_huffman *codes = jpeg_huffman_standard(table);
        uint64_t frequency[JPEG_SYMBOLS] = {0};
        for (unsigned i = 0; i < jpeg_huffman_size(codes); i++) {
            frequency[codes->value[i]] = 1;
        }
        assert_int_equal(codes->id, ids[table]);
        assert_int_equal(jpeg_huffman_size(codes), table % 2 ? 162 : 12);
        check(frequency, codes);
    }
}

/* Numbers beyond the array are left out. */
static void test_numbers(void **state) {
    (void)state;
    const struct jpeg_huffman codes = {.count = {1, 1, 1}, .value = {7, 2, 200}};
    uint32_t code[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    jpeg_huffman_number(&codes, code, 8);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(code[i], i == 7 ? 1u << 16 : i == 2 ? 2u << 16 | 2 : 0);
    }
    assert_int_equal(code[8], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_symbol),        cmocka_unit_test(test_equal_symbols),
        cmocka_unit_test(test_steep_frequencies), cmocka_unit_test(test_standard_tables),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
