/* SPDX-License-Identifier: MIT
 * A JPEG in strips: the bytes of libjpeg's restart markers whoever encodes them, and the pixels of a file
 * without. */
#include "codecs/jpeg_strips.h"

#include "codecs/jpeg.h"
#include "tests/filters/helpers.h"
#include "tests/unit/picture_fixture.h"

static const struct image_shape kinds[] = {
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 2},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 1},
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_GRAY, .depth = 16},
    {.model = PIXEL_GRAY_ALPHA, .depth = 8},
    {.model = PIXEL_RGB, .depth = 8},
    {.model = PIXEL_RGBA, .depth = 16},
};

static const uint32_t sizes[][2] = {{701, 901}, {3001, 209}, {20, 30000},
                                    {9000, 33}, {1024, 512}, {8200, 64}};

static struct image paint(unsigned kind, unsigned size) {
    struct image_shape shape = kinds[kind];
    shape.width = sizes[size][0];
    shape.height = sizes[size][1];
    return fixture_painted(shape);
}

static void check_same(const struct buf *a, const struct buf *b) {
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static void check_picture(struct crew *crew, const struct image *image, const struct metadata *metadata) {
    struct encode_options options = {.quality = 88, .keep_metadata = true};
    struct buf alone = fixture_encode(CODEC_JPEG, image, &options, metadata);
    options.crew = crew;
    for (unsigned i = 0; i < 3; i++) {
        struct buf file = fixture_encode(CODEC_JPEG, image, &options, metadata);
        check_same(&file, &alone);
        buf_finish(&file);
    }
    struct buf plain;
    struct error err = {0};
    buf_init(&plain, 64 << 20);
    assert_int_equal(jpeg_encode_picture(image, &options, metadata, 0, &plain, &err), ST_OK);
    struct image a = fixture_decode(buf_bytes(&alone), true), b = fixture_decode(buf_bytes(&plain), true);
    assert_int_equal(fixture_difference(&a, &b), 0);
    fixture_image_free(&a);
    fixture_image_free(&b);
    buf_finish(&plain);
    buf_finish(&alone);
}

static void test_the_bytes_do_not_depend_on_helpers(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(3, 1000, false);
    for (unsigned kind = 0; kind < sizeof(kinds) / sizeof(*kinds); kind++) {
        for (unsigned size = 0; size < sizeof(sizes) / sizeof(*sizes); size++) {
            struct image image = paint(kind, size);
            check_picture(helpers_crew(helpers), &image, NULL);
            fixture_image_free(&image);
        }
    }
    assert_true(helpers_stop(helpers) > 0);
}

/* What stands before the picture may look like what is searched for in it. */
static void test_metadata_stays_in_front(void **state) {
    (void)state;
    static const uint8_t comment[] = {0xFF, 0xC0, 0xFF, 0xDA, 0xFF, 0xD9};
    struct metadata metadata = {.source = CODEC_JPEG, .orientation = 1, .chunk_count = 1};
    metadata.chunk[0] = (struct metadata_chunk){0xFE, {comment, sizeof(comment)}};
    struct helpers *helpers = helpers_start(2, 1000, false);
    struct image image = paint(0, 0);
    check_picture(helpers_crew(helpers), &image, &metadata);
    fixture_image_free(&image);
    helpers_stop(helpers);
}

static void test_small_and_progressive_pictures_have_none(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    struct image image = paint(0, 0);
    assert_int_equal(jpeg_strip_rows(&image, &options), 352);
    options.progressive = true;
    assert_int_equal(jpeg_strip_rows(&image, &options), 0);
    options.progressive = false;
    image.height = 352;
    assert_int_equal(jpeg_strip_rows(&image, &options), 0);
    image.width = 65500;
    assert_int_equal(jpeg_strip_rows(&image, &options), IMAGE_MCU);
    fixture_image_free(&image);
}

static void check_limits(struct crew *crew, const struct image *image) {
    struct encode_options options = {.quality = 90, .deadline_ns = 1, .crew = crew};
    struct error err = {0};
    struct buf output;
    buf_init(&output, 64 << 20);
    assert_int_equal(codec_encode(CODEC_JPEG, image, &options, NULL, &output, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "time limit"));
    assert_int_equal(err.status, ST_LIMIT);
    buf_finish(&output);
    options.deadline_ns = 0;
    for (size_t maximum = 0; maximum < 1 << 20; maximum = maximum * 2 + 1) {
        buf_init(&output, maximum);
        enum status status = codec_encode(CODEC_JPEG, image, &options, NULL, &output, &err);
        assert_true(status == ST_LIMIT || (status == ST_OK && output.size > 10000));
        buf_finish(&output);
    }
}

static void test_limits_hold(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(2, 1000, false);
    struct image image = paint(0, 0);
    check_limits(NULL, &image);
    check_limits(helpers_crew(helpers), &image);
    fixture_image_free(&image);
    helpers_stop(helpers);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_bytes_do_not_depend_on_helpers),
        cmocka_unit_test(test_metadata_stays_in_front),
        cmocka_unit_test(test_small_and_progressive_pictures_have_none),
        cmocka_unit_test(test_limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
