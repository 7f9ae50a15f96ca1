/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include <jpeglib.h>

#include "codecs/jpeg/jpeg_markers.h"
#include "tests/unit/codecs/picture_fixture.h"

static struct image_shape planes(unsigned shift_x, unsigned shift_y, uint32_t width, uint32_t height) {
    struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, width, height);
    shape.chroma_shift_x = (uint8_t)shift_x;
    shape.chroma_shift_y = (uint8_t)shift_y;
    return shape;
}

static struct buf painted_file(struct image_shape shape, const struct encode_options *options,
                               const struct metadata *metadata) {
    struct image image = fixture_painted(shape);
    struct buf file = fixture_encode(CODEC_JPEG, &image, options, metadata);
    fixture_image_free(&image);
    return file;
}

/* A JPEG that libjpeg writes with settings that our encoder does not offer. */
struct custom {
    int components;
    J_COLOR_SPACE space;
    bool adobe;
    int scans; /* 0: sequential; else as many scans of the same kind */
    bool arithmetic;
};

static struct buf custom_file(const struct custom *custom, uint8_t value, uint32_t side) {
    struct jpeg_compress_struct cinfo;
    struct jpeg_error_mgr manager;
    cinfo.err = jpeg_std_error(&manager);
    jpeg_create_compress(&cinfo);
    unsigned char *data = NULL;
    unsigned long size = 0;
    jpeg_mem_dest(&cinfo, &data, &size);
    cinfo.image_width = cinfo.image_height = side;
    cinfo.input_components = custom->components;
    cinfo.in_color_space = custom->space;
    jpeg_set_defaults(&cinfo);
    jpeg_set_colorspace(&cinfo, custom->space);
    cinfo.write_Adobe_marker = custom->adobe;
    cinfo.arith_code = custom->arithmetic;
    jpeg_scan_info *script = calloc((size_t)custom->scans + 1, sizeof(*script));
    for (int i = 0; i < custom->scans; i++) {
        /* DC first, then one AC coefficient a scan, round and round in refinements. */
        int band = (i - 1) % 63 + 1, round = (i - 1) / 63;
        script[i] = (jpeg_scan_info){
            1, {0}, i ? band : 0, i ? band : 0, i ? (round ? 9 - round : 0) : 0, i ? 8 - round : 0};
    }
    if (custom->scans) {
        cinfo.scan_info = script;
        cinfo.num_scans = custom->scans;
    }
    jpeg_start_compress(&cinfo, TRUE);
    uint8_t *row = malloc((size_t)side * (unsigned)custom->components);
    memset(row, value, (size_t)side * (unsigned)custom->components);
    while (cinfo.next_scanline < side) {
        jpeg_write_scanlines(&cinfo, &row, 1);
    }
    jpeg_finish_compress(&cinfo);
    jpeg_destroy_compress(&cinfo);
    free(row);
    free(script);
    struct buf file;
    buf_init(&file, 1 << 26);
    assert_int_equal(buf_append(&file, data, size, NULL), ST_OK);
    free(data);
    return file;
}

static void test_planes_stay_as_they_are(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 50}, {50, 1}, {17, 33}, {64, 64}, {33, 95}, {131, 67}};
    static const uint8_t shifts[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {2, 0}, {0, 2}, {2, 1}, {1, 2}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        for (size_t s = 0; s < sizeof(shifts) / sizeof(*shifts); s++) {
            for (int progressive = 0; progressive <= 1; progressive++) {
                struct encode_options options = {.quality = 97, .progressive = progressive};
                struct image image =
                    fixture_painted(planes(shifts[s][0], shifts[s][1], sizes[i][0], sizes[i][1]));
                struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
                struct picture picture = fixture_probe(buf_bytes(&file));
                assert_int_equal(picture.native.model, PIXEL_YCBCR);
                assert_int_equal(picture.native.chroma_shift_x, shifts[s][0]);
                assert_int_equal(picture.native.chroma_shift_y, shifts[s][1]);
                assert_int_equal(picture.pixels.model, PIXEL_RGB);
                assert_int_equal(picture.progressive, progressive);
                struct image back = fixture_decode(buf_bytes(&file), true);
                assert_in_range(fixture_difference(&image, &back), 0, 14);
                struct image rgb = fixture_decode(buf_bytes(&file), false);
                fixture_image_free(&rgb);
                fixture_image_free(&back);
                buf_finish(&file);
                fixture_image_free(&image);
            }
        }
    }
}

