/* SPDX-License-Identifier: MIT
 * The own encoder of baseline JPEGs against libjpeg-turbo: the same bytes at every instruction set, with both
 * kinds of Huffman tables. */
#include "codecs/jpeg/baseline/baseline.h"
#include "codecs/jpeg/baseline/jpeg_enc_level.h"
#include "core/sanitizers.h"
#include "tests/unit/codecs/jpeg/jpeg_fixture.h"
#include "tests/unit/codecs/jpeg/jpeg_random.h"

#include <stdio.h>

enum content { NOISE, SMOOTH, FLAT, SPARSE, EXTREMES, CHESS, CONTENTS };

static const struct image_shape models[] = {
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_y = 2},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 2},
};
enum { MODELS = sizeof models / sizeof *models };

/* EXTREMES: blocks all black or all white, or one of the transform's own patterns at full swing. SPARSE: some
 * pixels of another colour, whose blocks have long runs of zeros at low quality. */
static uint8_t sample(enum content content, uint32_t x, uint32_t y, unsigned plane) {
    static const uint8_t signs[] = {0x00, 0xf0, 0xc3, 0x99, 0x66, 0xb5, 0xad, 0xaa};
    uint32_t block = (x / 8 * 7 + y / 8 * 13 + plane) * 2654435761u >> 16;
    uint32_t pattern =
        (uint32_t)signs[block % 8] >> (x % 8) ^ (uint32_t)signs[block / 8 % 8] >> (y % 8) ^ block >> 6;
    switch (content) {
    case NOISE:
        return (uint8_t)random_below(256);
    case SMOOTH:
        return (uint8_t)(40 + (x * (2 + plane) / 3 + y) % 160);
    case FLAT:
        return (uint8_t)(200 + 20 * plane);
    case SPARSE:
        return random_below(50) == 0 ? 90 : 110;
    case EXTREMES:
        return pattern & 1 ? 255 : 0;
    default:
        return (x + y) % 2 ? 255 : 0;
    }
}

/* The padding holds what fixture_image leaves there. */
static struct image painted(struct image_shape shape, uint32_t width, uint32_t height, enum content content) {
    shape.width = width;
    shape.height = height;
    struct image image = fixture_image(shape);
    for (unsigned p = 0; p < image.plane_count; p++) {
        for (uint32_t y = 0; y < image.plane[p].height; y++) {
            for (uint32_t x = 0; x < image.plane[p].width; x++) {
                plane_row(&image.plane[p], y)[x] = sample(content, x, y, p);
            }
        }
    }
    return image;
}

static struct buf by_level(const struct jpeg_enc_level *level, const struct image *image,
                           const struct encode_options *options, uint32_t step) {
    const struct jpeg_segments segments = {.jfif = {0, 1, 1}};
    struct baseline *own;
    struct buf file;
    struct error err = {0};
    buf_init(&file, 64 << 20);
    assert_int_equal(baseline_begin(level, image, options, &segments, &file, &own, &err), ST_OK);
    for (uint32_t rows = step; rows < image->height; rows += step) {
        assert_int_equal(baseline_rows(own, rows, &err), ST_OK);
    }
    assert_int_equal(baseline_end(own, &err), ST_OK);
    baseline_finish(own);
    return file;
}

/* With both kinds of tables, at every level; by all levels but the first in pieces. */
static void compare_image(const struct image *image, const char *name, uint8_t quality,
                          enum subsampling subsampling) {
    const struct jpeg_enc_level *levels[JPEG_ENC_LEVELS_MAX + 1];
    jpeg_enc_levels(levels);
    for (unsigned optimal = 0; optimal < 2; optimal++) {
        const struct encode_options options = {
            .quality = quality, .optimal = optimal, .subsampling = subsampling, .libjpeg = true};
        struct buf expected = fixture_encode(CODEC_JPEG, image, &options, NULL);
        for (unsigned i = 0; levels[i]; i++) {
            struct buf file = by_level(levels[i], image, &options, i ? 5 + 9 * i : image->height);
            if (file.size != expected.size || memcmp(file.data, expected.data, file.size) != 0) {
                fail_msg("%s: %s, %ux%u, quality %u, subsampling %d, optimal %u: %zu bytes instead of %zu",
                         levels[i]->name, name, image->width, image->height, quality, subsampling, optimal,
                         file.size, expected.size);
            }
            buf_finish(&file);
        }
        buf_finish(&expected);
    }
}

static void compare(struct image_shape shape, uint32_t width, uint32_t height, enum content content,
                    uint8_t quality) {
    char name[64];
    struct image image = painted(shape, width, height, content);
    snprintf(name, sizeof name, "chroma %u %u (model %d), content %d", shape.chroma_shift_x,
             shape.chroma_shift_y, shape.model, content);
    compare_image(&image, name, quality, SUBSAMPLING_AUTO);
    fixture_image_free(&image);
}

static void test_sizes(void **state) {
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        for (uint32_t height = 1; height <= 35; height += height < 18 && !SANITIZED ? 1 : 5) {
            for (uint32_t width = 1; width <= 35; width += width < 18 ? 3 : 7) {
                compare(models[m], width, height, (enum content)((width + height) % CONTENTS), 85);
            }
        }
    }
}

