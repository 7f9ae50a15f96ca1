/* SPDX-License-Identifier: MIT */
#include "server/placeholder/blurhash.h"
#include "server/placeholder/colours.h"
#include "server/placeholder/cosine.h"
#include "server/placeholder/data_url.h"
#include "server/placeholder/placeholder.h"
#include "server/placeholder/thumbhash.h"
#include "tests/unit/codecs/picture_fixture.h"
#include "tests/unit/core/json_check.h"

#include <math.h>

/* --- the pictures of placeholder_table.py ----------------------------------------------------- */

enum kind { FLAT, RAMP, NOISE, BOARD, BOWL, CLOUDS };
enum veil { OPAQUE, FADING, HOLE, CLEAR };

struct row {
    enum kind kind;
    enum veil veil;
    int width, height;
    uint32_t seed;
    unsigned across, down;
    const char *blurhash, *thumbhash;
};

static const struct row rows[] = {
#include "tests/unit/server/placeholder/placeholder_table.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static int mix(uint32_t seed, int x, int y, unsigned channel) {
    uint32_t value =
        seed * 0x9E3779B1U + (uint32_t)x * 0x85EBCA77U + (uint32_t)y * 0xC2B2AE3DU + channel * 0x27D4EB2FU;
    value = (value ^ value >> 15) * 0x2C1B3C6DU;
    value = (value ^ value >> 12) * 0x297A2D39U;
    return (int)((value ^ value >> 15) >> 24);
}

static int cloud(uint32_t seed, int x, int y, unsigned channel) {
    int left = x / 16, top = y / 16, right = x % 16, low = y % 16;
    int above = mix(seed, left, top, channel) * (16 - right) + mix(seed, left + 1, top, channel) * right;
    int below =
        mix(seed, left, top + 1, channel) * (16 - right) + mix(seed, left + 1, top + 1, channel) * right;
    return (above * (16 - low) + below * low) / 256;
}

static int colour_of(const struct row *row, int x, int y, unsigned channel) {
    int across = row->width > 1 ? row->width - 1 : 1, down = row->height > 1 ? row->height - 1 : 1;
    const int ramp[3] = {x * 255 / across, y * 255 / down, 255 - (x + y) * 255 / (across + down)};
    const int bowl[3] = {abs(2 * x - row->width + 1) * 255 / across,
                         abs(2 * y - row->height + 1) * 255 / down, 0};
    switch (row->kind) {
    case RAMP:
        return ramp[channel];
    case NOISE:
        return mix(row->seed, x, y, channel);
    case BOARD:
        return (x / 3 + y / 3) % 2 * 255;
    case BOWL:
        return bowl[channel];
    case CLOUDS:
        return cloud(row->seed, x, y, channel);
    default:
        return mix(row->seed, 0, 0, channel);
    }
}

static int alpha_of(const struct row *row, int x, int y) {
    int dx = 2 * x - row->width + 1, dy = 2 * y - row->height + 1;
    switch (row->veil) {
    case FADING:
        return (x + y) * 255 / (row->width + row->height);
    case HOLE:
        return dx * dx + dy * dy < row->width * row->height / 4 ? 0 : 255;
    case CLEAR:
        return 0;
    default:
        return 255;
    }
}

static void draw(const struct row *row, struct thumbnail *thumbnail) {
    thumbnail->width = (uint32_t)row->width;
    thumbnail->height = (uint32_t)row->height;
    thumbnail->model = row->veil == OPAQUE ? PIXEL_RGB : PIXEL_RGBA;
    for (int i = 0; i < row->width * row->height; i++) {
        int x = i % row->width, y = i / row->width;
        for (unsigned c = 0; c < 3; c++) {
            thumbnail->pixel[i][c] = (uint8_t)colour_of(row, x, y, c);
        }
        thumbnail->pixel[i][3] = (uint8_t)alpha_of(row, x, y);
    }
}

/* Zero-terminates what a buffer holds. */
static const char *text_of(struct buf *buf) {
    assert_int_equal(buf_append(buf, "", 1, NULL), ST_OK);
    return (const char *)buf->data;
}

/* --- hashes ---------------------------------------------------------------------------------- */

static void test_blurhash_is_that_of_the_reference(void **state) {
    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        struct thumbnail thumbnail;
        char text[BLURHASH_TEXT_MAX];
        draw(&rows[i], &thumbnail);
        blurhash_write(&thumbnail, rows[i].across, rows[i].down, text);
        assert_string_equal(text, rows[i].blurhash);
    }
}