static void test_grey_and_rgb(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 50}, {17, 33}, {100, 31}};
    struct encode_options options = {.quality = 97, .subsampling = SUBSAMPLING_444};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        enum pixel_model models[] = {PIXEL_GRAY, PIXEL_RGB};
        for (size_t m = 0; m < 2; m++) {
            struct image image = fixture_painted(fixture_shape(models[m], 8, sizes[i][0], sizes[i][1]));
            struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
            struct image back = fixture_decode(buf_bytes(&file), false);
            assert_in_range(fixture_difference(&image, &back), 0, 14);
            fixture_image_free(&back);
            buf_finish(&file);
            fixture_image_free(&image);
        }
    }
}

static void test_subsampling_of_rgb(void **state) {
    (void)state;
    static const uint8_t shifts[][2] = {[SUBSAMPLING_AUTO] = {1, 1},
                                        [SUBSAMPLING_420] = {1, 1},
                                        [SUBSAMPLING_422] = {1, 0},
                                        [SUBSAMPLING_444] = {0, 0}};
    for (unsigned s = SUBSAMPLING_AUTO; s <= SUBSAMPLING_444; s++) {
        struct encode_options options = {.quality = 85, .subsampling = (enum subsampling)s};
        struct buf file = painted_file(fixture_shape(PIXEL_RGB, 8, 40, 40), &options, NULL);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.native.chroma_shift_x, shifts[s][0]);
        assert_int_equal(picture.native.chroma_shift_y, shifts[s][1]);
        buf_finish(&file);
    }
}

/* One flat colour in, one flat colour out, for every model and depth. */
static void flat_becomes(enum pixel_model model, unsigned depth, const uint16_t *sample, unsigned expected) {
    struct image image = fixture_image(fixture_shape(model, depth, 9, 9));
    unsigned channels = image_pixel_channels(model);
    for (uint32_t y = 0; y < 9; y++) {
        for (uint32_t i = 0; i < 9 * channels; i++) {
            if (depth == 16) {
                memcpy(plane_row(&image.plane[0], y) + 2 * (size_t)i, &sample[i % channels], 2);
            } else {
                plane_row(&image.plane[0], y)[i] = (uint8_t)sample[i % channels];
            }
        }
    }
    struct encode_options options = {.quality = 100};
    struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
    struct image back = fixture_decode(buf_bytes(&file), false);
    unsigned slack =
        channels > 2; /* colours are converted and rounded, grey survives quality 100 to the bit */
    assert_in_range(plane_row(&back.plane[0], 4)[12] + slack, expected, expected + 2 * slack);
    fixture_image_free(&back);
    buf_finish(&file);
    fixture_image_free(&image);
}

static void test_alpha_and_depth(void **state) {
    (void)state;
    flat_becomes(PIXEL_GRAY, 16, (uint16_t[]){32768}, 128);
    flat_becomes(PIXEL_RGB, 16, (uint16_t[]){65535, 65535, 65535}, 255);
    flat_becomes(PIXEL_GRAY_ALPHA, 8, (uint16_t[]){100, 255}, 100);
    flat_becomes(PIXEL_GRAY_ALPHA, 8, (uint16_t[]){100, 0}, 255);
    flat_becomes(PIXEL_GRAY_ALPHA, 16, (uint16_t[]){0, 32768}, 127);
    flat_becomes(PIXEL_GRAY_ALPHA, 16, (uint16_t[]){65149, 65535}, 253);
    flat_becomes(PIXEL_GRAY_ALPHA, 16, (uint16_t[]){65150, 65535}, 254); /* 65150 / 257 is 253.502 */
    flat_becomes(PIXEL_RGBA, 8, (uint16_t[]){0, 0, 0, 64}, 191);
    flat_becomes(PIXEL_RGBA, 16, (uint16_t[]){65535, 65535, 65535, 7}, 255);
}

