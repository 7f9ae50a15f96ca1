/* SPDX-License-Identifier: MIT
 * JPEGs to RGB by own code against libjpeg-turbo: the same samples at every instruction set, and the same
 * judgement of damaged files, whose first rows may have readers already. */
#include "codecs/jpeg/jpeg_planes.h"
#include "codecs/jpeg/pixels/pixels_strip.h"
#include "tests/unit/codecs/jpeg/jpeg_recipes.h"

/* Whether the own decoder takes a file of this kind: it has planes, and one scan or several of coefficients.
 */
static bool is_taken(const struct jpeg_recipe *recipe) {
    return recipe->space != JCS_GRAYSCALE && !recipe->separate;
}

static void compare_at(const struct jpeg_dec_level *level, struct bytes input,
                       const struct jpeg_recipe *recipe, const struct picture *picture,
                       const struct image *expected) {
    struct codec_limits limits = fixture_limits();
    struct image image = fixture_image(picture->pixels);
    struct error err = {0};
    bool declined;
    uint32_t rows_reported;
    assert_int_equal(jpeg_pixels_decode_at(level, input, &limits, &picture->native, &image, &declined,
                                           &rows_reported, &err),
                     ST_OK);
    if (declined != !is_taken(recipe) || (!declined && !same_samples(expected, &image))) {
        fail_msg("%s, %u x %u, at %s: %s", recipe->name, recipe->width, recipe->height, level->name,
                 declined ? "declined" : "other samples, or not declined");
    }
    assert_int_equal(rows_reported, declined ? 0 : recipe->height);
    fixture_image_free(&image);
}

static void compare(const struct jpeg_recipe *recipe) {
    struct buf file = recipe_file(recipe);
    struct bytes input = buf_bytes(&file);
    struct codec_limits limits = turbo_limits();
    struct picture picture = fixture_probe(input);
    if (picture.native.model == PIXEL_YCBCR) {
        struct image expected = fixture_image(picture.pixels);
        const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
        assert_int_equal(codec_decode(input, &picture, &limits, &expected, NULL), ST_OK);
        sequential_levels(levels);
        for (unsigned i = 0; levels[i]; i++) {
            compare_at(levels[i], input, recipe, &picture, &expected);
        }
        fixture_image_free(&expected);
    }
    codec_picture_finish(&picture);
    buf_finish(&file);
}

static void test_samples_are_those_of_libjpeg(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},  {2, 2},   {3, 3},   {4, 5},    {5, 4},   {1, 40},  {40, 1},
                                        {7, 9},  {8, 8},   {16, 16}, {17, 33},  {31, 15}, {33, 17}, {47, 48},
                                        {49, 2}, {65, 63}, {66, 64}, {129, 95}, {300, 70}};
    for (size_t i = 0; i < RECIPES; i++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            struct jpeg_recipe recipe = recipes[i];
            recipe.width = sizes[s][0];
            recipe.height = sizes[s][1];
            compare(&recipe);
        }
    }
}

/* All chroma that there may be, by the conversion alone: JPEGs have few of the pairs. */
static void test_every_colour(void **state) {
    (void)state;
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    for (unsigned i = 0; i < 256 * 256; i++) {
        uint8_t luma[256], cb[256], cr[256], room[3][256], rgb[3 * 256], expected[3 * 256];
        struct pixels_row row = {.luma = luma,
                                 .near = {cb, cr},
                                 .width = 256,
                                 .chroma_width = 256,
                                 .colour = {room[0], room[1], room[2]}};
        int b = (int)(i % 256) - 128, r = (int)(i / 256) - 128;
        for (int x = 0; x < 256; x++) {
            const int value[] = {x + ((91881 * r + 32768) >> 16),
                                 x + ((-22554 * b - 46802 * r + 32768) >> 16),
                                 x + ((116130 * b + 32768) >> 16)};
            luma[x] = (uint8_t)x;
            cb[x] = (uint8_t)(b + 128);
            cr[x] = (uint8_t)(r + 128);
            for (int c = 0; c < 3; c++) {
                expected[3 * x + c] = (uint8_t)(value[c] < 0 ? 0 : value[c] > 255 ? 255 : value[c]);
            }
        }
        for (unsigned level = 0; levels[level]; level++) {
            levels[level]->join(&row, rgb);
            assert_memory_equal(rgb, expected, sizeof rgb);
        }
    }
}

