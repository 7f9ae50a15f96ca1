/* SPDX-License-Identifier: MIT
 * What the pixels of a PNG do not need is left out, and libpng and our own decoder read the same pixels. */
#include "codecs/metadata/losses.h"
#include "codecs/png/png.h"
#include "codecs/png/png_form.h"
#include "core/processor.h"

#include "tests/filters/helpers.h"
#include "tests/unit/codecs/memory_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"
#include "tests/unit/codecs/png/png_fixture.h"

enum { GREY = 0, RGB = 2, PALETTE = 3, GREY_ALPHA = 4, RGBA = 6 };

static uint32_t random_state = 5;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 8) * limit >> 24);
}

/* One sample of a pixel as RGBA has it. */
static unsigned rgba_sample(const struct image *image, uint32_t x, uint32_t y, unsigned channel) {
    const unsigned channels = image->plane[0].channels, sample = image->depth / 8u;
    const bool grey = channels <= 2, alpha = channels % 2 == 0;
    const uint8_t *pixel = plane_row(&image->plane[0], y) + (size_t)x * channels * sample;
    if (channel == 3 && !alpha) {
        return image->depth == 16 ? 0xFFFF : 0xFF;
    }
    const uint8_t *p = pixel + (channel == 3 ? channels - 1 : grey ? 0 : channel) * sample;
    uint16_t deep;
    memcpy(&deep, p, sample);
    return image->depth == 16 ? deep : *p;
}

static void check_same(const struct image *a, const struct image *b) {
    assert_int_equal(a->width, b->width);
    assert_int_equal(a->height, b->height);
    assert_int_equal(a->depth, b->depth);
    for (uint32_t y = 0; y < a->height; y++) {
        for (uint32_t x = 0; x < 4 * a->width; x++) {
            assert_int_equal(rgba_sample(a, x / 4, y, x % 4), rgba_sample(b, x / 4, y, x % 4));
        }
    }
}

static void check_pixels(const struct image *image, struct bytes file) {
    struct codec_limits limits = fixture_limits();
    struct error err = {0};
    struct picture picture = fixture_probe(file);
    struct image by_libpng = fixture_image(picture.pixels), by_us = fixture_image(picture.pixels);
    if (png_decode_stream(file, &limits, &by_libpng, &err) != ST_OK) {
        fail_msg("libpng: %s", err.text);
    }
    assert_int_equal(codec_decode(file, &picture, &limits, &by_us, &err), ST_OK);
    check_same(image, &by_libpng);
    check_same(image, &by_us);
    fixture_image_free(&by_libpng);
    fixture_image_free(&by_us);
    codec_picture_finish(&picture);
}

static struct buf written(const struct image *image, uint8_t effort, bool reduce) {
    const struct encode_options options = {.effort = effort, .reduce = reduce};
    return fixture_encode(CODEC_PNG, image, &options, NULL);
}

/* The colour type and the bits of a sample that the image is written with. */
static void check_form(const struct image *image, unsigned type, unsigned bits) {
    static const uint8_t efforts[] = {0, 1, 2, 6};
    for (size_t i = 0; i < sizeof efforts; i++) {
        struct buf file = written(image, efforts[i], true), whole = written(image, efforts[i], false);
        assert_int_equal(file.data[25], type);
        assert_int_equal(file.data[24], bits);
        check_pixels(image, buf_bytes(&file));
        check_pixels(image, buf_bytes(&whole));
        assert_int_equal(bytes_be32(whole.data + 16), image->width);
        assert_true(file.size <= whole.size);
        buf_finish(&file);
        buf_finish(&whole);
    }
}

/* Pixels of these colours (red lowest) by chance, each of them at least once where there is room. */
static struct image make(enum pixel_model model, uint32_t width, uint32_t height, const uint32_t *colours,
                         unsigned count) {
    struct image image = fixture_image(fixture_shape(model, 8, width, height));
    const unsigned channels = image.plane[0].channels;
    for (uint32_t i = 0; i < width * height; i++) {
        const uint32_t colour = colours[i < count ? i : random_below(count)];
        uint8_t *pixel = plane_row(&image.plane[0], i / width) + (size_t)(i % width) * channels;
        for (unsigned k = 0; k < channels; k++) {
            const bool alpha = channels % 2 == 0 && k == channels - 1;
            pixel[k] = (uint8_t)(colour >> (alpha ? 24 : 8 * k));
        }
    }
    return image;
}