static void test_truncation_is_corrupt(void **state) {
    (void)state;
    for (int progressive = 0; progressive <= 1; progressive++) {
        struct encode_options options = {.quality = 90, .progressive = progressive};
        struct buf file = painted_file(planes(1, 1, 300, 200), &options, NULL);
        struct codec_limits limits = fixture_limits();
        struct error err;
        for (size_t percent = 0; percent < 100; percent += 5) {
            size_t size = file.size * percent / 100;
            uint8_t *exact = malloc(size ? size : 1);
            memcpy(exact, file.data, size);
            assert_int_equal(fixture_try((struct bytes){exact, size}, &limits, &err), ST_CORRUPT);
            assert_true(err.text[0]);
            free(exact);
        }
        /* Only the end marker is missing: nothing of a single scan is lost. */
        struct bytes no_end = {file.data, file.size - 2};
        assert_int_equal(fixture_try(no_end, &limits, &err), progressive ? ST_CORRUPT : ST_OK);
        buf_finish(&file);
    }
}

static void test_too_little_data_is_refused_by_probe(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    struct buf file = painted_file(fixture_shape(PIXEL_GRAY, 8, 64, 64), &options, NULL);
    uint8_t *frame = memmem(file.data, file.size, "\xFF\xC0", 2);
    assert_non_null(frame);
    frame[5] = frame[7] = 0x13; /* height and width in the thousands */
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "truncated"));
    buf_finish(&file);
}

static void test_scan_limit(void **state) {
    (void)state;
    struct custom custom = {.components = 1, .space = JCS_GRAYSCALE, .scans = 120};
    struct buf file = custom_file(&custom, 77, 64);
    struct codec_limits limits = fixture_limits();
    struct error err;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "100 scans"));
    limits.max_scans = 120;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_OK);
    buf_finish(&file);
}

static void test_memory_limit(void **state) {
    (void)state;
    struct encode_options options = {.quality = 90, .progressive = true};
    struct buf file = painted_file(planes(0, 0, 640, 640), &options, NULL);
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.max_memory = 2000000;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "memory limit is 2000000"));
    struct picture picture;
    limits.max_memory = 80 * 80 * 3 * 64 * sizeof(int16_t); /* the coefficients of three planes */
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_OK);
    limits.max_memory--;
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_LIMIT);
    buf_finish(&file);
}

static void test_cmyk(void **state) {
    (void)state;
    for (unsigned adobe = 0; adobe < 2; adobe++) { /* the marker makes no difference */
        struct custom custom = {.components = 4, .space = JCS_CMYK, .adobe = adobe};
        struct buf file = custom_file(&custom, 128, 16);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.native.model, PIXEL_RGB);
        struct image image = fixture_decode(buf_bytes(&file), true);
        assert_int_equal(image.plane[0].data[0], 64); /* 128 * 128 / 255 */
        fixture_image_free(&image);
        buf_finish(&file);
    }
}

/* Rows of 64 pixels have no padding in which one byte too many could hide. */
static void test_cmyk_stays_in_its_memory(void **state) {
    (void)state;
    const struct custom custom = {.components = 4, .space = JCS_CMYK, .adobe = true};
    struct buf file = custom_file(&custom, 128, 64);
    struct picture picture = fixture_probe(buf_bytes(&file));
    struct codec_limits limits = fixture_limits();
    struct image image;
    size_t size = image_layout(&image, &picture.native);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, size + IMAGE_ALIGNMENT);
    memset(memory, 0xA5, size + IMAGE_ALIGNMENT);
    image_place(&image, memory);
    const struct plane *plane = &image.plane[0];
    assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &image, NULL), ST_OK);
    assert_int_equal(plane_row(plane, 63)[64 * 3 - 1], 64);
    assert_int_equal(plane_row(plane, 63)[64 * 3], 0xA5);
    free(memory);
    buf_finish(&file);
}

