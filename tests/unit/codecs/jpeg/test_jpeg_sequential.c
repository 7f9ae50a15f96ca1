/* SPDX-License-Identifier: MIT
 * The own decoders of JPEGs against libjpeg-turbo: the same samples at every instruction set, and the same
 * judgement of damaged files. */
#include "codecs/jpeg/jpeg_planes.h"

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "tests/unit/codecs/jpeg/jpeg_recipes.h"

/* Where 16 bits saturate, libjpeg-turbo's code for ARM differs from that for x86: there plain C is the
 * reference. */
#if defined(__x86_64__)
static const bool turbo_saturates = true;
#else
static const bool turbo_saturates = false;
#endif

/* The samples that are expected of each level. */
static enum status decode_expected(struct bytes input, const struct picture *picture, bool wild,
                                   const struct image *expected) {
    const struct codec_limits limits = turbo_limits();
    struct error err = {0};
    enum status status = codec_decode(input, picture, &limits, expected, &err);
    if (wild && !turbo_saturates) {
        bool declined;
        uint32_t rows_reported;
        assert_int_equal(jpeg_planes_decode_at(&jpeg_dec_level_plain, input, &limits, expected, &declined,
                                               &rows_reported, &err),
                         ST_OK);
    }
    return status;
}

/* Decodes by libjpeg-turbo and at every level; with `taken`, the own decoder must not leave the file. */
static void compare(struct bytes input, const char *name, bool wild, bool taken) {
    struct codec_limits limits = turbo_limits();
    struct picture picture = fixture_probe(input);
    struct image expected = fixture_image(picture.native);
    struct error err = {0};
    enum status status = decode_expected(input, &picture, wild, &expected);
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    for (unsigned i = 0; levels[i]; i++) {
        struct image image = fixture_image(picture.native);
        bool declined;
        uint32_t rows_reported;
        assert_int_equal(
            jpeg_planes_decode_at(levels[i], input, &limits, &image, &declined, &rows_reported, &err), ST_OK);
        if (declined ? taken : status != ST_OK || !same_samples(&expected, &image)) {
            fail_msg("%s at %s: %s", name, levels[i]->name, declined ? "declined" : "other samples");
        }
        fixture_image_free(&image);
    }
    fixture_image_free(&expected);
    codec_picture_finish(&picture);
}

static void test_samples_are_those_of_libjpeg(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1},   {1, 40},  {40, 1},  {7, 9},    {8, 8},   {16, 16},
                                        {17, 33}, {31, 15}, {65, 63}, {129, 95}, {300, 70}};
    for (size_t i = 0; i < RECIPES; i++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            struct jpeg_recipe recipe = recipes[i];
            recipe.width = sizes[s][0];
            recipe.height = sizes[s][1];
            struct buf file = recipe_file(&recipe);
            compare(buf_bytes(&file), recipe.name, false, true);
            buf_finish(&file);
        }
    }
}

static void test_every_quality(void **state) {
    (void)state;
    for (unsigned quality = 1; quality <= 100; quality += 3) {
        struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, 200, 120);
        shape.chroma_shift_x = shape.chroma_shift_y = 1;
        struct image image = fixture_image(shape);
        for (unsigned p = 0; p < 3; p++) {
            for (uint32_t y = 0; y < image.plane[p].height; y++) {
                for (uint32_t x = 0; x < image.plane[p].width; x++) {
                    uint32_t noise = random_below(1 + x / 2);
                    plane_row(&image.plane[p], y)[x] = (uint8_t)(x + 2 * y + noise);
                }
            }
        }
        struct encode_options options = {.quality = (uint8_t)quality};
        struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
        compare(buf_bytes(&file), "quality", false, true);
        buf_finish(&file);
        fixture_image_free(&image);
    }
}

/* Coefficients that no picture has: up to `limit`, `count` in a block of 64. */
struct wild {
    int limit;
    unsigned count;
    unsigned step;
    bool optimal;
};