static uint32_t grey_of(unsigned value, unsigned alpha) {
    return value * 0x010101u | (uint32_t)alpha << 24;
}

/* `count` different colours: greys if `step` says how far apart. */
static void fill(uint32_t *colours, unsigned count, unsigned step, bool clear) {
    for (unsigned i = 0; i < count; i++) {
        const unsigned alpha = clear ? 255 - i % 7 : 255;
        colours[i] = step ? grey_of(i * step & 255, alpha)
                          : (i * 91 & 255) | (i * 7 & 255) << 8 | (3 + i / 256) << 16 | alpha << 24;
    }
}

static void test_each_number_of_colours(void **state) {
    (void)state;
    static const struct {
        enum pixel_model model;
        unsigned count, step;
        bool clear;
        uint8_t type, bits;
    } cases[] = {
        {PIXEL_RGB, 1, 0, false, PALETTE, 1},       {PIXEL_RGB, 2, 0, false, PALETTE, 1},
        {PIXEL_RGB, 3, 0, false, PALETTE, 2},       {PIXEL_RGB, 4, 0, false, PALETTE, 2},
        {PIXEL_RGB, 5, 0, false, PALETTE, 4},       {PIXEL_RGB, 16, 0, false, PALETTE, 4},
        {PIXEL_RGB, 17, 0, false, PALETTE, 8},      {PIXEL_RGB, 256, 0, false, PALETTE, 8},
        {PIXEL_RGB, 257, 0, false, RGB, 8},         {PIXEL_RGBA, 2, 0, false, PALETTE, 1},
        {PIXEL_RGBA, 256, 0, true, PALETTE, 8},     {PIXEL_RGBA, 257, 0, true, RGBA, 8},
        {PIXEL_RGBA, 257, 0, false, RGB, 8},        {PIXEL_RGBA, 16, 0, true, PALETTE, 4},
        {PIXEL_RGB, 2, 255, false, GREY, 1},        {PIXEL_RGB, 4, 85, false, GREY, 2},
        {PIXEL_RGB, 16, 17, false, GREY, 4},        {PIXEL_RGB, 256, 1, false, GREY, 8},
        {PIXEL_RGB, 16, 16, false, PALETTE, 4},     {PIXEL_RGB, 17, 15, false, GREY, 8},
        {PIXEL_RGB, 3, 127, false, PALETTE, 2},     {PIXEL_RGBA, 2, 255, false, GREY, 1},
        {PIXEL_RGBA, 200, 1, false, GREY, 8},       {PIXEL_RGBA, 200, 1, true, PALETTE, 8},
        {PIXEL_GRAY, 2, 255, false, GREY, 1},       {PIXEL_GRAY, 4, 85, false, GREY, 2},
        {PIXEL_GRAY, 16, 17, false, GREY, 4},       {PIXEL_GRAY, 200, 1, false, GREY, 8},
        {PIXEL_GRAY, 2, 9, false, PALETTE, 1},      {PIXEL_GRAY, 17, 15, false, GREY, 8},
        {PIXEL_GRAY_ALPHA, 2, 255, false, GREY, 1}, {PIXEL_GRAY_ALPHA, 200, 1, true, PALETTE, 8},
        {PIXEL_GRAY_ALPHA, 200, 1, false, GREY, 8}, {PIXEL_GRAY_ALPHA, 4, 60, true, PALETTE, 2},
    };
    uint32_t colours[257];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fill(colours, cases[i].count, cases[i].step, cases[i].clear);
        struct image image = make(cases[i].model, 211, 181, colours, cases[i].count);
        check_form(&image, cases[i].type, cases[i].bits);
        fixture_image_free(&image);
    }
}

