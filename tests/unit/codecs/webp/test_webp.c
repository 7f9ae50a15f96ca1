/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "core/clock.h"
#include "tests/unit/codecs/webp/webp_fixture.h"

enum { NOT_BUILT = 77 };

static const uint32_t sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {17, 33}, {64, 48}, {129, 5}};
enum { SIZES = sizeof sizes / sizeof *sizes };

static struct image round_trip(const struct image *image, const struct encode_options *options) {
    struct buf file = fixture_encode(CODEC_WEBP, image, options, NULL);
    struct image back = fixture_decode(buf_bytes(&file), false);
    assert_int_equal(back.width, image->width);
    assert_int_equal(back.height, image->height);
    buf_finish(&file);
    return back;
}

/* The 8-bit sample that a sample of any depth becomes. */
static unsigned expected_at(const struct image *image, uint32_t x, uint32_t y, unsigned channel) {
    const struct plane *plane = &image->plane[0];
    const uint8_t *row = plane_row(plane, y);
    size_t index = (size_t)x * plane->channels + channel;
    if (image->depth == 8) {
        return row[index];
    }
    uint16_t deep;
    memcpy(&deep, row + 2 * index, 2);
    return (deep + 128u) / 257u;
}

/* Largest difference of a channel of RGBA, 0 to 3. */
static unsigned difference(const struct image *image, const struct image *back, unsigned channel) {
    bool gray = image->plane[0].channels < 3, alpha = image_pixel_has_alpha(image->model);
    unsigned from = channel == 3 ? image->plane[0].channels - 1u : gray ? 0 : channel, worst = 0;
    for (uint32_t y = 0; y < image->height; y++) {
        for (uint32_t x = 0; x < image->width; x++) {
            unsigned wanted = channel == 3 && !alpha ? 255 : expected_at(image, x, y, from);
            unsigned got = channel == 3 && back->model == PIXEL_RGB
                               ? 255
                               : plane_row(&back->plane[0], y)[x * back->plane[0].channels + channel];
            unsigned off = wanted > got ? wanted - got : got - wanted;
            worst = off > worst ? off : worst;
        }
    }
    return worst;
}

/* Slopes without edges, nearly the same in each channel. */
static struct image soft_picture(struct image_shape shape) {
    struct image image = fixture_image(shape);
    for (uint32_t y = 0; y < shape.height; y++) {
        for (uint32_t i = 0; i < shape.width * image.plane[0].channels; i++) {
            uint32_t x = i / image.plane[0].channels, c = i % image.plane[0].channels;
            uint16_t deep = (uint16_t)((60 + (x + 2 * y) / 3 + 10 * c) * 257);
            uint8_t *row = plane_row(&image.plane[0], y);
            memcpy(row + (size_t)i * shape.depth / 8, &deep, shape.depth / 8);
        }
    }
    return image;
}

static void check_round_trip(struct image_shape shape, const struct encode_options *options, unsigned most) {
    struct image image = options->lossless ? fixture_painted(shape) : soft_picture(shape);
    struct image back = round_trip(&image, options);
    assert_int_equal(back.model, image_pixel_has_alpha(shape.model) ? PIXEL_RGBA : PIXEL_RGB);
    for (unsigned channel = 0; channel < 4; channel++) {
        assert_true(difference(&image, &back, channel) <= (channel == 3 ? 0 : most));
    }
    fixture_image_free(&back);
    fixture_image_free(&image);
}

static void each_shape(const struct encode_options *options, unsigned most) {
    for (unsigned depth = 8; depth <= 16; depth += 8) {
        for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
            for (size_t s = 0; s < SIZES; s++) {
                check_round_trip(fixture_shape((enum pixel_model)model, depth, sizes[s][0], sizes[s][1]),
                                 options, most);
            }
        }
    }
}

/* The colour of transparent pixels included: the painted alpha begins with 40, but some are made 0. */
static void test_lossless_is_exact(void **state) {
    (void)state;
    for (uint8_t effort = 0; effort <= 9; effort++) {
        each_shape(&(struct encode_options){.quality = 1, .effort = effort, .lossless = true}, 0);
    }
    struct image image = fixture_painted(fixture_shape(PIXEL_RGBA, 8, 30, 30));
    for (uint32_t x = 0; x < 30; x++) {
        plane_row(&image.plane[0], x)[4 * x + 3] = 0;
    }
    struct image back = round_trip(&image, &(struct encode_options){.quality = 80, .lossless = true});
    assert_int_equal(fixture_difference(&image, &back), 0);
    fixture_image_free(&back);
    fixture_image_free(&image);
}

