/* SPDX-License-Identifier: MIT
 * BMP files made byte by byte; tests/http/test_bmp.py has all kinds. */
#include "codecs/peek.h"
#include "core/clock.h"
#include "tests/unit/codecs/picture_fixture.h"

enum { FILE_HEADER = 14, INFO = 40, MOST = 256 };

struct file {
    size_t size;
    uint8_t data[MOST];
};

static void add(struct file *file, uint32_t value, unsigned size) {
    for (unsigned i = 0; i < size; i++) {
        file->data[file->size++] = (uint8_t)(value >> 8 * i);
    }
}

/* Headers, and a palette of black, red and green for up to 8 bits. */
static struct file start(uint32_t width, uint32_t height, unsigned bits, uint32_t coding) {
    static const uint32_t palette[] = {0, 0xFF0000, 0xFF00};
    const unsigned colours = bits <= 8 ? 3 : 0;
    struct file file = {0};
    add(&file, 'B' | 'M' << 8, 2);
    add(&file, 0, 4);
    add(&file, 0, 4);
    add(&file, FILE_HEADER + INFO + 4 * colours, 4);
    const uint32_t numbers[] = {INFO, width, height, 1 | bits << 16, coding, 0, 0, 0, colours, 0};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        add(&file, numbers[i], 4);
    }
    for (unsigned i = 0; i < colours; i++) {
        add(&file, palette[i], 4);
    }
    return file;
}

static void append(struct file *file, const char *data, size_t size) {
    memcpy(file->data + file->size, data, size);
    file->size += size;
}

/* In a block of its size, so that a sanitizer sees what is read behind it. */
static enum status try(const struct file *file, const struct codec_limits *limits, struct error *err) {
    uint8_t *copy = malloc(file->size);
    memcpy(copy, file->data, file->size);
    enum status status = fixture_try((struct bytes){copy, file->size}, limits, err);
    free(copy);
    return status;
}

static void check_pixels(const struct file *file, const char *wanted) {
    struct image image = fixture_decode((struct bytes){file->data, file->size}, true);
    for (uint32_t y = 0; y < image.height; y++) {
        for (uint32_t x = 0; x < image.width; x++, wanted++) {
            const uint8_t *p = plane_row(&image.plane[0], y) + 3 * (size_t)x;
            char found = p[0] == 255 ? 'r' : p[1] == 255 ? 'g' : p[2] == 255 ? 'b' : '.';
            assert_int_equal(found, *wanted);
        }
    }
    fixture_image_free(&image);
}

static void test_rows_from_below(void **state) {
    (void)state;
    struct file file = start(3, 2, 24, 0);
    append(&file, "\0\0\xFF\0\xFF\0\xFF\0\0\0\0\0", 12); /* red, green, blue */
    append(&file, "\0\0\0\0\0\xFF\0\0\0", 9);            /* the last row is not filled */
    check_pixels(&file, ".r.rgb");
    struct peek header;
    assert_true(peek_header((struct bytes){file.data, file.size}, &header));
    assert_true(header.width == 3 && header.height == 2 && header.channels == 3);
    file.data[22] = 0xFE, file.data[23] = file.data[24] = file.data[25] = 0xFF; /* -2: from above */
    check_pixels(&file, "rgb.r.");
    assert_true(peek_header((struct bytes){file.data, file.size}, &header) && header.height == 2);
}

static void test_runs(void **state) {
    (void)state;
    struct file file = start(5, 3, 8, 1);
    append(&file, "\2\1\0\3\2\2\1\0\0\0", 10); /* 2 red, 3 literal, end of the row */
    append(&file, "\0\2\1\1\xFF\2\0\1", 8);    /* one to the right and up, 255 green, the end */
    check_pixels(&file, ".gggg.....rrggr");
    struct file half = start(5, 1, 4, 2);
    append(&half, "\4\x12\0\1", 4);
    check_pixels(&half, "rgrg.");
}

/* Each cut is an error, and reads nothing behind it. */
static void test_cuts(void **state) {
    (void)state;
    const struct codec_limits limits = fixture_limits();
    struct error err;
    struct file rows = start(3, 2, 4, 0), runs = start(5, 3, 8, 1);
    append(&rows, "\x12\x10\0\0\x01\x20", 6);
    append(&runs, "\2\1\0\3\2\2\1\0\0\2\1\1\3\2\0\1", 16);
    for (unsigned i = 0; i < 2; i++) {
        struct file file = i == 0 ? rows : runs;
        assert_int_equal(try(&file, &limits, &err), ST_OK);
        while (--file.size > 2) {
            assert_int_equal(try(&file, &limits, &err), ST_CORRUPT);
            assert_true(err.text[0]);
        }
    }
}

static void test_limits(void **state) {
    (void)state;
    struct codec_limits limits = fixture_limits();
    struct error err;
    struct file file = start(3, 2, 4, 0);
    append(&file, "\x12\x10\0\0\x01\x20", 6);
    limits.max_side = 2;
    assert_int_equal(try(&file, &limits, &err), ST_LIMIT);
    limits.max_side = 3, limits.max_pixels = 5;
    assert_int_equal(try(&file, &limits, &err), ST_LIMIT);
    limits.max_pixels = 6, limits.deadline_ns = clock_ns() - 1;
    assert_int_equal(try(&file, &limits, &err), ST_LIMIT);
    limits.deadline_ns = 0;
    assert_int_equal(try(&file, &limits, &err), ST_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_from_below),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