/* More colours with alpha than a palette has, all of them grey. */
static void test_greys_with_alpha(void **state) {
    (void)state;
    uint32_t colours[1000];
    for (unsigned i = 0; i < 1000; i++) {
        colours[i] = grey_of(i % 250, i / 250);
    }
    for (enum pixel_model model = PIXEL_GRAY_ALPHA; model <= PIXEL_RGBA; model += 2) {
        struct image image = make(model, 211, 181, colours, 1000);
        check_form(&image, GREY_ALPHA, 8);
        fixture_image_free(&image);
    }
}

static void test_sizes_that_fill_no_byte(void **state) {
    (void)state;
    static const uint8_t bits[] = {1, 2, 4, 8};
    uint32_t colours[17];
    for (unsigned b = 0; b < 4; b++) {
        fill(colours, 17, 0, false);
        for (uint32_t width = 230; width < 300; width++) {
            struct image image = make(PIXEL_RGB, width, 149, colours, b == 3 ? 17 : 1u << bits[b]);
            struct buf file = written(&image, 1, true);
            assert_int_equal(file.data[24], bits[b]);
            check_pixels(&image, buf_bytes(&file));
            buf_finish(&file);
            fixture_image_free(&image);
        }
    }
}

/* A palette may take more bytes than it saves. */
static void test_small_pictures_grow_by_nothing(void **state) {
    (void)state;
    uint32_t colours[256];
    for (unsigned n = 1; n < 400; n++) {
        const uint32_t width = 1 + random_below(40), height = 1 + random_below(40);
        const unsigned count = 1 + random_below(256);
        fill(colours, count, random_below(2), n % 3 == 0);
        struct image image = make((enum pixel_model)(n % 4), width, height, colours, count);
        for (uint8_t effort = 0; effort < 3; effort++) {
            struct buf file = written(&image, effort, true), whole = written(&image, effort, false);
            /* Alpha that says nothing is always left out. */
            assert_true(file.size <= whole.size || (n % 2 && n % 3));
            check_pixels(&image, buf_bytes(&file));
            buf_finish(&file);
            buf_finish(&whole);
        }
        fixture_image_free(&image);
    }
}

/* The place of a pixel: any row, whether it is looked at first or not. */
static void test_one_pixel_is_enough(void **state) {
    (void)state;
    uint32_t colours[256];
    for (uint32_t i = 0; i < 211 * 90; i += 97) {
        fill(colours, 256, 0, false);
        struct image image = make(PIXEL_RGB, 211, 90, colours, 256);
        uint8_t *pixel = plane_row(&image.plane[0], i / 211) + 3 * (i % 211);
        memset(pixel, 250, 3);
        struct buf file = written(&image, 0, true);
        assert_int_equal(file.data[25], RGB);
        check_pixels(&image, buf_bytes(&file));
        buf_finish(&file);
        fill(colours, 256, 1, false);
        fixture_image_free(&image);
        image = make(PIXEL_RGB, 211, 90, colours, 256);
        plane_row(&image.plane[0], i / 211)[3 * (i % 211)] ^= 1;
        file = written(&image, 0, true);
        assert_int_equal(file.data[25], RGB);
        check_pixels(&image, buf_bytes(&file));
        buf_finish(&file);
        fixture_image_free(&image);
    }
}

static void test_sixteen_bits_keep_them(void **state) {
    (void)state;
    for (enum pixel_model model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        struct image image = fixture_image(fixture_shape(model, 16, 61, 45));
        const unsigned channels = image.plane[0].channels;
        for (uint32_t i = 0; i < 61 * 45 * channels; i++) {
            const bool alpha = channels % 2 == 0 && i % channels == channels - 1;
            const uint16_t value = (uint16_t)(alpha ? 0xFFFF : i / channels * 40503);
            memcpy(plane_row(&image.plane[0], i / channels / 61) + 2 * (i % (61 * channels)), &value, 2);
        }
        check_form(&image, GREY, 16);
        plane_row(&image.plane[0], 44)[2 * (61 * channels - 1)] ^= 1; /* the last sample */
        check_form(&image,
                   channels == 1   ? GREY
                   : channels == 2 ? GREY_ALPHA
                   : channels == 3 ? RGB
                                   : GREY_ALPHA,
                   16);
        fixture_image_free(&image);
    }
}