struct wild_blocks {
    const struct wild *wild;
    uint32_t blocks;
};

static void put_wild_blocks(void *context, JBLOCKROW row, uint32_t y) {
    const struct wild_blocks *to = context;
    (void)y;
    for (uint32_t n = 0; n < to->blocks * to->wild->count; n++) {
        int value = (int)random_below(2 * (unsigned)to->wild->limit + 1) - to->wild->limit;
        row[n / to->wild->count][random_below(DCTSIZE2)] = (JCOEF)value;
    }
}

static struct buf wild_file(const struct wild *wild, bool progressive, uint32_t blocks) {
    struct wild_blocks to = {wild, blocks};
    struct coefficient_recipe recipe = {.optimal = wild->optimal,
                                        .progressive = progressive,
                                        .blocks = blocks,
                                        .put = put_wild_blocks,
                                        .context = &to};
    for (unsigned k = 0; k < DCTSIZE2; k++) {
        recipe.steps[k] = 1 + random_below(wild->step);
    }
    return coefficients_write(&recipe);
}

static void test_wild_coefficients(void **state) {
    (void)state;
    static const struct wild wilds[] = {
        {1, 1, 1, false},     {2, 64, 1, true},      {15, 4, 4, true},       {31, 10, 16, true},
        {100, 64, 16, true},  {255, 30, 40, false},  {1023, 64, 1, true},    {1023, 2, 8, true},
        {1023, 64, 8, true},  {1023, 20, 255, true}, {1023, 64, 255, false}, {300, 8, 3000, true},
        {3, 64, 65535, true}, {1023, 200, 2, true},  {7, 200, 1000, true},   {63, 64, 128, true},
    };
    for (size_t i = 0; i < sizeof(wilds) / sizeof(*wilds); i++) {
        for (unsigned round = 0; round < 6; round++) {
            struct buf file = wild_file(&wilds[i], round % 2, 1 + 5 * (round / 2));
            bool mild = wilds[i].limit * (int)wilds[i].step <= JPEG_DEC_VALUE_MAX / 2;
            compare(buf_bytes(&file), "wild", true, mild);
            buf_finish(&file);
        }
    }
}

/* The outcome of a decoding as a whole, libjpeg-turbo's where the own decoder leaves the file. */
struct result {
    enum status status;
    struct error err;
    struct image image;
    uint32_t rows_reported;
};

static void keep_rows(void *context, uint32_t rows) {
    uint32_t *rows_reported = context;
    assert_true(rows >= *rows_reported);
    *rows_reported = rows;
}

static struct result decode_by(struct bytes input, bool libjpeg) {
    struct result result = {0};
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct progress progress = {keep_rows, &result.rows_reported};
    limits.libjpeg = libjpeg;
    limits.progress = &progress;
    result.status = codec_probe(input, &limits, &picture, &result.err);
    if (result.status == ST_OK) {
        result.image = fixture_image(picture.native);
        result.status = codec_decode(input, &picture, &limits, &result.image, &result.err);
    }
    codec_picture_finish(&picture);
    return result;
}

static void compare_whole(struct bytes input) {
    struct result own = decode_by(input, false), turbo = decode_by(input, true);
    assert_int_equal(own.status, turbo.status);
    assert_string_equal(own.err.text, turbo.err.text);
    if (own.status == ST_OK) {
        assert_true(same_samples(&own.image, &turbo.image));
        assert_true(own.rows_reported >= own.image.height);
    }
    fixture_image_free(&own.image);
    fixture_image_free(&turbo.image);
}

