/* SPDX-License-Identifier: MIT
 * JPEGs that are encoded while their picture is being made. */
#include "tests/unit/codecs/picture_fixture.h"

static const struct image_shape shapes[] = {
    {.model = PIXEL_YCBCR, .depth = 8, .width = 83, .height = 61, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .width = 64, .height = 48, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .width = 9, .height = 41},
    {.model = PIXEL_GRAY, .depth = 8, .width = 33, .height = 57},
    {.model = PIXEL_RGB, .depth = 8, .width = 40, .height = 50},
    {.model = PIXEL_RGBA, .depth = 8, .width = 31, .height = 35},
    {.model = PIXEL_RGB, .depth = 16, .width = 21, .height = 39},
};

enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Rows `from` to `to` of one picture into another, as core/producer.h says of planes. */
static void copy_rows(const struct image *source, const struct image *target, uint32_t from, uint32_t to) {
    for (unsigned p = 0; p < source->plane_count; p++) {
        const struct plane *plane = &source->plane[p];
        uint32_t end = to == source->height ? plane->height : to >> plane->shift_y;
        for (uint32_t y = from >> plane->shift_y; y < end; y++) {
            memcpy(plane_row(&target->plane[p], y), plane_row(plane, y),
                   plane_row_bytes(plane, source->depth));
        }
    }
}

/* The picture in pieces of so many rows, of which the encoder is told as soon as they are there. */
static struct buf encode_in_pieces(const struct image *painted, const struct encode_options *options,
                                   uint32_t step) {
    struct image image = fixture_image(image_shape(painted));
    struct encoding *encoding;
    struct error err = {0};
    struct buf file;
    buf_init(&file, 1 << 26);
    assert_int_equal(codec_encode_begin(CODEC_JPEG, &image, options, NULL, &file, &encoding, &err), ST_OK);
    assert_non_null(encoding);
    for (uint32_t y = 0, end; y < image.height; y = end) {
        end = image.height - y < step ? image.height : y + step;
        copy_rows(painted, &image, y, end);
        codec_encode_rows(encoding, end);
        codec_encode_rows(encoding, end);
    }
    assert_int_equal(codec_encode_end(encoding, true, &err), ST_OK);
    fixture_image_free(&image);
    return file;
}

static void test_pieces_make_the_same_file(void **state) {
    (void)state;
    static const uint32_t steps[] = {1, 7, 8, 16, 24, 1000};
    for (unsigned s = 0; s < SHAPES; s++) {
        for (unsigned i = 0; i < 3 * sizeof steps / sizeof *steps; i++) {
            struct encode_options options = fixture_options();
            options.progressive = i % 3 == 1;
            options.optimal = i % 3 == 2;
            struct image painted = fixture_painted(shapes[s]);
            struct buf whole = fixture_encode(CODEC_JPEG, &painted, &options, NULL);
            struct buf pieces = encode_in_pieces(&painted, &options, steps[i / 3]);
            assert_int_equal(pieces.size, whole.size);
            assert_memory_equal(pieces.data, whole.data, whole.size);
            buf_finish(&pieces);
            buf_finish(&whole);
            fixture_image_free(&painted);
        }
    }
}

/* Aborts after any number of rows. The sanitizers check that all memory is freed. */
static void test_an_encoding_is_given_up(void **state) {
    (void)state;
    for (uint32_t rows = 0; rows <= shapes[0].height; rows += 10) {
        struct image painted = fixture_painted(shapes[0]);
        struct encode_options options = fixture_options();
        struct encoding *encoding;
        struct buf file;
        buf_init(&file, 1 << 26);
        assert_int_equal(
            codec_encode_begin(CODEC_JPEG, &painted, &options, NULL, &file, &encoding, &(struct error){0}),
            ST_OK);
        codec_encode_rows(encoding, rows);
        assert_int_equal(codec_encode_end(encoding, false, NULL), ST_OK);
        buf_finish(&file);
        fixture_image_free(&painted);
    }
}

/* A failure in any piece is told at the end, and the pieces after it do nothing. */
static void check_failure(const struct encode_options *options, size_t maximum, const char *says) {
    struct image painted = fixture_painted(shapes[0]);
    struct encoding *encoding;
    struct buf file;
    struct error err = {0};
    buf_init(&file, maximum);
    assert_int_equal(codec_encode_begin(CODEC_JPEG, &painted, options, NULL, &file, &encoding, &err), ST_OK);
    for (uint32_t rows = 0; rows <= painted.height; rows += 16) {
        codec_encode_rows(encoding, rows);
    }
    assert_int_equal(codec_encode_end(encoding, true, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, says));
    buf_finish(&file);
    fixture_image_free(&painted);
}

static void test_failures_show_at_the_end(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    check_failure(&options, 10, "");
    check_failure(&options, 700, "");
    options.deadline_ns = 1;
    check_failure(&options, 1 << 20, "time limit");
    options.optimal = true;
    check_failure(&options, 1 << 20, "time limit");
    options.deadline_ns = 0;
    check_failure(&options, 700, "");
}

static void test_what_cannot_begin(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    struct encoding *encoding;
    struct error err = {0};
    struct buf file;
    buf_init(&file, 1 << 20);
    struct image wide = fixture_image(fixture_shape(PIXEL_GRAY, 8, 65501, 1));
    assert_int_equal(codec_encode_begin(CODEC_JPEG, &wide, &options, NULL, &file, &encoding, &err), ST_LIMIT);
    assert_null(encoding);
    assert_int_equal(codec_encode_begin(CODEC_PNG, &wide, &options, NULL, &file, &encoding, &err), ST_OK);
    assert_null(encoding); /* it wants the whole picture */
    struct image planes = fixture_image(shapes[0]);
    assert_int_equal(codec_encode_begin(CODEC_PNG, &planes, &options, NULL, &file, &encoding, &err),
                     ST_INTERNAL);
    fixture_image_free(&planes);
    fixture_image_free(&wide);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_make_the_same_file),
        cmocka_unit_test(test_an_encoding_is_given_up),
        cmocka_unit_test(test_failures_show_at_the_end),
        cmocka_unit_test(test_what_cannot_begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