static void check_row(enum pixel_model model, uint32_t width, unsigned channels) {
    const struct png_form form = {.kind = FORM_SAMPLES, .bits = 8, .channels = (uint8_t)channels};
    struct image image = fixture_image(fixture_shape(model, 8, width, 1));
    const unsigned pixel = image.plane[0].channels;
    uint8_t *row = malloc((size_t)channels * width), *pixels = malloc((size_t)pixel * width);
    for (uint32_t k = 0; k < pixel * width; k++) {
        pixels[k] = (uint8_t)random_below(256);
    }
    free(image.plane[0].data);
    image.plane[0].data = pixels;
    png_form_row(&form, &image, 0, row);
    for (uint32_t k = 0; k < channels * width; k++) {
        assert_int_equal(row[k], pixels[k / channels * pixel + k % channels]);
    }
    free(row), free(pixels);
}

/* On each kind of processor, from and to memory without a byte too many. */
static void test_channels_are_left_out_of_each_width(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 80; i++) {
        processor_limit(processor_level(i % 2 ? "baseline" : "auto"));
        check_row(PIXEL_RGBA, 1 + i / 2, 3);
        check_row(PIXEL_RGBA, 1 + i / 2, 1);
        check_row(PIXEL_RGB, 1 + i / 2, 1);
    }
    processor_limit(processor_level("auto"));
}

static void check_profile(enum pixel_model model, const char *space, unsigned count, unsigned step,
                          unsigned type, unsigned bits) {
    uint8_t profile[ICC_FIXTURE_LEAST];
    uint32_t colours[256];
    const struct metadata metadata = {.chunk_count = 1, .chunk = {{CHUNK_ICC, 0, {profile, sizeof profile}}}};
    const struct encode_options options = {.effort = 1, .reduce = true};
    icc_make(profile, sizeof profile, space);
    fill(colours, count, step, false);
    struct image image = make(model, 211, 181, colours, count);
    struct buf file = fixture_encode(CODEC_PNG, &image, &options, &metadata);
    assert_int_equal(file.data[25], type);
    assert_int_equal(file.data[24], bits);
    assert_memory_equal(file.data + 37, "iCCP", 4);
    check_pixels(&image, buf_bytes(&file));
    buf_finish(&file);
    fixture_image_free(&image);
}

/* The profile of colours may not stand in a file of greys, and that of greys not beside a palette. */
static void test_profiles_fit(void **state) {
    (void)state;
    check_profile(PIXEL_RGB, "RGB ", 2, 255, PALETTE, 1);
    check_profile(PIXEL_RGB, "RGB ", 200, 1, PALETTE, 8);
    check_profile(PIXEL_RGBA, "RGB ", 200, 1, PALETTE, 8);
    check_profile(PIXEL_GRAY, "GRAY", 2, 255, GREY, 1);
    check_profile(PIXEL_GRAY, "GRAY", 2, 9, GREY, 8);
    check_profile(PIXEL_GRAY_ALPHA, "GRAY", 16, 17, GREY, 4);
    check_profile(PIXEL_GRAY_ALPHA, "GRAY", 200, 1, GREY, 8);
}

/* Several strips, made by one thread or by many: the same bytes. */
static void test_cores_change_nothing(void **state) {
    (void)state;
    static const unsigned counts[] = {2, 4, 16, 250};
    struct helpers *helpers = helpers_start(3, 1000, false);
    uint32_t colours[256];
    for (unsigned i = 0; i < 8; i++) {
        fill(colours, counts[i / 2], i % 2 ? 255 / counts[i / 2] : 0, false);
        struct image image = make(PIXEL_RGBA, 3001, 700, colours, counts[i / 2]);
        struct encode_options options = {.effort = i % 3 != 0, .reduce = true};
        struct buf alone = fixture_encode(CODEC_PNG, &image, &options, NULL);
        options.crew = helpers_crew(helpers);
        struct buf file = fixture_encode(CODEC_PNG, &image, &options, NULL);
        assert_int_equal(file.size, alone.size);
        assert_memory_equal(file.data, alone.data, alone.size);
        check_pixels(&image, buf_bytes(&file));
        buf_finish(&alone);
        buf_finish(&file);
        fixture_image_free(&image);
    }
    assert_true(helpers_stop(helpers) > 0);
}

