/* SPDX-License-Identifier: MIT
 * JPEG XL by libjxl, in this process: pixels and failures. */
#include "codecs/peek.h"
#include "core/clock.h"
#include "tests/unit/codecs/jxl/jxl_fixture.h"

#include <stdio.h>

static const uint32_t sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {17, 33}, {300, 129}};

/* Encodes, decodes, and returns the largest difference. The header says the same to a look and to a probe. */
static unsigned round_trip(struct image_shape shape, const struct encode_options *options) {
    struct image image = fixture_painted(shape);
    struct buf file = fixture_encode(CODEC_JXL, &image, options, NULL);
    struct peek look = {0};
    assert_true(peek_header(buf_bytes(&file), &look));
    assert_int_equal(look.codec, CODEC_JXL);
    assert_int_equal(look.width, shape.width);
    assert_int_equal(look.height, shape.height);
    assert_int_equal(look.depth, shape.depth);
    assert_int_equal(look.channels, image_pixel_has_alpha(shape.model) ? 4 : 3);
    struct image back = fixture_decode(buf_bytes(&file), false);
    unsigned difference = fixture_difference(&image, &back);
    fixture_image_free(&back);
    fixture_image_free(&image);
    buf_finish(&file);
    return difference;
}

static void test_lossless_is_exact(void **state) {
    (void)state;
    for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        for (unsigned depth = 8; depth <= 16; depth += 8) {
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                struct encode_options options = {.lossless = true, .effort = (uint8_t)(2 * s)};
                assert_int_equal(
                    round_trip(fixture_shape((enum pixel_model)model, depth, sizes[s][0], sizes[s][1]),
                               &options),
                    0);
            }
        }
    }
}

/* Of a JPEG with quality 100 and full chroma, and of libjxl's coder at its best. */
static void test_losses_are_small(void **state) {
    (void)state;
    for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        for (unsigned depth = 8; depth <= 16; depth += 8) {
            for (uint8_t effort = 1; effort <= 9; effort = (uint8_t)(effort + 4)) {
                struct encode_options options = {
                    .quality = 100, .effort = effort, .subsampling = SUBSAMPLING_444};
                unsigned most = depth == 8 ? 6 : 6 * 257;
                assert_true(round_trip(fixture_shape((enum pixel_model)model, depth, 64, 48), &options) <=
                            most);
            }
        }
    }
}

static void test_quality_and_effort(void **state) {
    (void)state;
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 200, 120));
    for (uint8_t effort = 0; effort <= 9; effort++) {
        size_t previous = 0;
        for (uint8_t quality = 10; quality <= 100; quality = (uint8_t)(quality + 45)) {
            struct encode_options options = {.quality = quality, .effort = effort};
            struct buf file = fixture_encode(CODEC_JXL, &image, &options, NULL);
            assert_true(file.size > previous);
            previous = file.size;
            buf_finish(&file);
        }
    }
    fixture_image_free(&image);
}

/* ---- failures ---- */

static struct buf plain_file(void) {
    const struct encode_options options = {.quality = 50, .keep_metadata = true};
    return jxl_painted(PIXEL_RGB, 8, &options, &(struct metadata){.orientation = 6});
}

static void test_cut_files(void **state) {
    (void)state;
    struct buf file = plain_file();
    fixture_try_cut(buf_bytes(&file), 2);
    buf_finish(&file);
}

static void test_damaged_files(void **state) {
    (void)state;
    struct buf file = plain_file();
    fixture_try_damaged(&file, 2);
    buf_finish(&file);
}

static void test_size_limits_come_first(void **state) {
    (void)state;
    /* 2^30 x 2^30 pixels. */
    static const uint8_t huge[] = {0xFF, 0x0A, 0xFE, 0xFF, 0xFF, 0xFF, 0xF1, 0xFF,
                                   0xFF, 0xFF, 0x3F, 0,    0,    0,    0,    0};
    struct buf file = plain_file();
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    limits.max_pixels = 40 * 24 - 1;
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "40 x 24 = 960 pixels"));
    limits = fixture_limits();
    limits.max_side = 39;
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_LIMIT);
    limits = fixture_limits();
    assert_int_equal(codec_probe((struct bytes){huge, sizeof huge}, &limits, &picture, &err), ST_LIMIT);
    buf_finish(&file);
}

static void test_deadlines(void **state) {
    (void)state;
    struct buf file = plain_file(), output;
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.deadline_ns = 1;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 16, 16));
    struct encode_options options = {.quality = 50, .deadline_ns = 1};
    buf_init(&output, 1 << 20);
    assert_int_equal(codec_encode(CODEC_JXL, &image, &options, NULL, &output, &err), ST_LIMIT);
    buf_finish(&output);
    /* A lower effort meets the deadline. */
    struct image large = fixture_painted(fixture_shape(PIXEL_RGB, 8, 1024, 1024));
    options = (struct encode_options){.lossless = true, .effort = 9, .deadline_ns = clock_ns() + 1000000000};
    output = fixture_encode(CODEC_JXL, &large, &options, NULL);
    buf_finish(&output);
    fixture_image_free(&large);
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_full_output(void **state) {
    (void)state;
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 64, 64));
    struct encode_options options = {.quality = 90};
    struct error err = {0};
    struct buf output;
    buf_init(&output, 100);
    assert_int_equal(codec_encode(CODEC_JXL, &image, &options, NULL, &output, &err), ST_LIMIT);
    buf_finish(&output);
    fixture_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lossless_is_exact),
        cmocka_unit_test(test_losses_are_small),
        cmocka_unit_test(test_quality_and_effort),
        cmocka_unit_test_setup_teardown(test_cut_files, jxl_hush, jxl_speak),
        cmocka_unit_test_setup_teardown(test_damaged_files, jxl_hush, jxl_speak),
        cmocka_unit_test(test_size_limits_come_first),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_full_output),
    };
    if (!codec_decodes(CODEC_JXL)) {
        printf("this build has no JPEG XL\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