static void test_thumbhash_is_that_of_the_reference(void **state) {
    (void)state;
    for (unsigned i = 0; i < ROWS; i++) {
        struct thumbnail thumbnail;
        struct buf text;
        uint8_t hash[THUMBHASH_MAX];
        buf_init(&text, 100);
        draw(&rows[i], &thumbnail);
        size_t size = thumbhash_write(&thumbnail, hash);
        assert_int_equal(data_url_base64((struct bytes){hash, size}, &text, NULL), ST_OK);
        assert_string_equal(text_of(&text), rows[i].thumbhash);
        buf_finish(&text);
    }
}

static void test_cosine(void **state) {
    (void)state;
    for (double angle = 0; angle < 30; angle += 0.001) {
        assert_true(fabs(cosine(angle) - cos(angle)) < 2e-16);
    }
    for (unsigned quarters = 0; quarters < 20; quarters++) {
        double angle = quarters * M_PI / 2;
        assert_true(fabs(cosine(angle) - cos(angle)) <= 1e-15 * fabs(cos(angle)));
    }
}

/* --- colours --------------------------------------------------------------------------------- */

static void paint(struct thumbnail *thumbnail, uint32_t width, uint32_t height, const uint8_t (*pixel)[4]) {
    *thumbnail = (struct thumbnail){.width = width, .height = height, .model = PIXEL_RGBA};
    memcpy(thumbnail->pixel, pixel, (size_t)width * height * sizeof *pixel);
}

static uint32_t code(struct colour colour) {
    return (uint32_t)colour.red << 16 | (uint32_t)colour.green << 8 | colour.blue;
}

static void test_colours(void **state) {
    (void)state;
    static const uint8_t mixed[][4] = {
        {255, 0, 0, 255}, {250, 3, 1, 255}, {0, 0, 255, 255}, {0, 255, 0, 255}};
    static const uint8_t veiled[][4] = {{200, 0, 0, 10}, {210, 0, 0, 10}, {0, 0, 100, 30}, {9, 9, 9, 0}};
    static const uint8_t equal[][4] = {{0, 0, 255, 255}, {0, 255, 0, 255}, {255, 0, 0, 255}};
    static const uint8_t clear[][4] = {{9, 9, 9, 0}, {200, 0, 0, 0}};
    static const struct {
        const uint8_t (*pixel)[4];
        uint32_t count, average, dominant;
    } cases[] = {
        {mixed, 4, 0x7E4140, 0xFD0201},
        {veiled, 4, 0x52003C, 0x000064},
        {equal, 3, 0x555555, 0x0000FF},
        {clear, 2, 0, 0},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct thumbnail thumbnail;
        paint(&thumbnail, cases[i].count, 1, cases[i].pixel);
        assert_int_equal(code(colours_average(&thumbnail)), cases[i].average);
        assert_int_equal(code(colours_dominant(&thumbnail)), cases[i].dominant);
    }
}

/* --- thumbnails ------------------------------------------------------------------------------ */

/* The part of [from, to) that lies in pixel i. */
static double part(double from, double to, uint32_t i) {
    return fmax(fmin(to, i + 1.0) - fmax(from, i), 0);
}

static void check_mean(const struct thumbnail *from, const struct thumbnail *small, uint32_t i) {
    double across = (double)from->width / small->width, down = (double)from->height / small->height;
    double x0 = i % small->width * across, y0 = i / small->width * down, sum[3] = {0}, alpha = 0, all = 0;
    for (uint32_t j = 0; j < from->width * from->height; j++) {
        double weight = part(x0, x0 + across, j % from->width) * part(y0, y0 + down, j / from->width);
        for (unsigned c = 0; c < 3; c++) {
            sum[c] += weight * from->pixel[j][3] * from->pixel[j][c];
        }
        alpha += weight * from->pixel[j][3];
        all += weight;
    }
    for (unsigned c = 0; c < 3; c++) {
        assert_true(fabs((alpha > 0 ? sum[c] / alpha : 0) - small->pixel[i][c]) < 0.5 + 1e-9);
    }
    assert_true(fabs(alpha / all - small->pixel[i][3]) < 0.5 + 1e-9);
}