static void test_lossy_is_near(void **state) {
    (void)state;
    for (uint8_t effort = 0; effort <= 9; effort++) {
        each_shape(&(struct encode_options){.quality = 95, .effort = effort}, 8);
    }
}

/* Grey is stored as RGB would be. */
static void test_gray_is_rgb(void **state) {
    (void)state;
    struct image gray = fixture_painted(fixture_shape(PIXEL_GRAY, 8, 50, 40));
    struct image rgb = fixture_image(fixture_shape(PIXEL_RGB, 8, 50, 40));
    for (uint32_t y = 0; y < 40; y++) {
        for (uint32_t x = 0; x < 150; x++) {
            plane_row(&rgb.plane[0], y)[x] = plane_row(&gray.plane[0], y)[x / 3];
        }
    }
    for (int lossless = 0; lossless <= 1; lossless++) {
        struct encode_options options = {.quality = 80, .effort = 4, .lossless = lossless};
        struct buf a = fixture_encode(CODEC_WEBP, &gray, &options, NULL);
        struct buf b = fixture_encode(CODEC_WEBP, &rgb, &options, NULL);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.data, b.data, a.size);
        buf_finish(&b);
        buf_finish(&a);
    }
    fixture_image_free(&rgb);
    fixture_image_free(&gray);
}

/* Planes come back as they were written, but for the loss of the quality; with other memory in the padding
 * the file is the same. */
static void test_planes_are_kept(void **state) {
    (void)state;
    for (size_t s = 0; s < SIZES; s++) {
        struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, sizes[s][0], sizes[s][1]);
        shape.chroma_shift_x = shape.chroma_shift_y = 1;
        struct image image = fixture_painted(shape);
        struct encode_options options = {.quality = 100, .effort = 4};
        struct buf file = fixture_encode(CODEC_WEBP, &image, &options, NULL);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.native.model, PIXEL_YCBCR);
        assert_int_equal(picture.pixels.model, PIXEL_RGB);
        struct image back = fixture_decode(buf_bytes(&file), true);
        assert_true(fixture_difference(&image, &back) <= 6);
        for (unsigned p = 0; p < 3; p++) {
            const struct plane *plane = &image.plane[p];
            memset(plane_row(plane, 0) + plane->width, 0, plane->stride - plane->width);
        }
        struct buf again = fixture_encode(CODEC_WEBP, &image, &options, NULL);
        assert_int_equal(again.size, file.size);
        assert_memory_equal(again.data, file.data, file.size);
        buf_finish(&again);
        fixture_image_free(&back);
        buf_finish(&file);
        fixture_image_free(&image);
    }
}

static void test_which_files_have_planes(void **state) {
    (void)state;
    static const struct {
        enum pixel_model model;
        bool lossless;
        enum pixel_model native, pixels;
    } cases[] = {
        {PIXEL_RGB, false, PIXEL_YCBCR, PIXEL_RGB},       {PIXEL_GRAY, false, PIXEL_YCBCR, PIXEL_RGB},
        {PIXEL_RGBA, false, PIXEL_RGBA, PIXEL_RGBA},      {PIXEL_RGB, true, PIXEL_RGB, PIXEL_RGB},
        {PIXEL_GRAY_ALPHA, true, PIXEL_RGBA, PIXEL_RGBA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf file = webp_picture(fixture_shape(cases[i].model, 8, 20, 20), cases[i].lossless);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.codec, CODEC_WEBP);
        assert_int_equal(picture.native.model, cases[i].native);
        assert_int_equal(picture.pixels.model, cases[i].pixels);
        buf_finish(&file);
    }
}

/* The colours of the planes that a decoder shows: white, black and grey have the limited range. */
static void test_planes_have_the_limited_range(void **state) {
    (void)state;
    static const uint8_t levels[][2] = {{0, 16}, {255, 235}, {128, 126}};
    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        struct image image = fixture_image(fixture_shape(PIXEL_RGB, 8, 16, 16));
        for (uint32_t y = 0; y < 16; y++) {
            memset(plane_row(&image.plane[0], y), levels[i][0], 48);
        }
        struct encode_options options = {.quality = 100, .effort = 4};
        struct buf file = fixture_encode(CODEC_WEBP, &image, &options, NULL);
        struct image planes = fixture_decode(buf_bytes(&file), true);
        assert_in_range(planes.plane[0].data[0], levels[i][1] - 1, levels[i][1] + 1);
        assert_in_range(planes.plane[1].data[0], 127, 129);
        fixture_image_free(&planes);
        buf_finish(&file);
        fixture_image_free(&image);
    }
}

