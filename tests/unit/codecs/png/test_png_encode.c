/* SPDX-License-Identifier: MIT
 * The output of the PNG encoder, read back by libpng and zlib, and the parts of the encoder. */
#include "codecs/png/deflate/deflate_rle.h"
#include "codecs/png/deflate/huffman.h"
#include "codecs/png/png.h"
#include "codecs/png/png_filter.h"
#include "codecs/png/png_pack.h"
#include "codecs/png/png_rows.h"
#include "core/processor.h"

#include "tests/filters/helpers.h"
#include "tests/unit/codecs/png/png_fixture.h"

static uint32_t random_state = 1;

static uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)(random_state >> 8) * limit >> 24);
}

enum content { SLOPES, FLAT, NOISE, DRAWING, CONTENTS };

static struct image make_image(struct image_shape shape, enum content content) {
    struct image image = fixture_painted(shape);
    for (uint32_t y = 0; y < image.height && content != SLOPES; y++) {
        uint8_t *row = plane_row(&image.plane[0], y);
        for (size_t i = 0; i < plane_row_bytes(&image.plane[0], image.depth); i++) {
            bool ink = (i / 7 + y / 3) % 11 == 0;
            row[i] = (uint8_t)(content == NOISE ? random_below(256) : content == DRAWING && ink ? 230 : 31);
        }
    }
    return image;
}

/* Only libpng reads it, so that two wrongs cannot make a right. */
static void check_with_libpng(const struct image *image, struct bytes file) {
    struct codec_limits limits = fixture_limits();
    struct error err = {0};
    struct picture picture = fixture_probe(file);
    struct image back = fixture_image(picture.pixels);
    if (png_decode_stream(file, &limits, &back, &err) != ST_OK) {
        fail_msg("libpng: %s", err.text);
    }
    assert_int_equal(fixture_difference(image, &back), 0);
    fixture_image_free(&back);
}

static void check_shape(struct image_shape shape) {
    for (enum content content = SLOPES; content < CONTENTS; content++) {
        struct image image = make_image(shape, content);
        for (uint8_t effort = 0; effort <= 9; effort++) {
            struct encode_options options = {.effort = effort};
            struct buf file = fixture_encode(CODEC_PNG, &image, &options, NULL);
            check_with_libpng(&image, buf_bytes(&file));
            buf_finish(&file);
        }
        fixture_image_free(&image);
    }
}

static void test_libpng_reads_every_shape(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 70}, {70, 1}, {2, 3}, {37, 29}, {20000, 1}};
    for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            check_shape(fixture_shape((enum pixel_model)model, 8, sizes[s][0], sizes[s][1]));
            check_shape(fixture_shape((enum pixel_model)model, 16, sizes[s][0], sizes[s][1]));
        }
    }
}

/* Several strips, made by one thread or by many: the same bytes. */
static void check_strips(struct crew *crew, struct image_shape shape, enum content content) {
    struct image image = make_image(shape, content);
    struct encode_options options = {.effort = 0};
    struct buf alone = fixture_encode(CODEC_PNG, &image, &options, NULL);
    check_with_libpng(&image, buf_bytes(&alone));
    options.crew = crew;
    for (unsigned i = 0; i < 3; i++) {
        struct buf file = fixture_encode(CODEC_PNG, &image, &options, NULL);
        assert_int_equal(file.size, alone.size);
        assert_memory_equal(file.data, alone.data, alone.size);
        buf_finish(&file);
    }
    buf_finish(&alone);
    fixture_image_free(&image);
}

static void test_libpng_reads_many_strips(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(3, 1000, false);
    for (enum content content = SLOPES; content < CONTENTS; content++) {
        check_strips(helpers_crew(helpers), fixture_shape(PIXEL_RGB, 8, 301, 700), content);
        check_strips(helpers_crew(helpers), fixture_shape(PIXEL_RGBA, 16, 500, 301), content);
        check_strips(helpers_crew(helpers), fixture_shape(PIXEL_RGBA, 16, 20000, 3), content);
    }
    assert_true(helpers_stop(helpers) > 0);
}

/* Among themselves libdeflate's levels are in order on photographs only. */
static void test_more_effort_is_never_larger(void **state) {
    (void)state;
    for (enum content content = SLOPES; content < CONTENTS; content++) {
        struct image image = make_image(fixture_shape(PIXEL_RGB, 8, 400, 300), content);
        size_t first = SIZE_MAX;
        for (uint8_t effort = 0; effort <= 9; effort++) {
            struct encode_options options = {.effort = effort};
            struct buf file = fixture_encode(CODEC_PNG, &image, &options, NULL);
            assert_true(file.size <= first);
            first = effort == 0 ? file.size : first;
            buf_finish(&file);
        }
        fixture_image_free(&image);
    }
}