/* A decoding as a whole. Each row is kept when it is reported, and must not change after that. */
struct result {
    enum status status;
    struct error err;
    struct image image, kept;
    uint32_t rows_reported;
};

static void keep_rows(void *context, uint32_t rows) {
    struct result *result = context;
    assert_true(rows >= result->rows_reported);
    for (; result->rows_reported < rows; result->rows_reported++) {
        memcpy(plane_row(&result->kept.plane[0], result->rows_reported),
               plane_row(&result->image.plane[0], result->rows_reported),
               plane_row_bytes(&result->kept.plane[0], 8));
    }
}

static void decode_by(struct bytes input, bool libjpeg, struct result *result) {
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct progress progress = {keep_rows, result};
    *result = (struct result){0};
    limits.libjpeg = libjpeg;
    limits.progress = &progress;
    result->status = codec_probe(input, &limits, &picture, &result->err);
    if (result->status == ST_OK) {
        result->image = fixture_image(picture.pixels);
        result->kept = fixture_image(picture.pixels);
        result->status = codec_decode(input, &picture, &limits, &result->image, &result->err);
    }
    codec_picture_finish(&picture);
}

static void result_free(struct result *result) {
    fixture_image_free(&result->image);
    fixture_image_free(&result->kept);
}

static void compare_whole(struct bytes input) {
    struct result own, turbo;
    decode_by(input, false, &own);
    decode_by(input, true, &turbo);
    assert_int_equal(own.status, turbo.status);
    assert_string_equal(own.err.text, turbo.err.text);
    if (own.status == ST_OK) {
        assert_true(same_samples(&own.image, &turbo.image));
        assert_true(own.rows_reported >= own.image.height);
        assert_true(same_samples(&own.image, &own.kept));
    }
    result_free(&own);
    result_free(&turbo);
}

static void damage(const struct buf *file, unsigned round) {
    struct buf damaged;
    buf_init(&damaged, 1 << 24);
    assert_int_equal(buf_append(&damaged, file->data, file->size, NULL), ST_OK);
    for (unsigned n = 0; n <= round % 3; n++) {
        damaged.data[2 + random_below((uint32_t)file->size - 2)] = (uint8_t)random_below(256);
    }
    compare_whole(buf_bytes(&damaged));
    buf_finish(&damaged);
}

static void test_damaged_files_end_alike(void **state) {
    (void)state;
    for (size_t i = 0; i < RECIPES; i++) {
        struct jpeg_recipe recipe = recipes[i];
        recipe.width = 61;
        recipe.height = 70;
        struct buf file = recipe_file(&recipe);
        for (unsigned round = 0; round < 60; round++) {
            damage(&file, round);
        }
        for (size_t size = 3; size < file.size; size += 1 + random_below((uint32_t)file.size / 30)) {
            compare_whole((struct bytes){file.data, size});
        }
        for (size_t size = file.size - 12; size <= file.size; size++) {
            compare_whole((struct bytes){file.data, size});
        }
        buf_finish(&file);
    }
}

/* Files whose components are no YCbCr, or have other numbers than usual: libjpeg-turbo decides what they are.
 */
static void test_other_colours(void **state) {
    (void)state;
    static const J_COLOR_SPACE spaces[] = {JCS_RGB, JCS_YCbCr};
    static const uint8_t numbers[][3] = {{1, 2, 3}, {0, 1, 2}, {'R', 'G', 'B'}, {7, 9, 8}};
    for (size_t i = 0; i < 2 * sizeof numbers / sizeof *numbers; i++) {
        struct jpeg_recipe recipe = {
            .space = spaces[i % 2], .luma = {2, 2}, .width = 50, .height = 40, .numbers = numbers[i / 2]};
        for (unsigned progressive = 0; progressive < 2; progressive++) {
            recipe.progressive = progressive;
            struct buf file = recipe_file(&recipe);
            compare_whole(buf_bytes(&file));
            buf_finish(&file);
        }
    }
    const struct jpeg_recipe inks = {.space = JCS_CMYK, .width = 50, .height = 40};
    struct buf file = recipe_file(&inks);
    compare_whole(buf_bytes(&file));
    buf_finish(&file);
}

