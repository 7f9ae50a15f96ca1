/* SPDX-License-Identifier: MIT */
#include "codecs/peek.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* A picture that is refused by its header must not be predicted to take minutes. */
static void test_what_is_possible(void **state) {
    (void)state;
    const struct codec_limits limits = {.max_pixels = 64000000, .max_side = 16384};
    struct peek header = {.codec = CODEC_JPEG, .width = 1920, .height = 1080, .channels = 3, .depth = 8};
    assert_true(peek_is_possible(&header, 100000, &limits));
    assert_false(peek_is_possible(&header, 4000, &limits));
    header.codec = CODEC_PNG;
    assert_true(peek_is_possible(&header, 4000, &limits));
    assert_false(peek_is_possible(&header, 200, &limits));
    header.codec = CODEC_WEBP; /* a flat picture takes next to nothing */
    assert_true(peek_is_possible(&header, 20, &limits));
    header.width = 16385;
    assert_false(peek_is_possible(&header, 1 << 30, &limits));
    header.width = header.height = 10000;
    assert_false(peek_is_possible(&header, 1 << 30, &limits));
}

static void test_peek(void **state) {
    (void)state;
    static const uint8_t jpeg[] = {0xFF, 0xD8, 0xFF, 0xE0, 0, 4, 1,    2, 0xFF, 0xFF, 0xC2, 0, 17,   8,
                                   0,    9,    0,    7,    3, 1, 0x22, 0, 2,    0x11, 1,    3, 0x11, 1};
    static const uint8_t png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\5\x10\4\0\0\1";
    struct peek header;
    assert_true(peek_header((struct bytes){jpeg, sizeof jpeg}, &header));
    assert_int_equal(header.width, 7);
    assert_int_equal(header.height, 9);
    assert_true(header.progressive && header.sampling == 0x22);
    for (size_t size = 0; size < sizeof jpeg - 6; size++) {
        assert_false(peek_header((struct bytes){jpeg, size}, &header));
    }
    uint8_t flat[sizeof jpeg];
    memcpy(flat, jpeg, sizeof jpeg);
    flat[15] = 0; /* the height */
    assert_false(peek_header((struct bytes){flat, sizeof flat}, &header));
    assert_true(peek_header((struct bytes){png, sizeof png - 1}, &header));
    assert_int_equal(header.width, 256);
    assert_int_equal(header.depth, 16);
    assert_int_equal(header.channels, 2);
    assert_true(header.progressive);
    assert_false(peek_header((struct bytes){png, sizeof png - 2}, &header));
    assert_false(peek_header((struct bytes){NULL, 0}, &header));
}

/* A header of each kind of WebP. */
static void test_peek_at_webp(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        uint32_t width, height;
        uint8_t channels, sampling;
    } rows[] = {
        {"RIFF\x20\0\0\0WEBPVP8 \x14\0\0\0\x10\1\0\x9D\1\x2A\x2C\1\xC8\x40", 300, 200, 3, 0x22},
        {"RIFF\x20\0\0\0WEBPVP8L\x14\0\0\0\x2F\x2B\xC1\x31\x10\0\0\0\0\0", 300, 200, 4, 0},
        {"RIFF\x20\0\0\0WEBPVP8L\x14\0\0\0\x2F\x2B\xC1\x31\0\0\0\0\0\0", 300, 200, 3, 0},
        {"RIFF\x20\0\0\0WEBPVP8X\x0A\0\0\0\x10\0\0\0\x2B\1\0\xC7\0\0", 300, 200, 4, 0},
        {"RIFF\x20\0\0\0WEBPVP8X\x0A\0\0\0\x20\0\0\0\x2B\1\0\xC7\0\0", 300, 200, 3, 0},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct peek header;
        uint8_t file[30];
        memcpy(file, rows[i].bytes, sizeof file);
        assert_int_equal(peek_header((struct bytes){file, sizeof file}, &header), codec_decodes(CODEC_WEBP));
        assert_false(peek_header((struct bytes){file, 24}, &header));
        if (codec_decodes(CODEC_WEBP)) {
            assert_true(peek_header((struct bytes){file, sizeof file}, &header));
            assert_int_equal(header.width, rows[i].width);
            assert_int_equal(header.height, rows[i].height);
            assert_int_equal(header.channels, rows[i].channels);
            assert_int_equal(header.sampling, rows[i].sampling);
        }
    }
}