static void test_damaged_files_end_alike(void **state) {
    (void)state;
    for (size_t i = 0; i < RECIPES; i++) {
        struct jpeg_recipe recipe = recipes[i];
        recipe.width = 61;
        recipe.height = 50;
        struct buf file = recipe_file(&recipe);
        for (unsigned round = 0; round < 150; round++) {
            struct buf damaged;
            buf_init(&damaged, 1 << 24);
            assert_int_equal(buf_append(&damaged, file.data, file.size, NULL), ST_OK);
            for (unsigned n = 0; n <= round % 3; n++) {
                damaged.data[2 + random_below((uint32_t)file.size - 2)] = (uint8_t)random_below(256);
            }
            compare_whole(buf_bytes(&damaged));
            buf_finish(&damaged);
        }
        for (size_t size = 3; size < file.size; size += 1 + random_below((uint32_t)file.size / 60)) {
            compare_whole((struct bytes){file.data, size});
        }
        for (size_t size = file.size - 12; size < file.size; size++) {
            compare_whole((struct bytes){file.data, size});
        }
        buf_finish(&file);
    }
}

/* Bytes between the last code of an interval and its marker are skipped by libjpeg, and fill bytes are
 * allowed. */
static void test_surplus_before_markers(void **state) {
    (void)state;
    static const char *const surplus[] = {"\xFF",
                                          "\xFF\xFF\xFF",
                                          "ab",
                                          "a\xFF",
                                          "\x01\xFF\x00"
                                          "b",
                                          ""};
    for (size_t i = 0; i < RECIPES; i++) {
        struct jpeg_recipe recipe = recipes[i];
        recipe.width = recipe.height = 50;
        struct buf file = recipe_file(&recipe);
        for (size_t s = 0; s < sizeof(surplus) / sizeof(*surplus); s++) {
            struct buf other;
            buf_init(&other, 1 << 24);
            size_t length = s == 4 ? 4 : strlen(surplus[s]);
            for (size_t at = 0; at < file.size; at++) {
                uint8_t next = at + 1 < file.size ? file.data[at + 1] : 0;
                bool marker = file.data[at] == 0xFF && ((next & 0xF8) == JPEG_RST0 || next == JPEG_EOI);
                assert_int_equal(buf_append(&other, surplus[s], marker ? length : 0, NULL), ST_OK);
                assert_int_equal(buf_append(&other, file.data + at, 1, NULL), ST_OK);
            }
            compare_whole(buf_bytes(&other));
            buf_finish(&other);
        }
        buf_finish(&file);
    }
}

static void check_deadline_and_memory(bool progressive) {
    struct jpeg_recipe recipe = {.width = 100, .height = 100, .luma = {2, 2}, .progressive = progressive};
    struct buf file = recipe_file(&recipe);
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.deadline_ns = 1;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    limits = fixture_limits();
    struct picture picture = fixture_probe(buf_bytes(&file));
    struct image image = fixture_image(picture.native);
    bool declined;
    uint32_t rows_reported;
    assert_int_equal(jpeg_planes_decode(buf_bytes(&file), &limits, &image, &declined, &rows_reported, &err),
                     ST_OK);
    const struct jpeg_dec_level *levels[SEQUENTIAL_LEVELS_MAX + 1];
    sequential_levels(levels);
    assert_int_equal(declined, !levels[0]->vectors);
    assert_int_equal(rows_reported, declined ? 0 : 100);
    size_t least = progressive ? jpeg_planes_progressive_bytes(&picture.native) : sequential_bytes();
    limits.max_memory = least - 1;
    assert_int_equal(jpeg_planes_decode(buf_bytes(&file), &limits, &image, &declined, &rows_reported, &err),
                     ST_OK);
    assert_true(declined);
    assert_in_range(least, 1, codec_decode_bytes(&picture, file.size));
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_deadline_and_memory(void **state) {
    (void)state;
    check_deadline_and_memory(false);
    check_deadline_and_memory(true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_samples_are_those_of_libjpeg),
        cmocka_unit_test(test_every_quality),
        cmocka_unit_test(test_wild_coefficients),
        cmocka_unit_test(test_damaged_files_end_alike),
        cmocka_unit_test(test_surplus_before_markers),
        cmocka_unit_test(test_deadline_and_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