static void test_shrinking_is_an_area_mean(void **state) {
    (void)state;
    static const struct row drawn[] = {{.kind = NOISE, .veil = FADING, .width = 37, .height = 23},
                                       {.kind = NOISE, .veil = CLEAR, .width = 5, .height = 5},
                                       {.kind = CLOUDS, .veil = HOLE, .width = 100, .height = 1}};
    static const uint32_t sizes[][2] = {{37, 23}, {10, 7}, {1, 1}, {36, 2}};
    for (unsigned i = 0; i < sizeof drawn / sizeof *drawn; i++) {
        struct thumbnail thumbnail, small;
        draw(&drawn[i], &thumbnail);
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            uint32_t width = sizes[s][0] < thumbnail.width ? sizes[s][0] : thumbnail.width;
            uint32_t height = sizes[s][1] < thumbnail.height ? sizes[s][1] : thumbnail.height;
            thumbnail_shrink(&thumbnail, width, height, &small);
            for (uint32_t j = 0; j < width * height; j++) {
                check_mean(&thumbnail, &small, j);
            }
        }
    }
}

/* A picture in memory of its own, whose samples are 8 bits of chance, in both halves of 16 bits. */
static struct image make_image(const struct image_shape *shape) {
    struct image image = fixture_image(*shape);
    for (uint32_t y = 0; y < shape->height; y++) {
        uint8_t *row = plane_row(&image.plane[0], y);
        for (uint32_t i = 0; i < shape->width * image.plane[0].channels * (shape->depth / 8U); i++) {
            row[i] = (uint8_t)mix(7, (int)i / (shape->depth / 8), (int)y, 0);
        }
    }
    return image;
}

static void test_reading(void **state) {
    (void)state;
    static const enum pixel_model models[] = {PIXEL_GRAY, PIXEL_GRAY_ALPHA, PIXEL_RGB, PIXEL_RGBA};
    for (unsigned i = 0; i < 8; i++) {
        const struct image_shape shape = {
            .model = models[i % 4], .depth = i < 4 ? 8 : 16, .width = 11, .height = 3};
        unsigned channels = image_pixel_channels(shape.model);
        bool alpha = image_pixel_has_alpha(shape.model);
        struct image image = make_image(&shape);
        struct thumbnail thumbnail;
        thumbnail_read(&thumbnail, &image);
        assert_true(thumbnail.width == 11 && thumbnail.height == 3 && thumbnail.model == shape.model);
        for (int j = 0; j < 33; j++) {
            int first = j % 11 * (int)channels, y = j / 11;
            for (unsigned c = 0; c < 3; c++) {
                int at = first + (channels < 3 ? 0 : (int)c);
                assert_int_equal(thumbnail.pixel[j][c], mix(7, at, y, 0));
            }
            assert_int_equal(thumbnail.pixel[j][3], alpha ? mix(7, first + (int)channels - 1, y, 0) : 255);
        }
        fixture_image_free(&image);
    }
}

static void test_16_bits_are_rounded(void **state) {
    (void)state;
    static const uint16_t samples[] = {0,     128,  129, 257 * 100 - 129, 257 * 100 - 128, 257 * 100 + 128,
                                       65406, 65407};
    static const uint8_t rounded[] = {0, 0, 1, 99, 100, 100, 254, 255};
    const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 16, .width = 8, .height = 1};
    struct image image = make_image(&shape);
    struct thumbnail thumbnail;
    memcpy(image.plane[0].data, samples, sizeof samples);
    thumbnail_read(&thumbnail, &image);
    for (unsigned i = 0; i < 8; i++) {
        assert_int_equal(thumbnail.pixel[i][0], rounded[i]);
    }
    fixture_image_free(&image);
}

/* --- data URLs ------------------------------------------------------------------------------- */

static unsigned digit_of(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *found = strchr(digits, c);
    assert_true(found && c);
    return (unsigned)(found - digits);
}

static size_t decode_base64(const char *text, uint8_t *data) {
    size_t size = 0, length = strlen(text);
    assert_int_equal(length % 4, 0);
    for (size_t i = 0; i < length; i += 4) {
        uint32_t bits = 0;
        for (unsigned k = 0; k < 4; k++) {
            bits = bits << 6 | (text[i + k] == '=' ? 0 : digit_of(text[i + k]));
        }
        for (unsigned k = 0; k < 3; k++) {
            data[size + k] = (uint8_t)(bits >> (16 - 8 * k));
        }
        size += text[i + 2] == '=' ? 1 : text[i + 3] == '=' ? 2 : 3;
    }
    return size;
}