static void check_limits(struct crew *crew) {
    struct image image = make_image(fixture_shape(PIXEL_RGB, 8, 300, 300), NOISE);
    for (uint8_t effort = 0; effort <= 9; effort += 3) {
        struct encode_options options = {.effort = effort, .deadline_ns = 1, .crew = crew};
        struct error err = {0};
        struct buf output;
        buf_init(&output, 64 << 20);
        assert_int_equal(codec_encode(CODEC_PNG, &image, &options, NULL, &output, &err), ST_LIMIT);
        buf_finish(&output);
        options.deadline_ns = 0;
        for (size_t maximum = 0; maximum < 600000; maximum = maximum * 2 + 1) {
            buf_init(&output, maximum);
            enum status status = codec_encode(CODEC_PNG, &image, &options, NULL, &output, &err);
            assert_true(status == ST_LIMIT || (status == ST_OK && output.size > 270000));
            buf_finish(&output);
        }
    }
    fixture_image_free(&image);
}

static void test_limits_hold(void **state) {
    (void)state;
    struct helpers *helpers = helpers_start(2, 1000, false);
    check_limits(NULL);
    check_limits(helpers_crew(helpers));
    helpers_stop(helpers);
}

static void check_filter(unsigned pixel, size_t pixels, unsigned filter) {
    size_t size = pixel * pixels;
    uint8_t *from = malloc(size), *above = malloc(size), *to = malloc(size), *back = malloc(size);
    for (size_t i = 0; i < size; i++) {
        from[i] = (uint8_t)random_below(256);
        above[i] = (uint8_t)(random_below(4) ? from[i] + random_below(3) : random_below(256));
    }
    processor_limit(PROCESSOR_BASELINE);
    png_filter(filter, &(struct png_row){back, from, above, size, pixel});
    processor_limit(processor_level("auto"));
    png_filter(filter, &(struct png_row){to, from, above, size, pixel});
    assert_memory_equal(to, back, size);
    assert_true(png_unfilter_plain(filter, &(struct png_row){back, to, above, size, pixel}));
    assert_memory_equal(from, back, size);
    free(from), free(above), free(to), free(back);
}

static void test_filters_are_undone(void **state) {
    (void)state;
    static const unsigned pixels[] = {1, 2, 3, 4, 6, 8};
    static const size_t widths[] = {1, 2, 3, 5, 16, 17, 63, 2000};
    for (unsigned filter = 0; filter < FILTER_COUNT; filter++) {
        for (size_t i = 0; i < 6 * 8; i++) {
            check_filter(pixels[i / 8], widths[i % 8], filter);
        }
    }
    static const uint8_t bytes[] = {0, 1, 255, 127, 128, 129};
    assert_int_equal(png_filter_sum(bytes, sizeof(bytes)), 1 + 1 + 127 + 128 + 127);
}

/* Noise above a flat row: each prediction but the one from the left is poor. */
static void test_few_rows_choose_a_filter(void **state) {
    (void)state;
    struct image image = make_image(fixture_shape(PIXEL_GRAY, 8, 300, 2), NOISE);
    memset(plane_row(&image.plane[0], 1), 100, 300);
    struct png_rows rows;
    uint8_t scratch[301];
    struct png_form form;
    png_form_choose(&form, &image, &(struct png_form_choice){0});
    assert_int_equal(png_rows_init(&rows, &image, &form, NULL), ST_OK);
    assert_int_equal(rows.line, sizeof scratch);
    assert_int_equal(png_rows_choose(&rows, 0, 2, scratch), FILTER_SUB);
    png_rows_finish(&rows);
    fixture_image_free(&image);
}

/* Noise of four values: the difference of any two would be one of thirteen. */
static void test_packing_chooses_a_filter(void **state) {
    (void)state;
    enum { SIDE = 64, LINE = SIDE + 1 };
    static const uint8_t values[] = {0, 0x55, 0x70, 0xE1};
    struct image image = fixture_image(fixture_shape(PIXEL_GRAY, 8, SIDE, SIDE));
    for (size_t i = 0; i < SIDE * SIDE; i++) {
        plane_row(&image.plane[0], (uint32_t)(i / SIDE))[i % SIDE] = values[random_below(4)];
    }
    struct png_rows rows;
    static uint8_t packed[2 * SIDE * LINE], lines[SIDE * LINE];
    size_t size = 0;
    uLongf unpacked = sizeof lines;
    struct png_form form;
    png_form_choose(&form, &image, &(struct png_form_choice){0});
    assert_int_equal(png_rows_init(&rows, &image, &form, NULL), ST_OK);
    assert_int_equal(png_pack(&rows, 6, packed, sizeof packed, &size, NULL), ST_OK);
    assert_int_equal(uncompress(lines, &unpacked, packed, (uLong)size), Z_OK);
    assert_int_equal(unpacked, sizeof lines);
    assert_int_equal(lines[LINE], FILTER_NONE);
    png_rows_finish(&rows);
    fixture_image_free(&image);
}