static void test_variants_are_named(void **state) {
    (void)state;
    static const struct {
        size_t offset; /* behind the frame marker's 0xFF */
        uint8_t value;
        const char *word;
    } cases[] = {{1, 0xC7, "lossless"},  {1, 0xC5, "hierarchical"}, {4, 12, "12 bits"},
                 {9, 2, "2 components"}, {9, 5, "5 components"},    {1, 0xF7, "JPEG-LS"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct encode_options options = fixture_options();
        struct buf file = painted_file(planes(1, 1, 32, 32), &options, NULL);
        uint8_t *frame = memmem(file.data, file.size, "\xFF\xC0", 2);
        frame[cases[i].offset] = cases[i].value;
        struct codec_limits limits = fixture_limits();
        struct error err;
        assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_UNSUPPORTED);
        assert_non_null(strstr(err.text, cases[i].word));
        buf_finish(&file);
    }
}

static void test_arithmetic_coding(void **state) {
    (void)state;
    struct custom custom = {.components = 1, .space = JCS_GRAYSCALE, .arithmetic = true};
    struct buf file = custom_file(&custom, 77, 64);
    struct image image = fixture_decode(buf_bytes(&file), true);
    assert_int_equal(image.plane[0].data[0], 77);
    fixture_image_free(&image);
    struct codec_limits limits = fixture_limits();
    struct error err;
    assert_int_equal(fixture_try((struct bytes){file.data, file.size - 3}, &limits, &err), ST_CORRUPT);
    buf_finish(&file);
}

/* A JPEG with that many empty comments, and fill bytes, in front of its segments. */
static enum status try_flood(size_t markers) {
    enum { FILL = 300000 };
    struct encode_options options = fixture_options();
    struct buf file = painted_file(planes(1, 1, 40, 30), &options, NULL);
    uint8_t *flood = malloc(markers * 4 + FILL);
    memset(flood, 0xFF, markers * 4 + FILL);
    for (size_t i = 0; i < markers; i++) {
        memcpy(flood + i * 4, "\xFF\xFE\0\2", 4);
    }
    fixture_insert(&file, 2, flood, markers * 4 + FILL);
    free(flood);
    struct codec_limits limits = fixture_limits();
    struct error err;
    enum status status = fixture_try(buf_bytes(&file), &limits, &err);
    buf_finish(&file);
    return status;
}

static void test_marker_flood_is_harmless(void **state) {
    (void)state;
    assert_int_equal(try_flood(JPEG_SEGMENTS_MAX - 100), ST_OK);
    assert_int_equal(try_flood(JPEG_SEGMENTS_MAX + 1), ST_LIMIT);
    assert_int_equal(try_flood(100000), ST_LIMIT);
}

static void test_encode_deadline(void **state) {
    (void)state;
    for (unsigned id = 0; id < CODEC_COUNT; id++) {
        if (!codec_encodes((enum codec_id)id)) {
            continue;
        }
        struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 40, 40));
        struct encode_options options = {.quality = 85, .deadline_ns = 1};
        struct buf output;
        struct error err = {0};
        buf_init(&output, 1 << 20);
        assert_int_equal(codec_encode((enum codec_id)id, &image, &options, NULL, &output, &err), ST_LIMIT);
        assert_non_null(strstr(err.text, "time limit"));
        buf_finish(&output);
        fixture_image_free(&image);
    }
}

static void test_side_limit_of_the_format(void **state) {
    (void)state;
    struct image image = fixture_image(fixture_shape(PIXEL_GRAY, 8, 65501, 1));
    struct encode_options options = fixture_options();
    struct buf output;
    struct error err = {0};
    buf_init(&output, 1 << 20);
    assert_int_equal(codec_encode(CODEC_JPEG, &image, &options, NULL, &output, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "65500"));
    buf_finish(&output);
    fixture_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planes_stay_as_they_are),
        cmocka_unit_test(test_grey_and_rgb),
        cmocka_unit_test(test_subsampling_of_rgb),
        cmocka_unit_test(test_alpha_and_depth),
        cmocka_unit_test(test_truncation_is_corrupt),
        cmocka_unit_test(test_too_little_data_is_refused_by_probe),
        cmocka_unit_test(test_scan_limit),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_cmyk),
        cmocka_unit_test(test_cmyk_stays_in_its_memory),
        cmocka_unit_test(test_variants_are_named),
        cmocka_unit_test(test_arithmetic_coding),
        cmocka_unit_test(test_marker_flood_is_harmless),
        cmocka_unit_test(test_encode_deadline),
        cmocka_unit_test(test_side_limit_of_the_format),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