/* A box of that type with that content, which has less than 256 bytes. */
#define BOX(size, type, content) "\0\0\0" size type content

#define ISPE(width, height) BOX("\x14", "ispe", "\0\0\0\0\0\0" width "\0\0" height)
#define GREY BOX("\x0E", "pixi", "\0\0\0\0\1\x8")
#define DEEP BOX("\x10", "pixi", "\0\0\0\0\3\xA\xA\xA")
#define ALPHA BOX("\x19", "auxC", "\0\0\0\0x:auxid:1\0\0\0\0")
#define AVIF BOX("\x14", "ftyp", "avif\0\0\0\0avif")

enum { SIZE_END = 68 }; /* where the first size ends */

/* The largest item of a container counts. */
static void test_peek_at_avif(void **state) {
    (void)state;
#define FILE(size, inner, within, properties)                                                                \
    AVIF BOX(size, "meta", "\0\0\0\0" BOX(inner, "iprp", BOX(within, "ipco", properties)))
    static const struct {
        const char *bytes;
        size_t size;
        uint8_t channels, depth, sampling;
    } rows[] = {
#define ROW(size, inner, within, properties, channels, depth, sampling)                                      \
    {FILE(size, inner, within, properties), sizeof FILE(size, inner, within, properties) - 1, channels,      \
     depth, sampling}
        ROW("\x30", "\x24", "\x1C", ISPE("\1\x2C", "\0\xC8"), 3, 8, 0x22),
        ROW("\x44", "\x38", "\x30", ISPE("\0\x10", "\0\x10") ISPE("\1\x2C", "\0\xC8"), 3, 8, 0x22),
        ROW("\x3E", "\x32", "\x2A", ISPE("\1\x2C", "\0\xC8") GREY, 1, 8, 0),
        ROW("\x40", "\x34", "\x2C", ISPE("\1\x2C", "\0\xC8") DEEP, 3, 16, 0),
        ROW("\x49", "\x3D", "\x35", ISPE("\1\x2C", "\0\xC8") ALPHA, 4, 8, 0),
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows && codec_decodes(CODEC_AVIF); i++) {
        struct peek header;
        assert_true(peek_header((struct bytes){(const uint8_t *)rows[i].bytes, rows[i].size}, &header));
        assert_int_equal(header.width, 300);
        assert_int_equal(header.height, 200);
        assert_int_equal(header.channels, rows[i].channels);
        assert_int_equal(header.depth, rows[i].depth);
        assert_int_equal(header.sampling, rows[i].sampling);
        for (size_t size = 0; size < rows[i].size; size++) {
            uint8_t *cut = malloc(size + 1); /* of its size, so that a sanitizer sees reads beyond it */
            memcpy(cut, rows[i].bytes, size);
            assert_int_equal(peek_header((struct bytes){cut, size}, &header), size >= SIZE_END);
            free(cut);
        }
    }
}

/* Only the first, sequential kind of frame with 8 bits, in grey or colour. */
static void test_peek_at_baseline(void **state) {
    (void)state;
    static const struct {
        uint8_t marker, depth, components;
        bool baseline;
    } cases[] = {
        {0xC0, 8, 1, true},  {0xC0, 8, 3, true},   {0xC0, 8, 2, false},
        {0xC0, 8, 4, false}, {0xC0, 12, 3, false}, {0xC1, 8, 3, false},
        {0xC2, 8, 3, false}, {0xC3, 8, 1, false},  {0xC9, 8, 3, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t jpeg[23] = {0xFF, 0xD8, 0xFF, cases[i].marker,    0, 17, cases[i].depth, 0,
                                  9,    0,    7,    cases[i].components};
        struct peek header;
        assert_true(peek_header((struct bytes){jpeg, sizeof jpeg}, &header));
        assert_int_equal(header.channels, cases[i].components);
        assert_int_equal(header.baseline, cases[i].baseline);
    }
    static const uint8_t png[] = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\0\5\x8\0\0\0\0";
    struct peek header;
    assert_true(peek_header((struct bytes){png, sizeof png - 1}, &header));
    assert_false(header.baseline);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_possible), cmocka_unit_test(test_peek),
        cmocka_unit_test(test_peek_at_webp),     cmocka_unit_test(test_peek_at_avif),
        cmocka_unit_test(test_peek_at_baseline),
    };
    return cmocka_run_group_tests_name("peek", tests, NULL, NULL);
}
