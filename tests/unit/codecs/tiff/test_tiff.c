/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/losses.h"
#include "codecs/peek.h"
#include "core/clock.h"
#include "tests/unit/codecs/tiff/tiff_fixture.h"

static void refuse(const struct tiff_fixture_tag *tags, enum status expected, const char *word) {
    struct tiff_fixture file;
    struct codec_limits limits = fixture_limits();
    struct error err;
    tiff_fixture_start(&file, true, false);
    tiff_fixture_grey(&file, tags);
    assert_int_equal(fixture_try(tiff_fixture_bytes(&file), &limits, &err), expected);
    if (!strstr(err.text, word)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, word);
    }
}

static void test_grey(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        struct tiff_fixture file;
        struct peek header;
        tiff_fixture_start(&file, i & 1, i & 2);
        tiff_fixture_grey(&file, NULL);
        struct bytes input = tiff_fixture_bytes(&file);
        struct picture picture = fixture_probe(input);
        assert_int_equal(picture.codec, CODEC_TIFF);
        assert_true(picture.exact);
        assert_int_equal(picture.pixels.model, PIXEL_GRAY);
        assert_int_equal(picture.metadata.losses, 0);
        codec_picture_finish(&picture);
        struct image image = fixture_decode(input, true);
        for (unsigned at = 0; at < 12; at++) {
            assert_int_equal(plane_row(&image.plane[0], at / 4)[at % 4], 10 + 10 * at);
        }
        fixture_image_free(&image);
        assert_true(peek_header(input, &header));
        assert_true(header.width == 4 && header.height == 3 && header.channels == 1 && header.depth == 8);
    }
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        struct tiff_fixture_tag tags[4];
        enum status status;
        const char *word;
    } cases[] = {
        {{{258, 3, 32, 0}}, ST_UNSUPPORTED, "32 bits"},
        {{{258, 3, 0, 0}}, ST_CORRUPT, "0 bits"},
        {{{339, 3, 3, 0}}, ST_UNSUPPORTED, "floating-point"},
        {{{259, 3, 50002, 0}}, ST_UNSUPPORTED, "JPEG XL"},
        {{{259, 3, 60000, 0}}, ST_UNSUPPORTED, "unknown compression 60000"},
        {{{262, 3, 8, 0}}, ST_UNSUPPORTED, "L*a*b*"},
        {{{262, 0, 0, 0}}, ST_CORRUPT, "PhotometricInterpretation"},
        {{{262, 3, 2, 0}}, ST_CORRUPT, "need 3"},
        {{{262, 3, 3, 0}}, ST_CORRUPT, "palette"},
        {{{277, 3, 0, 0}}, ST_CORRUPT, "0 samples"},
        {{{277, 3, 99, 0}}, ST_UNSUPPORTED, "99 samples"},
        {{{256, 4, 70000, 0}}, ST_LIMIT, "70000 x 3"},
        {{{257, 3, 0, 0}}, ST_CORRUPT, "4 x 0"},
        {{{257, 4, 4, 0}, {278, 3, 4, 0}}, ST_CORRUPT, "cannot hold its pixels"},
        {{{279, 4, 4000, 0}}, ST_CORRUPT, "strip 0 has 4000 bytes"},
        {{{273, 4, UINT32_MAX, 0}}, ST_CORRUPT, "from byte 4294967295"},
        {{{279, 0, 0, 0}}, ST_CORRUPT, "places"},
        {{{278, 3, 1, 0}}, ST_CORRUPT, "3 strips"},
        {{{322, 4, 1 << 20, 0}, {323, 4, 1 << 20, 0}}, ST_LIMIT, "too many"},
        {{{322, 4, UINT32_MAX, 0}, {323, 4, 1, 0}}, ST_LIMIT, "tiles"},
        {{{317, 3, 2, 0}, {259, 3, 5, 0}, {258, 3, 4, 0}}, ST_UNSUPPORTED, "predictor 2"},
        {{{259, 3, 5, 0}}, ST_CORRUPT, "TIFF data are damaged or cut short"},
        {{{259, 3, 8, 0}}, ST_CORRUPT, "TIFF data are damaged or cut short"},
        {{{259, 3, 7, 0}}, ST_CORRUPT, "TIFF data are damaged or cut short"},
        {{{259, 3, 32773, 0}}, ST_CORRUPT, "TIFF data are damaged or cut short"},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        refuse(cases[i].tags, cases[i].status, cases[i].word);
    }
}