/* Packs `data` in pieces and lets zlib unpack them. Returns the packed size. */
static size_t check_runs(const uint8_t *data, size_t size, size_t piece) {
    struct buf packed;
    buf_init(&packed, 64 << 20);
    for (size_t at = 0; at < size; at += piece) {
        size_t part = size - at < piece ? size - at : piece;
        uint8_t *exact = malloc(part);
        memcpy(exact, data + at, part);
        assert_int_equal(deflate_rle_block(exact, part, &packed, NULL), ST_OK);
        free(exact);
    }
    assert_int_equal(deflate_rle_end(&packed, NULL), ST_OK);
    uint8_t *back = malloc(size);
    inflate_all(&packed, back, size);
    assert_memory_equal(data, back, size);
    size_t result = packed.size;
    free(back);
    buf_finish(&packed);
    return result;
}

static void test_runs_of_every_length(void **state) {
    (void)state;
    enum { SIZE = 1 << 19 };
    uint8_t *data = malloc(SIZE);
    size_t at = 0;
    for (size_t run = 1; run < 800 && at + run + 1 < SIZE; run++) {
        memset(data + at, 0, run);
        at += run;
        data[at++] = (uint8_t)(1 + random_below(255));
    }
    check_runs(data, at, SIZE);
    check_runs(data, at, 1000);
    check_runs(data, at, 7);
    check_runs(data, 1, SIZE);
    memset(data, 0, SIZE);
    assert_true(check_runs(data, SIZE, SIZE) < 1500);
    free(data);
}

static void test_runs_of_anything(void **state) {
    (void)state;
    enum { SIZE = 100000 };
    uint8_t *data = malloc(SIZE);
    for (uint32_t spread = 1; spread <= 256; spread *= 2) {
        for (size_t i = 0; i < SIZE; i++) {
            data[i] = (uint8_t)(random_below(spread) - spread / 2);
        }
        size_t packed = check_runs(data, SIZE, 1 << 15);
        assert_true(packed < SIZE / 100 * 102);
    }
    free(data);
}

/* All samples that the codes are made from are zero and all others are not: the worst case. */
static void test_misleading_samples_stay_in_bounds(void **state) {
    (void)state;
    enum { SIZE = 1 << 17 };
    uint8_t *data = calloc(1, SIZE);
    for (size_t i = 0; i < SIZE; i++) {
        data[i] = (uint8_t)(i / 1024 % 4 == 0 ? 0 : random_below(256));
    }
    assert_true(check_runs(data, SIZE, SIZE) <= SIZE / 4 * 7 + 512);
    free(data);
}

static void check_codes(const uint32_t *counts, unsigned symbols, unsigned limit) {
    struct huffman_code codes[HUFFMAN_SYMBOLS_MAX];
    huffman_make(counts, symbols, limit, codes);
    uint32_t taken = 0;
    for (unsigned i = 0; i < symbols; i++) {
        assert_int_equal(codes[i].length > 0, counts[i] > 0);
        assert_true(codes[i].length <= limit);
        taken += codes[i].length ? 1u << (limit - codes[i].length) : 0;
        for (unsigned k = 0; k < symbols; k++) {
            assert_false(counts[i] > counts[k] && counts[k] > 0 && codes[i].length > codes[k].length);
            unsigned shorter = codes[i].length < codes[k].length ? codes[i].length : codes[k].length;
            bool prefix = ((codes[i].bits ^ codes[k].bits) & ((1u << shorter) - 1)) == 0;
            assert_false(i != k && shorter > 0 && prefix);
        }
    }
    assert_int_equal(taken, 1u << limit); /* no code is wasted */
}

static void test_codes_are_complete(void **state) {
    (void)state;
    uint32_t counts[HUFFMAN_SYMBOLS_MAX] = {5, 9};
    check_codes(counts, 2, 1);
    for (unsigned i = 0; i < 25; i++) {
        counts[i] = i < 2 ? 1 : counts[i - 1] + counts[i - 2]; /* as deep as a tree can be */
    }
    check_codes(counts, 25, 15);
    check_codes(counts, 25, 7);
    check_codes(counts, 25, 5);
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < 286; i++) {
            counts[i] = random_below(3) ? random_below(1u << random_below(17)) : 0;
        }
        counts[0] = counts[285] = 1;
        check_codes(counts, 286, 14);
        check_codes(counts, 286, 9);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_libpng_reads_every_shape),
        cmocka_unit_test(test_libpng_reads_many_strips),
        cmocka_unit_test(test_more_effort_is_never_larger),
        cmocka_unit_test(test_limits_hold),
        cmocka_unit_test(test_filters_are_undone),
        cmocka_unit_test(test_few_rows_choose_a_filter),
        cmocka_unit_test(test_packing_chooses_a_filter),
        cmocka_unit_test(test_runs_of_every_length),
        cmocka_unit_test(test_runs_of_anything),
        cmocka_unit_test(test_misleading_samples_stay_in_bounds),
        cmocka_unit_test(test_codes_are_complete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
