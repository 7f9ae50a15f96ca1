/* SPDX-License-Identifier: MIT */
#include "codecs/jpeg/baseline/baseline.h"
#include "tests/unit/codecs/png/png_fixture.h"

static struct bytes text(const char *bytes, size_t size) {
    return (struct bytes){(const uint8_t *)bytes, size};
}

static void refuse(struct bytes input, enum status expected, const char *word) {
    struct codec_limits limits = fixture_limits();
    struct error err = {0};
    struct picture picture;
    assert_int_equal(codec_probe(input, &limits, &picture, &err), expected);
    if (!strstr(err.text, word)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, word);
    }
}

static void test_table(void **state) {
    (void)state;
    assert_string_equal(codec_get(CODEC_JPEG)->name, "jpeg");
    assert_string_equal(codec_get(CODEC_PNG)->mime, "image/png");
    assert_ptr_equal(codec_sniff(text("\xFF\xD8\xFF\xE0", 4)), codec_get(CODEC_JPEG));
    assert_ptr_equal(codec_sniff(text("\xFF\xD8\xFF", 3)), codec_get(CODEC_JPEG));
    assert_ptr_equal(codec_sniff(text("\x89PNG\r\n\x1A\n", 8)), codec_get(CODEC_PNG));
    assert_ptr_equal(codec_sniff(text("\x89PNG\r\n\x1A\n\x01", 9)), codec_get(CODEC_PNG));
    assert_ptr_equal(codec_sniff(text("GIF89a", 6)), codec_get(CODEC_GIF));
    assert_null(codec_sniff(text("GIF90b", 6)));
    assert_null(codec_sniff((struct bytes){0}));
}

static void test_foreign_formats_are_named(void **state) {
    (void)state;
    refuse((struct bytes){0}, ST_CORRUPT, "empty");
    refuse(text("\xFF\xD8", 2), ST_CORRUPT, "cut short");
    refuse(text("\x89PN", 3), ST_CORRUPT, "cut short");
    refuse(text("GIF90b......", 12), ST_UNSUPPORTED, "GIF");
    refuse(text("BM..........", 12), ST_CORRUPT, "BMP is cut short");
    refuse(text("BMW, Audi, Mercedes", 19), ST_UNSUPPORTED, "none of them");
    refuse(text("%PDF-1.7", 8), ST_UNSUPPORTED, "PDF");
    refuse(text("\n <svg xmlns=", 13), ST_UNSUPPORTED, "SVG");
    refuse(text("<!doctype html><html>", 21), ST_UNSUPPORTED, "HTML");
    refuse(text("\0\0\0\x0CjP  \r\n\x87\n", 12), ST_UNSUPPORTED, "JPEG 2000");
    refuse(text("\0\0\0\x10\x66typmif3avif", 16), ST_UNSUPPORTED, "low-overhead");
    refuse(text("P6\n1 1\n255\n", 11), ST_UNSUPPORTED, "PPM");
    refuse(text("nothing known", 13), ST_UNSUPPORTED, "JPEG");
}

/* A file of a format whose library was missing is refused by name; the beginning of another is cut short. */
static void test_formats_of_the_build(void **state) {
    (void)state;
    static const struct {
        enum codec_id id;
        const char *bytes;
        size_t size;
    } rows[] = {
        {CODEC_WEBP, "RIFF\x1A\0\0\0WEBPVP8 ", 16},
        {CODEC_AVIF, "\0\0\0\x14\x66typavif\0\0\0\0avif", 20},
        {CODEC_HEIC, "\0\0\0\x14\x66typheic\0\0\0\0heic", 20},
        {CODEC_TIFF, "MM\0+\0\x08\0\0\0\0\0\0\0\0\0\0", 16},
        {CODEC_JXL, "\0\0\0\x0CJXL \r\n\x87\n\0\0\0\x14", 16},
    };
    char list[CODEC_TITLES_MAX];
    assert_ptr_equal(codec_titles(codec_decodes, "and", list), list);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct codec *codec = codec_get(rows[i].id);
        assert_ptr_equal(codec_sniff(text(rows[i].bytes, rows[i].size)), codec);
        assert_int_equal(strstr(list, codec->title) != NULL, codec_decodes(rows[i].id));
        if (codec_decodes(rows[i].id)) {
            refuse(text(rows[i].bytes, 7), ST_CORRUPT, "cut short");
        } else {
            refuse(text(rows[i].bytes, rows[i].size), ST_UNSUPPORTED, codec->title);
        }
    }
}

static bool is_jpeg(enum codec_id id) {
    return id == CODEC_JPEG;
}

static bool is_up_to_heic(enum codec_id id) {
    return id <= CODEC_HEIC;
}

static bool is_early(enum codec_id id) {
    return id <= CODEC_PNG;
}

static void test_titles(void **state) {
    (void)state;
    char list[CODEC_TITLES_MAX];
    assert_string_equal(codec_titles(is_jpeg, "and", list), "JPEG");
    assert_string_equal(codec_titles(is_early, "or", list), "JPEG or PNG");
    assert_string_equal(codec_titles(is_up_to_heic, "and", list), "JPEG, PNG, WebP, AVIF and HEIC");
}