static void put_late_block(void *context, JBLOCKROW row, uint32_t y) {
    const uint32_t blocks = *(const uint32_t *)context;
    row[0][0] = (JCOEF)(y % 4);
    row[blocks - 1][9] = y + 1 < blocks ? 0 : 1000;
}

/* A file whose last block alone has a value that is left to libjpeg-turbo. */
static struct buf late_file(bool progressive, uint32_t blocks) {
    struct coefficient_recipe recipe = {
        .progressive = progressive, .blocks = blocks, .put = put_late_block, .context = &blocks};
    for (unsigned k = 0; k < DCTSIZE2; k++) {
        recipe.steps[k] = 255;
    }
    return coefficients_write(&recipe);
}

static enum status decode_limited(const struct buf *file, const struct codec_limits *limits, bool *declined,
                                  uint32_t *rows_reported) {
    struct picture picture = fixture_probe(buf_bytes(file));
    struct image image = fixture_image(picture.pixels);
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    struct error err;
    sequential_levels(levels);
    enum status status = jpeg_pixels_decode_at(levels[0], buf_bytes(file), limits, &picture.native, &image,
                                               declined, rows_reported, &err);
    fixture_image_free(&image);
    codec_picture_finish(&picture);
    return status;
}

static void check_limits(bool progressive) {
    struct jpeg_recipe recipe = {.width = 100, .height = 100, .luma = {2, 2}, .progressive = progressive};
    struct buf file = recipe_file(&recipe);
    struct image_shape planes = fixture_shape(PIXEL_YCBCR, 8, 100, 100);
    planes.chroma_shift_x = planes.chroma_shift_y = 1;
    const size_t strip = pixels_strip_bytes(&planes);
    const size_t least = strip + (progressive ? jpeg_planes_progressive_bytes(&planes) : sequential_bytes());
    bool declined;
    uint32_t rows_reported;
    const struct {
        size_t memory;
        int64_t deadline;
        bool local_colour, declined;
        enum status status;
    } cases[] = {{least, 0, false, false, ST_OK},
                 {least - 1, 0, false, true, ST_OK},
                 {strip - 1, 0, false, true, ST_OK},
                 {least, 0, true, true, ST_OK},
                 {least, 1, false, false, ST_LIMIT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct codec_limits limits = fixture_limits();
        limits.max_memory = cases[i].memory;
        limits.deadline_ns = cases[i].deadline;
        limits.local_colour = cases[i].local_colour;
        assert_int_equal(decode_limited(&file, &limits, &declined, &rows_reported), cases[i].status);
        assert_true(cases[i].status != ST_OK || declined == cases[i].declined);
        assert_int_equal(rows_reported, cases[i].status == ST_OK && !declined ? 100 : 0);
    }
    buf_finish(&file);
}

/* The rows above are reported, and stay as they are when libjpeg-turbo decodes the file. */
static void test_unusual_values_at_the_end(void **state) {
    (void)state;
    enum { BLOCKS = 6 };
    const struct codec_limits limits = fixture_limits();
    for (unsigned progressive = 0; progressive < 2; progressive++) {
        struct buf file = late_file(progressive, BLOCKS);
        bool declined;
        uint32_t rows_reported;
        assert_int_equal(decode_limited(&file, &limits, &declined, &rows_reported), ST_OK);
        assert_true(declined);
        assert_int_equal(rows_reported, (BLOCKS - 1) * DCTSIZE);
        compare_whole(buf_bytes(&file));
        buf_finish(&file);
    }
}

static void test_deadline_and_memory(void **state) {
    (void)state;
    check_limits(false);
    check_limits(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_those_of_libjpeg), cmocka_unit_test(test_every_colour),
        cmocka_unit_test(test_damaged_files_end_alike),      cmocka_unit_test(test_other_colours),
        cmocka_unit_test(test_unusual_values_at_the_end),    cmocka_unit_test(test_deadline_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