/* Rows of several pieces. */
static void test_long_rows(void **state) {
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        for (uint32_t width = 500; width <= 530; width += 5) {
            compare(models[m], width, 40, (enum content)(width / 5 % CONTENTS), 90);
        }
    }
}

static void test_every_quality(void **state) {
    (void)state;
    for (unsigned quality = 1; quality <= 100; quality++) {
        for (enum content content = 0; content < CONTENTS; content++) {
            compare(models[(quality + content) % MODELS], 70, 50, content, (uint8_t)quality);
        }
    }
}

/* More tokens than are kept, so that rows are transformed twice. */
static void test_more_than_is_kept(void **state) {
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        compare(models[m], 400, 301, NOISE, 100);
    }
}

/* Interleaved pixels, and grey of 16 bits: slopes with noise on top. */
static void compare_colours(enum pixel_model model, unsigned depth, uint32_t width, uint32_t height) {
    struct image image = fixture_painted(fixture_shape(model, depth, width, height));
    const struct plane *plane = &image.plane[0];
    char name[32];
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x += 1 + random_below(20)) {
            size_t bytes = plane_row_bytes(plane, depth) / width;
            memset(plane_row(plane, y) + x * bytes, random_below(3) ? (int)random_below(256) : 255, bytes);
        }
    }
    snprintf(name, sizeof name, "model %d of %u bits", model, depth);
    for (enum subsampling subsampling = SUBSAMPLING_AUTO; subsampling <= SUBSAMPLING_444; subsampling++) {
        compare_image(&image, name, 85, subsampling);
    }
    fixture_image_free(&image);
}

static void test_colours(void **state) {
    (void)state;
    static const enum pixel_model colours[] = {PIXEL_RGB, PIXEL_RGBA, PIXEL_GRAY_ALPHA, PIXEL_GRAY};
    static const uint32_t sizes[][2] = {{1, 1},   {2, 2},   {3, 5},   {8, 8},    {9, 16},
                                        {16, 17}, {31, 15}, {33, 34}, {300, 47}, {521, 33}};
    for (size_t i = 0; i < 8; i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            compare_colours(colours[i % 4], i < 4 ? 8 : 16, sizes[s][0], sizes[s][1]);
        }
    }
}

static void test_all_colours(void **state) {
    (void)state;
    struct image image = fixture_image(fixture_shape(PIXEL_RGB, 8, 512, 64));
    for (uint32_t i = 0; i < 512 * 64; i++) { /* each eighth value, and the extremes */
        uint8_t *pixel = plane_row(&image.plane[0], i / 512) + i % 512 * 3;
        pixel[0] = (uint8_t)(i % 32 * 8 + i % 8);
        pixel[1] = (uint8_t)(i / 32 % 32 * 255 / 31);
        pixel[2] = (uint8_t)(i / 1024 * 255 / 31);
    }
    compare_image(&image, "all colours", 100, SUBSAMPLING_444);
    compare_image(&image, "all colours", 100, SUBSAMPLING_420);
    fixture_image_free(&image);
}

static void test_pictures_for_libjpeg(void **state) {
    (void)state;
    const struct encode_options options = {.quality = 85}, progressive = {.quality = 85, .progressive = true},
                                turbo = {.quality = 85, .libjpeg = true};
    struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, 64, 64);
    const struct jpeg_enc_level *levels[JPEG_ENC_LEVELS_MAX + 1];
    jpeg_enc_levels(levels);
    assert_int_equal(baseline_takes(&shape, &options), levels[0]->vectors);
    assert_false(baseline_takes(&shape, &progressive));
    assert_false(baseline_takes(&shape, &turbo));
    shape.chroma_shift_x = shape.chroma_shift_y = 2;
    assert_false(baseline_takes(&shape, &options));
    shape = fixture_shape(PIXEL_GRAY, 8, 65501, 1);
    assert_false(baseline_takes(&shape, &options));
}

/* The head is written by the own encoder, too. */
static void test_metadata(void **state) {
    (void)state;
    const struct metadata metadata = {.orientation = 6,
                                      .density = {.unit = DENSITY_INCH, .x = 300, .y = 150, .scale = 1},
                                      .chunk_count = 1,
                                      .chunk = {{CHUNK_COMMENT, 0, {(const uint8_t *)"a comment", 9}}}};
    struct image image = painted(models[2], 40, 30, SMOOTH);
    for (unsigned optimal = 0; optimal < 2; optimal++) {
        struct encode_options options = {
            .quality = 85, .optimal = optimal, .keep_metadata = true, .losses = &(unsigned){0}};
        struct buf own = fixture_encode(CODEC_JPEG, &image, &options, &metadata);
        options.libjpeg = true;
        struct buf turbo = fixture_encode(CODEC_JPEG, &image, &options, &metadata);
        assert_int_equal(own.size, turbo.size);
        assert_memory_equal(own.data, turbo.data, own.size);
        assert_non_null(memmem(own.data, own.size, "a comment", 9));
        buf_finish(&own);
        buf_finish(&turbo);
    }
    fixture_image_free(&image);
}

