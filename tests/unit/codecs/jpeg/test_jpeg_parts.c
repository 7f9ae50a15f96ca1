/* SPDX-License-Identifier: MIT
 * Idle threads help the own JPEG encoder: the bytes are those of libjpeg-turbo, which has no help. */
#include "codecs/jpeg/baseline/baseline.h"
#include "tests/filters/helpers.h"
#include "tests/unit/codecs/jpeg/jpeg_random.h"
#include "tests/unit/codecs/picture_fixture.h"

#include <stdio.h>
#include <string.h>

#include "codecs/codec.h"

enum content { NOISE, SMOOTH, FLAT, ONES, CONTENTS };

/* ONES: hard edges, whose large coefficients have many bits that are 1. */
static uint8_t sample(enum content content, uint32_t x, uint32_t y) {
    switch (content) {
    case NOISE:
        return (uint8_t)random_below(256);
    case SMOOTH:
        return (uint8_t)(40 + (x / 3 + y) % 160);
    case FLAT:
        return 77;
    default:
        return (x / 4 + y / 8) % 2 ? 255 : 0;
    }
}

static struct image painted(unsigned shift, uint32_t width, uint32_t height, enum content content) {
    struct image_shape shape = fixture_shape(shift > 1 ? PIXEL_GRAY : PIXEL_YCBCR, 8, width, height);
    shape.chroma_shift_x = shape.chroma_shift_y = shift == 1;
    struct image image = fixture_image(shape);
    for (unsigned p = 0; p < image.plane_count; p++) {
        for (uint32_t y = 0; y < image.plane[p].height; y++) {
            for (uint32_t x = 0; x < image.plane[p].width; x++) {
                plane_row(&image.plane[p], y)[x] = sample(content, x + p, y);
            }
        }
    }
    return image;
}

/* Grey planes, full colour and reduced colour; noise at quality 100 does not fit in the memory of the parts.
 */
static void compare(struct helpers *helpers, uint32_t width, uint32_t height, uint8_t quality) {
    for (unsigned kind = 0; kind < 3 * CONTENTS; kind++) {
        struct image image = painted(kind / CONTENTS, width, height, (enum content)(kind % CONTENTS));
        struct encode_options options = {.quality = quality, .optimal = true, .libjpeg = true};
        struct buf expected = fixture_encode(CODEC_JPEG, &image, &options, NULL);
        options.libjpeg = false;
        options.crew = helpers_crew(helpers);
        helpers_await(helpers);
        struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
        if (file.size != expected.size || memcmp(file.data, expected.data, file.size) != 0) {
            fail_msg("kind %u, %ux%u, quality %u: %zu bytes instead of %zu", kind, width, height, quality,
                     file.size, expected.size);
        }
        buf_finish(&file);
        buf_finish(&expected);
        fixture_image_free(&image);
    }
}

/* Where libjpeg-turbo encodes all pictures, nothing is to help with. */
static bool is_own(void) {
    const struct image_shape shape = fixture_shape(PIXEL_GRAY, 8, 1, 1);
    return baseline_takes(&shape, &(const struct encode_options){.optimal = true});
}

static void test_bytes(void **state) {
    (void)state;
    static const unsigned counts[] = {1, 3, 20};
    static const uint32_t sizes[][2] = {{64, 128},  {1, 200},  {9, 1000}, {200, 63},
                                        {333, 131}, {257, 64}, {16, 4000}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct helpers *helpers = helpers_start(counts[i], 1, false);
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            compare(helpers, sizes[s][0], sizes[s][1], (uint8_t)(30 + 20 * s / 2));
            compare(helpers, sizes[s][0], sizes[s][1], 100);
        }
        assert_int_equal(helpers_stop(helpers) > 0, is_own());
    }
}

/* Every maximum of the output fails alike, except that of the whole file. */
static void test_output_limits(void **state) {
    (void)state;
    if (!is_own()) {
        skip(); /* libjpeg-turbo asks for more room than it needs */
    }
    struct image image = painted(1, 100, 300, NOISE);
    struct helpers *helpers = helpers_start(2, 1, false);
    const struct encode_options options = {.quality = 85, .optimal = true, .crew = helpers_crew(helpers)};
    struct buf whole = fixture_encode(CODEC_JPEG, &image, &options, NULL), file;
    struct error err = {0};
    for (size_t maximum = 0; maximum <= whole.size; maximum += maximum + 300 < whole.size ? 257 : 1) {
        buf_init(&file, maximum);
        helpers_await(helpers);
        assert_int_equal(codec_encode(CODEC_JPEG, &image, &options, NULL, &file, &err),
                         maximum < whole.size ? ST_LIMIT : ST_OK);
        buf_finish(&file);
    }
    helpers_stop(helpers);
    buf_finish(&whole);
    fixture_image_free(&image);
}

static void test_deadline(void **state) {
    (void)state;
    struct image image = painted(1, 100, 300, SMOOTH);
    struct helpers *helpers = helpers_start(2, 1, false);
    const struct encode_options options = {
        .quality = 85, .optimal = true, .deadline_ns = 1, .crew = helpers_crew(helpers)};
    struct error err = {0};
    struct buf file;
    buf_init(&file, 1 << 20);
    assert_int_equal(codec_encode(CODEC_JPEG, &image, &options, NULL, &file, &err), ST_LIMIT);
    buf_finish(&file);
    helpers_stop(helpers);
    fixture_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_output_limits),
        cmocka_unit_test(test_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