/* Checks that the file holds the thumbnail's area mean, and returns its pixels. */
static uint32_t check_file(struct bytes file, const struct thumbnail *thumbnail) {
    struct picture picture;
    struct codec_limits limits = fixture_limits();
    struct thumbnail small;
    memset(&picture, 0, sizeof picture);
    assert_int_equal(codec_probe(file, &limits, &picture, NULL), ST_OK);
    assert_int_equal(picture.codec, CODEC_PNG);
    assert_int_equal(picture.pixels.model, thumbnail->model);
    struct image image = fixture_image(picture.pixels);
    assert_int_equal(codec_decode(file, &picture, &limits, &image, NULL), ST_OK);
    thumbnail_shrink(thumbnail, image.width, image.height, &small);
    for (uint32_t y = 0; y < image.height; y++) {
        for (uint32_t i = 0; i < image.width * image.plane[0].channels; i++) {
            const uint8_t *pixel = small.pixel[y * image.width + i / image.plane[0].channels];
            assert_int_equal(plane_row(&image.plane[0], y)[i], pixel[i % image.plane[0].channels]);
        }
    }
    fixture_image_free(&image);
    codec_picture_finish(&picture);
    return image.width * image.height;
}

static void test_data_urls(void **state) {
    (void)state;
    static const char prefix[] = "data:image/png;base64,";
    for (unsigned i = 0; i < ROWS; i++) {
        struct thumbnail thumbnail;
        struct buf text;
        uint8_t file[DATA_URL_MAX];
        buf_init(&text, DATA_URL_MAX + 1);
        draw(&rows[i], &thumbnail);
        assert_int_equal(data_url_write(&thumbnail, &text, NULL), ST_OK);
        assert_true(text.size <= DATA_URL_MAX);
        assert_memory_equal(text.data, prefix, sizeof prefix - 1);
        size_t size = decode_base64(text_of(&text) + sizeof prefix - 1, file);
        uint32_t pixels = check_file((struct bytes){file, size}, &thumbnail);
        assert_true(pixels <= DATA_URL_PIXELS_MAX);
        assert_true(pixels >= 35 || pixels == thumbnail.width * thumbnail.height);
        if (rows[i].kind == FLAT && rows[i].veil == OPAQUE && rows[i].width == rows[i].height) {
            assert_int_equal(pixels, rows[i].width < 22 ? rows[i].width * rows[i].width : 22 * 22);
        }
        buf_finish(&text);
    }
}

/* --- the answer ------------------------------------------------------------------------------ */

static void test_answer(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 2, .height = 1};
    struct image image = make_image(&shape);
    const struct placeholder placeholder = {
        .width = 4000, .height = 2000, .across = 1, .down = 1, .source = &image};
    struct buf body;
    memset(image.plane[0].data, 0x80, 6);
    buf_init(&body, 4096);
    assert_int_equal(placeholder_write(&placeholder, &body, NULL), ST_OK);
    const char *text = text_of(&body);
    assert_true(json_valid(text));
    static const char head[] = "{\"width\":4000,\"height\":2000,\"blurhash\":\"00Eyb[\",\"thumbhash\":\"";
    assert_memory_equal(text, head, sizeof head - 1);
    assert_non_null(strstr(
        text, "\",\"dominant\":\"#808080\",\"average\":\"#808080\",\"data_url\":\"data:image/png;base64,"));
    assert_string_equal(text + body.size - 4, "\"}\n");
    buf_finish(&body);
    fixture_image_free(&image);
}

static void test_no_memory(void **state) {
    (void)state;
    struct thumbnail thumbnail;
    struct error err = {0};
    struct buf text;
    buf_init(&text, 30);
    draw(&rows[0], &thumbnail);
    assert_int_equal(data_url_write(&thumbnail, &text, &err), ST_LIMIT);
    buf_finish(&text);
    assert_true(data_url_bytes() >= (16 << 10) && placeholder_bytes() == data_url_bytes());
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blurhash_is_that_of_the_reference),
        cmocka_unit_test(test_thumbhash_is_that_of_the_reference),
        cmocka_unit_test(test_cosine),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_shrinking_is_an_area_mean),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_16_bits_are_rounded),
        cmocka_unit_test(test_data_urls),
        cmocka_unit_test(test_answer),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