/* The file made of the blocks of `read` at a level; empty if they have no symbols. */
static struct buf of_blocks(const struct jpeg_enc_level *level, const struct image *image,
                            struct coefficient_file *read) {
    const struct jpeg_segments segments = {.jfif = {0, 1, 1}};
    const struct encode_options options = {.optimal = true};
    struct baseline_blocks blocks = {0};
    struct baseline *own;
    struct buf file;
    struct error err = {0};
    buf_init(&file, 64 << 20);
    for (int c = 0; c < read->count; c++) {
        struct coefficients *component = &read->component[c];
        blocks.row[c] = calloc(component->height, sizeof *blocks.row[c]);
        for (uint32_t y = 0; y < component->height; y++) {
            blocks.row[c][y] = (const int16_t(*)[DCTSIZE2])component->blocks + (size_t)y * component->width;
        }
        memcpy(blocks.quantiser[c > 0], component->steps, sizeof component->steps);
    }
    assert_int_equal(baseline_begin_blocks(level, image, &blocks, &options, &segments, &file, &own, &err),
                     ST_OK);
    enum status status = baseline_end(own, &err);
    assert_true(status == ST_OK || status == ST_UNSUPPORTED);
    file.size = status == ST_OK ? file.size : 0;
    baseline_finish(own);
    for (int c = 0; c < read->count; c++) {
        free(blocks.row[c]);
    }
    return file;
}

static void compare_blocks(const struct image *image, enum content content) {
    const struct jpeg_enc_level *levels[JPEG_ENC_LEVELS_MAX + 1];
    const struct encode_options options = {.quality = 90, .optimal = true, .libjpeg = true};
    struct buf expected = fixture_encode(CODEC_JPEG, image, &options, NULL);
    struct coefficient_file read = coefficients_read(buf_bytes(&expected));
    jpeg_enc_levels(levels);
    for (unsigned i = 0; levels[i]; i++) {
        struct buf file = of_blocks(levels[i], image, &read);
        if (file.size != expected.size || memcmp(file.data, expected.data, file.size) != 0) {
            fail_msg("%s: blocks of %ux%u, %u planes, content %d", levels[i]->name, image->width,
                     image->height, image->plane_count, content);
        }
        buf_finish(&file);
        read.component[0].blocks[0][1] += 2048;
        file = of_blocks(levels[i], image, &read);
        assert_int_equal(file.size, 0);
        buf_finish(&file);
        read.component[0].blocks[0][1] -= 2048;
    }
    coefficients_free(&read);
    buf_finish(&expected);
}

static void test_given_blocks(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {8, 8}, {17, 33}, {64, 48}, {300, 67}};
    for (size_t m = 0; m < MODELS; m++) {
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            for (enum content content = 0; content < CONTENTS; content++) {
                struct image image = painted(models[m], sizes[s][0], sizes[s][1], content);
                compare_blocks(&image, content);
                fixture_image_free(&image);
            }
        }
    }
}

/* Every maximum of the output fails alike, except that of the whole file. */
static void test_output_limits(void **state) {
    (void)state;
    struct image image = painted(models[2], 100, 60, NOISE);
    for (unsigned optimal = 0; optimal < 2; optimal++) {
        const struct encode_options options = {.quality = 85, .optimal = optimal};
        if (!baseline_takes(&models[2], &options)) {
            continue; /* libjpeg-turbo asks for more room than it needs */
        }
        struct buf whole = fixture_encode(CODEC_JPEG, &image, &options, NULL), file;
        struct error err = {0};
        for (size_t maximum = 0; maximum < whole.size; maximum += maximum < 700 ? 1 : 257) {
            buf_init(&file, maximum);
            assert_int_equal(codec_encode(CODEC_JPEG, &image, &options, NULL, &file, &err), ST_LIMIT);
            buf_finish(&file);
        }
        buf_init(&file, whole.size);
        assert_int_equal(codec_encode(CODEC_JPEG, &image, &options, NULL, &file, &err), ST_OK);
        assert_int_equal(file.size, whole.size);
        buf_finish(&file);
        buf_finish(&whole);
    }
    fixture_image_free(&image);
}

static void test_deadline(void **state) {
    (void)state;
    struct image image = painted(models[2], 100, 60, SMOOTH);
    for (unsigned optimal = 0; optimal < 2; optimal++) {
        const struct encode_options options = {.quality = 85, .optimal = optimal, .deadline_ns = 1};
        struct error err = {0};
        struct buf file;
        buf_init(&file, 1 << 20);
        assert_int_equal(codec_encode(CODEC_JPEG, &image, &options, NULL, &file, &err), ST_LIMIT);
        buf_finish(&file);
    }
    fixture_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_long_rows),
        cmocka_unit_test(test_every_quality),
        cmocka_unit_test(test_more_than_is_kept),
        cmocka_unit_test(test_pictures_for_libjpeg),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_all_colours),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_given_blocks),
        cmocka_unit_test(test_output_limits),
        cmocka_unit_test(test_deadline),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