static enum status encode_status(struct image_shape shape, const struct encode_options *options, size_t room,
                                 struct error *err) {
    struct image image = fixture_painted(shape);
    struct buf output;
    buf_init(&output, room);
    enum status status = codec_encode(CODEC_WEBP, &image, options, NULL, &output, err);
    buf_finish(&output);
    fixture_image_free(&image);
    return status;
}

static void test_the_longest_side(void **state) {
    (void)state;
    struct encode_options options = {.quality = 10};
    struct error err = {0};
    assert_int_equal(encode_status(fixture_shape(PIXEL_GRAY, 8, 16383, 1), &options, 1 << 20, &err), ST_OK);
    assert_int_equal(encode_status(fixture_shape(PIXEL_RGB, 8, 1, 16383), &options, 1 << 20, &err), ST_OK);
    for (int lossless = 0; lossless <= 1; lossless++) {
        options.lossless = lossless;
        struct image_shape shape = fixture_shape(PIXEL_RGB, 8, 16384, 1);
        assert_int_equal(encode_status(shape, &options, 1 << 20, &err), ST_LIMIT);
        assert_non_null(strstr(err.text, "16384 x 1"));
        assert_non_null(strstr(err.text, "at most 16383"));
    }
}

static void test_what_ends_an_encoding(void **state) {
    (void)state;
    struct image_shape shape = fixture_shape(PIXEL_RGB, 8, 200, 200);
    for (int lossless = 0; lossless <= 1; lossless++) {
        struct encode_options options = {.quality = 90, .effort = 4, .lossless = lossless, .deadline_ns = 1};
        struct error err = {0};
        assert_int_equal(encode_status(shape, &options, 1 << 20, &err), ST_LIMIT);
        options.deadline_ns = 0;
        for (size_t room = 0; room < 200; room += 9) {
            assert_int_equal(encode_status(shape, &options, room, &err), ST_LIMIT);
            assert_true(err.text[0] != '\0');
        }
    }
}

/* Effort 9 may take two seconds for these pixels, so that a near deadline gets the file of effort 8. */
static void test_a_near_deadline_costs_effort(void **state) {
    (void)state;
    struct image image = fixture_painted(fixture_shape(PIXEL_RGBA, 8, 300, 300));
    for (int lossless = 0; lossless <= 1; lossless++) {
        struct encode_options options = {.quality = 90, .effort = 8, .lossless = lossless};
        struct buf expected = fixture_encode(CODEC_WEBP, &image, &options, NULL);
        options.effort = 9;
        options.deadline_ns = clock_ns() + 1500000000;
        struct buf got = fixture_encode(CODEC_WEBP, &image, &options, NULL);
        assert_int_equal(got.size, expected.size);
        assert_memory_equal(got.data, expected.data, got.size);
        buf_finish(&got);
        buf_finish(&expected);
    }
    fixture_image_free(&image);
}

static void test_what_ends_a_decoding(void **state) {
    (void)state;
    struct buf file = webp_picture(fixture_shape(PIXEL_RGB, 8, 200, 100), false);
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.deadline_ns = 1;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    limits = fixture_limits();
    limits.max_side = 199;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    limits = fixture_limits();
    limits.max_pixels = 19999;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    limits = fixture_limits();
    limits.max_memory = 1000;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "memory limit"));
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lossless_is_exact),
        cmocka_unit_test(test_lossy_is_near),
        cmocka_unit_test(test_gray_is_rgb),
        cmocka_unit_test(test_planes_are_kept),
        cmocka_unit_test(test_which_files_have_planes),
        cmocka_unit_test(test_planes_have_the_limited_range),
        cmocka_unit_test(test_the_longest_side),
        cmocka_unit_test(test_what_ends_an_encoding),
        cmocka_unit_test(test_a_near_deadline_costs_effort),
        cmocka_unit_test(test_what_ends_a_decoding),
    };
    if (!codec_decodes(CODEC_WEBP)) {
        puts("built without libwebp");
        return NOT_BUILT;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