/* 150,000 strips that are all the same 4,000 bytes would be copied for ten seconds. */
static void test_data_that_are_there_many_times(void **state) {
    (void)state;
    enum { PIECES = 60000, BYTES = 4000, DATA = 16, ARRAYS = DATA + BYTES };
    struct codec_limits limits = fixture_limits();
    struct error err;
    const struct tiff_fixture_tag tags[] = {{256, 3, 1, 0},
                                            {257, 4, PIECES, 0},
                                            {258, 3, 8, 0},
                                            {259, 3, 5, 0},
                                            {262, 3, 1, 0},
                                            {273, 4, ARRAYS, 0},
                                            {277, 3, 1, 0},
                                            {278, 3, 1, 0},
                                            {279, 4, ARRAYS + 4 * PIECES, 0},
                                            {0}};
    struct tiff_fixture file;
    limits.max_side = PIECES;
    tiff_fixture_start(&file, true, false);
    tiff_fixture_page(&file, tags);
    size_t size = ARRAYS + 8 * PIECES, at = 10;
    uint8_t *data = calloc(1, size + file.size);
    memcpy(data + size, file.data + 8, file.size - 8);
    memcpy(data, file.data, 4);
    data[4] = (uint8_t)size, data[5] = (uint8_t)(size >> 8), data[6] = (uint8_t)(size >> 16);
    for (uint8_t *entry = data + size + 2; at < 10 + 9; at++, entry += 12) {
        if (entry[0] == 17 || entry[0] == 23) { /* 273, 279 */
            entry[4] = PIECES & 255, entry[5] = PIECES >> 8;
        }
    }
    for (unsigned i = 0; i < PIECES; i++) {
        data[ARRAYS + 4 * i] = DATA;
        data[ARRAYS + 4 * (PIECES + i)] = BYTES & 255, data[ARRAYS + 4 * (PIECES + i) + 1] = BYTES >> 8;
    }
    assert_int_equal(fixture_try((struct bytes){data, size + file.size}, &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "more than once"));
    free(data);
}

static void test_pages(void **state) {
    (void)state;
    struct codec_limits limits = fixture_limits();
    struct tiff_fixture file;
    struct picture picture;
    struct error err;
    tiff_fixture_start(&file, false, false);
    tiff_fixture_grey(&file, NULL);
    tiff_fixture_grey(&file, (const struct tiff_fixture_tag[]){{257, 3, 2, 0}, {0}});
    struct bytes input = tiff_fixture_bytes(&file);
    assert_int_equal(codec_probe(input, &limits, &picture, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "2 pages"));
    limits.first_frame = true;
    for (limits.page = 0; limits.page < 2; limits.page++) {
        assert_int_equal(codec_probe(input, &limits, &picture, &err), ST_OK);
        assert_int_equal(picture.pixels.height, 3 - limits.page);
        assert_int_equal(picture.metadata.losses, LOSS_PICTURES);
        codec_picture_finish(&picture);
    }
    assert_int_equal(codec_probe(input, &limits, &picture, &err), ST_ARGUMENT);
    assert_string_equal(err.parameter, "page");
}

static void test_deadline(void **state) {
    (void)state;
    struct codec_limits limits = fixture_limits();
    struct tiff_fixture file;
    struct error err;
    tiff_fixture_start(&file, true, false);
    tiff_fixture_grey(&file, NULL);
    limits.deadline_ns = clock_ns() - 1;
    assert_int_equal(fixture_try(tiff_fixture_bytes(&file), &limits, &err), ST_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grey),     cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_pages),    cmocka_unit_test(test_data_that_are_there_many_times),
        cmocka_unit_test(test_deadline),
    };
    return codec_decodes(CODEC_TIFF) ? cmocka_run_group_tests(tests, NULL, NULL) : TIFF_FIXTURE_NOT_BUILT;
}