/* Where a colour is first does not matter, so that nothing but the colours themselves is in a palette. */
static void test_palettes_are_sorted(void **state) {
    (void)state;
    const uint32_t colours[] = {0xFF0000FF, 0xFF00FF00, 0x80FF0000, 0xFF000000, 0x00123456},
                   turned[] = {0x00123456, 0xFF000000, 0x80FF0000, 0xFF00FF00, 0xFF0000FF};
    static const uint8_t palette[] = {0x56, 0x34, 0x12, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255, 0},
                         alpha[] = {0, 0x80};
    for (unsigned i = 0; i < 2; i++) {
        struct image image = make(PIXEL_RGBA, 211, 181, i ? turned : colours, 5);
        struct buf file = written(&image, 1, true);
        assert_int_equal(bytes_be32(file.data + 33), sizeof palette);
        assert_memory_equal(file.data + 37, "PLTE", 4);
        assert_memory_equal(file.data + 41, palette, sizeof palette);
        const uint8_t *behind = file.data + 41 + sizeof palette + 4;
        assert_int_equal(bytes_be32(behind), sizeof alpha);
        assert_memory_equal(behind + 4, "tRNS", 4);
        assert_memory_equal(behind + 8, alpha, sizeof alpha);
        buf_finish(&file);
        fixture_image_free(&image);
    }
}

struct png_task {
    struct image image;
    struct encode_options options;
};

static enum status encode_within(void *context) {
    const struct png_task *task = context;
    const struct image_shape shape = image_shape(&task->image);
    enum { OUTPUT = 1 << 20 }; /* far less than the rows */
    struct buf file;
    limit_memory(codec_encode_bytes(CODEC_PNG, &shape, &task->options) + OUTPUT);
    buf_init(&file, 64 << 20);
    return codec_encode(CODEC_PNG, &task->image, &task->options, NULL, &file, NULL);
}

/* Rows of fewer bytes fill strips that those of the image would leave half empty. */
static void test_bounds_of_memory_hold(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{33000, 60}, {34000, 60}, {66000, 40}, {90, 90}, {3000, 900}};
    uint32_t colours[256];
    if (!memory_is_limited()) {
        skip();
    }
    for (unsigned i = 0; i < 5 * 4 * 3; i++) {
        const unsigned count = (const unsigned[]){1, 2, 4, 200}[i / 5 % 4];
        fill(colours, count, 0, true);
        struct png_task task = {.options = {.effort = (uint8_t)(i / 20), .reduce = true}};
        task.image = make(PIXEL_RGBA, sizes[i % 5][0], sizes[i % 5][1], colours, 1);
        memcpy(plane_row(&task.image.plane[0], 1), colours, count < 90 ? 4 * count : 4 * 90);
        assert_int_equal(in_child(encode_within, &task), ST_OK);
        fixture_image_free(&task.image);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_number_of_colours),
        cmocka_unit_test(test_greys_with_alpha),
        cmocka_unit_test(test_sizes_that_fill_no_byte),
        cmocka_unit_test(test_small_pictures_grow_by_nothing),
        cmocka_unit_test(test_one_pixel_is_enough),
        cmocka_unit_test(test_sixteen_bits_keep_them),
        cmocka_unit_test(test_channels_are_left_out_of_each_width),
        cmocka_unit_test(test_profiles_fit),
        cmocka_unit_test(test_cores_change_nothing),
        cmocka_unit_test(test_palettes_are_sorted),
        cmocka_unit_test(test_bounds_of_memory_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
