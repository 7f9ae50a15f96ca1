/* SPDX-License-Identifier: MIT
 * Rows that are packed with matches, unpacked by zlib. */
#include "codecs/png/deflate/deflate_lz.h"

#include "codecs/png/deflate/deflate_rle.h"
#include "tests/unit/codecs/png/png_fixture.h"

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 8) * limit >> 24);
}

enum content { FLAT, NOISE, DRAWING, WORDS, MIXED, CONTENTS };

/* Rows with their filter bytes, and the bytes behind them that may be read: what they hold must not matter.
 */
static uint8_t *make_rows(size_t line, unsigned pixel, uint32_t count, enum content content) {
    const size_t size = line * count;
    uint8_t *data = malloc(size + DEFLATE_LZ_PADDING);
    for (size_t i = 0; i < size + DEFLATE_LZ_PADDING; i++) {
        const size_t row = i / line, x = i % line / pixel;
        const bool ink = (x / 3 + row / 2) % 7 == 0, word = (x * 7 + row % 5 * 13) % 31 < 9;
        data[i] = (uint8_t)(content == NOISE || (content == MIXED && row % 4 == 0) ? random_below(256)
                            : content == DRAWING && ink                            ? 200 + i % pixel
                            : content == WORDS && word                             ? (x * x) % 251
                                                                                   : 17);
    }
    for (size_t row = 0; row < count; row++) {
        data[row * line] = (uint8_t)(row % 5);
    }
    return data;
}

/* Packs strips of `strip` rows, each with up to `history` rows before it. Returns the packed size. */
static size_t check(const uint8_t *data, size_t line, unsigned pixel, uint32_t count, uint32_t strip,
                    uint32_t history) {
    struct deflate_lz *memory = malloc(deflate_lz_bytes());
    struct buf packed;
    buf_init(&packed, 256 << 20);
    for (uint32_t y = 0; y < count; y += strip) {
        const uint32_t before = history < y ? history : y, rows = count - y < strip ? count - y : strip;
        const size_t at = packed.size;
        const struct deflate_lines lines = {.data = data + (y - before) * line,
                                            .history = before * line,
                                            .size = (before + rows) * line,
                                            .line = line,
                                            .pixel = pixel};
        assert_int_equal(deflate_lz_block(memory, &lines, &packed, NULL), ST_OK);
        assert_true(packed.size - at <= deflate_lz_most(rows * line));
    }
    const size_t size = packed.size;
    assert_int_equal(deflate_rle_end(&packed, NULL), ST_OK);
    uint8_t *back = malloc(line * count);
    inflate_all(&packed, back, line * count);
    assert_memory_equal(back, data, line * count);
    free(back);
    buf_finish(&packed);
    free(memory);
    return size;
}

static void test_rows_of_every_kind(void **state) {
    static const unsigned pixels[] = {1, 2, 3, 4, 6, 8};
    static const size_t widths[] = {1, 2, 5, 63, 640, 5600};
    (void)state;
    for (unsigned i = 0; i < sizeof pixels / sizeof pixels[0]; i++) {
        for (unsigned k = 0; k < sizeof widths / sizeof widths[0]; k++) {
            const size_t line = 1 + widths[k] * pixels[i];
            for (enum content content = FLAT; content < CONTENTS; content++) {
                uint8_t *data = make_rows(line, pixels[i], 40, content);
                check(data, line, pixels[i], 40, 40, 0);
                check(data, line, pixels[i], 40, 7, (uint32_t)(32768 / line));
                check(data, line, pixels[i], 1, 1, 0);
                free(data);
            }
        }
    }
}

/* The same row again, at the largest distance that deflate has, and one beyond. */
static void test_the_largest_distance(void **state) {
    (void)state;
    for (size_t line = 32767; line <= 32770; line++) {
        uint8_t *data = make_rows(line, 1, 2, NOISE);
        memcpy(data + line, data, line);
        const size_t size = check(data, line, 1, 2, 2, 0);
        assert_true(line <= 32768 ? size < line * 11 / 10 : size > 2 * line);
        free(data);
    }
}

static void test_history_is_used_and_not_written(void **state) {
    enum { LINE = 1001, ROWS = 60 };
    (void)state;
    uint8_t *data = make_rows(LINE, 1, ROWS, NOISE);
    for (uint32_t row = 1; row < ROWS; row++) {
        memcpy(data + row * LINE, data, LINE);
    }
    const size_t without = check(data, LINE, 1, ROWS, 1, 0), with = check(data, LINE, 1, ROWS, 1, 1);
    assert_true(without > ROWS * LINE && with < 2 * LINE + ROWS * 100);
    free(data);
}

/* What lies behind the rows is read, and has no effect. */
static void test_what_lies_behind(void **state) {
    enum { LINE = 1 + 3 * 50, ROWS = 30, SIZE = LINE * ROWS };
    (void)state;
    struct deflate_lz *memory = malloc(deflate_lz_bytes());
    uint8_t *data = make_rows(LINE, 3, ROWS, WORDS);
    const struct deflate_lines lines = {.data = data, .size = SIZE, .line = LINE, .pixel = 3};
    struct buf packed[2];
    for (unsigned i = 0; i < 2; i++) {
        memset(data + SIZE, i ? 17 : 255, DEFLATE_LZ_PADDING);
        buf_init(&packed[i], 1 << 20);
        assert_int_equal(deflate_lz_block(memory, &lines, &packed[i], NULL), ST_OK);
    }
    assert_int_equal(packed[0].size, packed[1].size);
    assert_memory_equal(packed[0].data, packed[1].data, packed[0].size);
    buf_finish(&packed[0]);
    buf_finish(&packed[1]);
    free(data);
    free(memory);
}

static void test_matches_are_found(void **state) {
    enum { LINE = 1 + 3 * 640, ROWS = 100 };
    (void)state;
    uint8_t *data = make_rows(LINE, 3, ROWS, WORDS);
    assert_true(check(data, LINE, 3, ROWS, ROWS, 0) < LINE * ROWS / 20);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_of_every_kind),
        cmocka_unit_test(test_the_largest_distance),
        cmocka_unit_test(test_history_is_used_and_not_written),
        cmocka_unit_test(test_what_lies_behind),
        cmocka_unit_test(test_matches_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
