/* SPDX-License-Identifier: MIT
 * GIF: what is written is read back, codes of all lengths, damage at each byte. */
#include "codecs/gif/gif.h"
#include "tests/unit/codecs/picture_fixture.h"

static struct buf encode(const struct image *image) {
    const struct encode_options options = fixture_options();
    struct error err = {0};
    struct buf file;
    buf_init(&file, 64 << 20);
    assert_int_equal(codec_encode(CODEC_GIF, image, &options, NULL, &file, &err), ST_OK);
    return file;
}

static enum status decode(struct bytes file, struct image *image, struct error *err) {
    const struct codec_limits limits = fixture_limits();
    struct picture picture;
    *image = (struct image){0};
    enum status status = codec_probe(file, &limits, &picture, err);
    if (status != ST_OK) {
        return status;
    }
    *image = fixture_image(picture.pixels);
    status = codec_decode(file, &picture, &limits, image, err);
    codec_picture_finish(&picture);
    return status;
}

/* Noise of so many colours, which makes many codes, or one colour, which makes long ones. */
static struct image made(uint32_t width, uint32_t height, unsigned colours) {
    struct image image = fixture_image(fixture_shape(PIXEL_RGB, 8, width, height));
    uint32_t state = 1;
    for (uint32_t y = 0; y < height; y++) {
        uint8_t *row = plane_row(&image.plane[0], y);
        for (uint32_t x = 0; x < width; x++) {
            state = state * 1664525 + 1013904223;
            const uint8_t colour = (uint8_t)((state >> 16) % colours);
            row[3 * x] = colour, row[3 * x + 1] = (uint8_t)(colour * 7), row[3 * x + 2] = 9;
        }
    }
    return image;
}

static void test_few_colours_come_back(void **state) {
    static const unsigned counts[] = {1, 2, 3, 4, 5, 16, 17, 128, 129, 255, 256};
    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct image image = made(321, 97, counts[i]), back;
        struct error err = {0};
        struct buf file = encode(&image);
        assert_int_equal(decode(buf_bytes(&file), &back, &err), ST_OK);
        for (uint32_t y = 0; y < image.height; y++) {
            assert_memory_equal(plane_row(&image.plane[0], y), plane_row(&back.plane[0], y), 321 * 3);
        }
        fixture_image_free(&image);
        fixture_image_free(&back);
        buf_finish(&file);
    }
}

static void test_a_cut_file_is_corrupt(void **state) {
    (void)state;
    struct image image = made(40, 30, 200), back;
    struct buf file = encode(&image);
    for (size_t size = 1; size + 2 < file.size; size++) {
        struct error err = {0};
        assert_int_equal(decode((struct bytes){file.data, size}, &back, &err), ST_CORRUPT);
        assert_true(err.text[0]);
        fixture_image_free(&back);
    }
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_transparency(void **state) {
    (void)state;
    struct image image = fixture_image(fixture_shape(PIXEL_RGBA, 8, 300, 2)), back;
    struct error err = {0};
    for (uint32_t x = 0; x < 300; x++) { /* with the transparent one these are too many colours */
        const uint8_t pixels[2][4] = {{(uint8_t)x, 255, (uint8_t)(x >> 8), 128}, {9, 9, 9, 127}};
        memcpy(plane_row(&image.plane[0], 0) + (size_t)4 * x, pixels[0], 4);
        memcpy(plane_row(&image.plane[0], 1) + (size_t)4 * x, pixels[1], 4);
    }
    struct buf file = encode(&image);
    assert_int_equal(decode(buf_bytes(&file), &back, &err), ST_OK);
    assert_int_equal(back.model, PIXEL_RGBA);
    for (uint32_t x = 0; x < 300; x++) {
        assert_int_equal(plane_row(&back.plane[0], 0)[4 * x + 3], 255);
        assert_int_equal(plane_row(&back.plane[0], 1)[4 * x + 3], 0);
        assert_in_range(plane_row(&back.plane[0], 0)[4 * x + 1], 250, 255);
    }
    fixture_image_free(&image);
    fixture_image_free(&back);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_colours_come_back),
        cmocka_unit_test(test_a_cut_file_is_corrupt),
        cmocka_unit_test(test_transparency),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