static void test_limits_name_value_and_limit(void **state) {
    (void)state;
    for (unsigned id = 0; id < CODEC_COUNT; id++) {
        if (!codec_encodes((enum codec_id)id)) {
            continue;
        }
        struct encode_options options = fixture_options();
        struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 60, 50));
        struct buf file = fixture_encode((enum codec_id)id, &image, &options, NULL);
        struct codec_limits limits = fixture_limits();
        struct error err;
        limits.max_side = 59;
        assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
        assert_non_null(strstr(err.text, "60 x 50"));
        assert_non_null(strstr(err.text, "59 pixels a side"));
        limits.max_side = 60;
        limits.max_pixels = 2999;
        assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
        assert_non_null(strstr(err.text, "3000"));
        assert_non_null(strstr(err.text, "2999"));
        limits.max_pixels = 3000;
        assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_OK);
        limits.deadline_ns = 1;
        assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
        assert_non_null(strstr(err.text, "time limit"));
        buf_finish(&file);
        fixture_image_free(&image);
    }
}

/* 8 bytes of Deflate hold 8 * 1032 pixels at best; 1024 more are granted. */
static void test_the_most_pixels_of_a_png(void **state) {
    (void)state;
    struct codec_limits limits = fixture_limits();
    for (uint32_t over = 0; over <= 1; over++) {
        struct buf file = put_start(8 * 1032 + 1024 + over, 1, 8, 0, false);
        put_chunk(&file, "IDAT", (const uint8_t[8]){0}, 8);
        put_chunk(&file, "IEND", NULL, 0);
        struct picture picture;
        struct error err = {0};
        assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), over ? ST_CORRUPT : ST_OK);
        assert_int_equal(strstr(err.text, "truncated") != NULL, over);
        buf_finish(&file);
    }
}

static void test_shape_must_match(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 20, 20));
    struct buf file = fixture_encode(CODEC_PNG, &image, &options, NULL);
    struct codec_limits limits = fixture_limits();
    struct picture picture = fixture_probe(buf_bytes(&file));
    struct image other = fixture_image(fixture_shape(PIXEL_RGB, 8, 20, 21));
    assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &other, NULL), ST_INTERNAL);
    fixture_image_free(&other);
    other = fixture_painted(fixture_shape(PIXEL_YCBCR, 8, 20, 20));
    struct buf output;
    buf_init(&output, 1 << 20);
    assert_int_equal(codec_encode(CODEC_PNG, &other, &options, NULL, &output, NULL), ST_INTERNAL);
    buf_finish(&output);
    fixture_image_free(&other);
    buf_finish(&file);
    fixture_image_free(&image);
}

static void test_empty_pictures_are_refused(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    for (unsigned id = 0; id < CODEC_COUNT; id++) {
        if (!codec_encodes((enum codec_id)id)) {
            continue;
        }
        for (int tall = 0; tall <= 1; tall++) {
            struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 20, 20));
            *(tall ? &image.width : &image.height) = 0;
            struct buf output;
            struct error err = {0};
            buf_init(&output, 1 << 20);
            assert_int_equal(codec_encode((enum codec_id)id, &image, &options, NULL, &output, &err),
                             ST_INTERNAL);
            assert_string_equal(err.text, "there is no picture to encode");
            buf_finish(&output);
            fixture_image_free(&image);
        }
    }
}

static void test_progressive_takes_more_memory(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    enum { SIDE = 1024, SAMPLES = SIDE * SIDE };
    struct image_shape shape = fixture_shape(PIXEL_GRAY, 8, SIDE, SIDE);
    options.optimal = true;
    size_t plain = codec_encode_bytes(CODEC_JPEG, &shape, &options);
    bool own = baseline_takes(&shape, &options);
    options.progressive = true;
    size_t all = codec_encode_bytes(CODEC_JPEG, &shape, &options);
    if (own) {
        assert_in_range(plain, SAMPLES / 2, SAMPLES); /* the symbols of all blocks */
    } else {
        assert_int_equal(plain, all); /* libjpeg, which keeps the coefficients */
    }
    assert_in_range(all, SAMPLES * sizeof(int16_t), SAMPLES * sizeof(int16_t) + (1 << 20));
}

static void test_output_is_bounded(void **state) {
    (void)state;
    for (unsigned id = 0; id < CODEC_COUNT; id++) {
        if (!codec_encodes((enum codec_id)id)) {
            continue;
        }
        struct encode_options options = fixture_options();
        struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 200, 200));
        uint8_t lent[100];
        struct buf output;
        buf_init_fixed(&output, lent, sizeof(lent));
        struct error err = {0};
        assert_int_equal(codec_encode((enum codec_id)id, &image, &options, NULL, &output, &err), ST_LIMIT);
        assert_non_null(strstr(err.text, "100 bytes"));
        /* The encoder appends to bytes that are already in the buffer. */
        buf_init(&output, 1 << 20);
        assert_int_equal(buf_append(&output, "head", 4, NULL), ST_OK);
        assert_int_equal(codec_encode((enum codec_id)id, &image, &options, NULL, &output, &err), ST_OK);
        assert_memory_equal(output.data, "head", 4);
        assert_non_null(codec_sniff((struct bytes){output.data + 4, output.size - 4}));
        buf_finish(&output);
        fixture_image_free(&image);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),
        cmocka_unit_test(test_foreign_formats_are_named),
        cmocka_unit_test(test_formats_of_the_build),
        cmocka_unit_test(test_titles),
        cmocka_unit_test(test_limits_name_value_and_limit),
        cmocka_unit_test(test_the_most_pixels_of_a_png),
        cmocka_unit_test(test_shape_must_match),
        cmocka_unit_test(test_empty_pictures_are_refused),
        cmocka_unit_test(test_progressive_takes_more_memory),
        cmocka_unit_test(test_output_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
