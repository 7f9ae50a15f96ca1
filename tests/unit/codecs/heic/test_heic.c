/* SPDX-License-Identifier: MIT */
#include "tests/unit/codecs/heic/heic_fixture.h"

/* Each decoded sample may differ from the painted one by the coarse quantisation of the files. */
enum { COARSE = 14 };

static unsigned sample_at(const struct image *image, uint32_t x, uint32_t y, unsigned channel) {
    const struct plane *plane = &image->plane[0];
    size_t at = (size_t)x * plane->channels + channel;
    uint16_t value = plane_row(plane, y)[at];
    if (image->depth == 16) {
        memcpy(&value, plane_row(plane, y) + 2 * at, sizeof(value));
        value /= 257;
    }
    return value;
}

static void check_near(unsigned value, unsigned expected) {
    assert_in_range(value + COARSE, expected, expected + 2 * COARSE);
}

static void check_colour(const struct image *image, uint32_t x, uint32_t y, unsigned quadrant) {
    for (unsigned c = 0; c < 3; c++) {
        check_near(sample_at(image, x, y, c), heic_colours[quadrant][c]);
    }
}

static struct image decode_items(const struct heic_item_spec *items,
                                 const struct heic_reference_spec *references) {
    struct buf file = heic_file("heic", items, references);
    assert_ptr_equal(codec_sniff(buf_bytes(&file)), codec_get(CODEC_HEIC));
    struct image image = fixture_decode(buf_bytes(&file), false);
    buf_finish(&file);
    return image;
}

static void check_shape(const struct image *image, enum pixel_model model, unsigned depth, uint32_t width,
                        uint32_t height) {
    assert_int_equal(image->model, model);
    assert_int_equal(image->depth, depth);
    assert_int_equal(image->width, width);
    assert_int_equal(image->height, height);
}

static void test_colours(void **state) {
    (void)state;
    static const struct heic_item_spec narrow[] = {HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_item_spec deep[] = {HEIC_DEEP("ds"), HEIC_END};
    for (int wide = 0; wide <= 1; wide++) {
        struct image image = decode_items(wide ? deep : narrow, NULL);
        check_shape(&image, PIXEL_RGB, wide ? 16 : 8, 64, 64);
        for (unsigned q = 0; q < 4; q++) {
            check_colour(&image, 16 + q % 2 * 32, 16 + q / 2 * 32, q);
        }
        fixture_image_free(&image);
    }
}

static void test_gray(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {HEIC_MONO("ms"), HEIC_END};
    struct image image = decode_items(items, NULL);
    check_shape(&image, PIXEL_GRAY, 8, 64, 64);
    check_near(sample_at(&image, 10, 50, 0), 60);
    check_near(sample_at(&image, 50, 10, 0), 220);
    fixture_image_free(&image);
}

static const struct heic_item_spec with_alpha[] = {HEIC_COLOUR("cs"), HEIC_MONO("msa"), HEIC_END};

static void test_alpha(void **state) {
    (void)state;
    static const struct heic_reference_spec straight[] = {{"auxl", 2, 1, {1}}, {0}};
    static const struct heic_reference_spec multiplied[] = {{"auxl", 2, 1, {1}}, {"prem", 1, 1, {2}}, {0}};
    struct image image = decode_items(with_alpha, straight);
    check_shape(&image, PIXEL_RGBA, 8, 64, 64);
    check_colour(&image, 10, 10, 0);
    check_near(sample_at(&image, 10, 10, 3), 60);
    check_near(sample_at(&image, 50, 10, 3), 220);
    struct image divided = decode_items(with_alpha, multiplied);
    check_shape(&divided, PIXEL_RGBA, 8, 64, 64);
    for (unsigned c = 0; c < 3; c++) {
        unsigned value = sample_at(&image, 50, 10, c), alpha = sample_at(&image, 50, 10, 3);
        unsigned expected = (value * 255 + alpha / 2) / alpha;
        assert_int_equal(sample_at(&divided, 50, 10, c), expected > 255 ? 255 : expected);
    }
    assert_int_equal(sample_at(&divided, 10, 10, 0), 255);
    fixture_image_free(&divided);
    fixture_image_free(&image);
}

/* Two tiles make 100 x 60 pixels. */
#define GRID                                                                                                 \
    { "grid", HEIC_TEXT("\0\0\0\1\0\x64\0\x3C"), "g", NULL }

static void test_tiles(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {GRID, HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_reference_spec references[] = {{"dimg", 1, 2, {2, 3}}, {0}};
    struct image image = decode_items(items, references);
    check_shape(&image, PIXEL_RGB, 8, 100, 60);
    check_colour(&image, 48, 50, 3);
    check_colour(&image, 64 + 16, 50, 2);
    check_colour(&image, 99, 10, 1);
    fixture_image_free(&image);
}

static void test_turned_once(void **state) {
    (void)state;
    static const struct {
        const char *properties;
        uint32_t width, height;
        unsigned quadrant[4]; /* as decoded */
    } cases[] = {
        {"csr", 64, 64, {1, 3, 0, 2}},  {"csi", 64, 64, {1, 0, 3, 2}},  {"csp", 40, 30, {0, 1, 2, 3}},
        {"cspr", 30, 40, {1, 3, 0, 2}}, {"csri", 64, 64, {3, 1, 2, 0}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct heic_item_spec items[] = {HEIC_COLOUR(cases[i].properties), HEIC_END};
        struct image image = decode_items(items, NULL);
        check_shape(&image, PIXEL_RGB, 8, cases[i].width, cases[i].height);
        for (unsigned q = 0; q < 4; q++) {
            check_colour(&image, cases[i].width * (1 + q % 2 * 2) / 4, cases[i].height * (1 + q / 2 * 2) / 4,
                         cases[i].quadrant[q]);
        }
        fixture_image_free(&image);
    }
}

static void check_refused(const char *brand, const struct heic_item_spec *items,
                          const struct heic_reference_spec *references, enum status expected,
                          const char *words) {
    struct buf file = heic_file(brand, items, references);
    struct codec_limits limits = fixture_limits();
    struct error err;
    enum status status = fixture_try(buf_bytes(&file), &limits, &err);
    if (status != expected || !strstr(err.text, words)) {
        fail_msg("%s \"%s\" instead of %s \"%s\"", status_name(status), err.text, status_name(expected),
                 words);
    }
    buf_finish(&file);
}

static void test_other_codecs_are_named(void **state) {
    (void)state;
    static const char *const types[][2] = {{"av01", "AV1"},
                                           {"j2k1", "JPEG 2000"},
                                           {"jpeg", "is JPEG"},
                                           {"unci", "uncompressed"},
                                           {"what", "unknown"}};
    for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const struct heic_item_spec items[] = {{types[i][0], HEIC_TEXT("data"), "s", NULL}, HEIC_END};
        check_refused("mif1", items, NULL, ST_UNSUPPORTED, types[i][1]);
    }
}

static void test_very_many_items(void **state) {
    (void)state;
    static const struct heic_item_spec one = HEIC_COLOUR("cs");
    static struct heic_item_spec items[5002]; /* the last one is HEIC_END */
    for (size_t i = 0; i + 1 < sizeof(items) / sizeof(*items); i++) {
        items[i] = one;
    }
    check_refused("heic", items, NULL, ST_LIMIT, "5001 items");
}

static void test_sequences(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_END};
    static const char *const brands[] = {"hevc", "hevx", "hevm", "hevs", "msf1"};
    for (size_t i = 0; i < sizeof(brands) / sizeof(*brands); i++) {
        check_refused(brands[i], items, NULL, ST_UNSUPPORTED, "page=0");
    }
    struct buf file = heic_file("msf1", items, NULL);
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.first_frame = true;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_OK);
    memcpy(file.data + 24 + 4, "free", 4); /* no pictures */
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "sequence"));
    buf_finish(&file);
}

static void test_pictures_that_refer_to_themselves(void **state) {
    (void)state;
    static const struct heic_item_spec one[] = {{"iden", HEIC_TEXT("x"), "s", NULL}, HEIC_END};
    static const struct heic_reference_spec itself[] = {{"dimg", 1, 1, {1}}, {0}};
    check_refused("heic", one, itself, ST_LIMIT, "deep");
    static const struct heic_item_spec two[] = {
        {"iden", HEIC_TEXT("x"), "s", NULL}, {"iden", HEIC_TEXT("x"), "s", NULL}, HEIC_END};
    static const struct heic_reference_spec each_other[] = {{"dimg", 1, 1, {2}}, {"dimg", 2, 1, {1}}, {0}};
    check_refused("heic", two, each_other, ST_LIMIT, "deep");
    static const struct heic_item_spec alphas[] = {HEIC_COLOUR("csa"), HEIC_MONO("msa"), HEIC_END};
    static const struct heic_reference_spec circle[] = {{"auxl", 2, 1, {1}}, {"auxl", 1, 1, {2}}, {0}};
    check_refused("heic", alphas, circle, ST_CORRUPT, "alpha");
}

static void test_tiles_must_cover_the_picture(void **state) {
    (void)state;
    static const struct heic_reference_spec two[] = {{"dimg", 1, 2, {2, 3}}, {0}};
    static const struct heic_reference_spec one[] = {{"dimg", 1, 1, {2}}, {0}};
    static const struct heic_item_spec wide[] = {{"grid", HEIC_TEXT("\0\0\0\1\0\x64\0\x48"), "g", NULL},
                                                 HEIC_COLOUR("cs"),
                                                 HEIC_COLOUR("cs"),
                                                 HEIC_END};
    static const struct heic_item_spec unlike[] = {GRID, HEIC_COLOUR("cs"), HEIC_COLOUR("cl"), HEIC_END};
    static const struct heic_item_spec right[] = {GRID, HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_END};
    check_refused("heic", wide, two, ST_CORRUPT, "tiles");
    check_refused("heic", unlike, two, ST_CORRUPT, "tiles");
    check_refused("heic", right, one, ST_CORRUPT, "1 of 2 x 1 tiles");
    check_refused("heic", right, NULL, ST_CORRUPT, "missing");
}

static void test_data_of_another_size(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {HEIC_COLOUR("cl"), HEIC_END};
    check_refused("heic", items, NULL, ST_CORRUPT, "damaged"); /* by us, or by libheif from version 1.19 on */
}

static void test_limits_come_first(void **state) {
    (void)state;
    static const struct heic_item_spec huge[] = {HEIC_COLOUR("ch"), HEIC_END};
    check_refused("heic", huge, NULL, ST_LIMIT, "32000 x 32000");
    static const struct heic_item_spec items[] = {HEIC_COLOUR("cs"), HEIC_END};
    struct buf file = heic_file("heic", items, NULL);
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.max_side = 63;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "63 pixels a side"));
    limits.max_side = 64;
    limits.max_pixels = 4095;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "4095"));
    limits.max_pixels = 4096;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_OK);
    limits.deadline_ns = 1;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "time limit"));
    buf_finish(&file);
}

static void test_truncated_at_every_length(void **state) {
    (void)state;
    static const struct heic_item_spec items[] = {GRID, HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_reference_spec references[] = {{"dimg", 1, 2, {2, 3}}, {0}};
    struct buf file = heic_file("heic", items, references);
    struct codec_limits limits = fixture_limits();
    struct error err;
    for (size_t size = 0; size < file.size; size++) {
        enum status status = fixture_try((struct bytes){file.data, size}, &limits, &err);
        assert_true(status == ST_CORRUPT || (size < 24 && status == ST_UNSUPPORTED));
        assert_true(err.text[0] != 0);
    }
    buf_finish(&file);
}

/* Leaves `fill` in memory that the next picture is made in: seven blocks of each small size, which malloc
 * keeps for the thread, and larger ones. */
static void dirty_heap(int fill) {
    enum { SIZES = 64, STEP = 16, EACH = 8, LARGE = 1024 };
    void *blocks[SIZES * EACH];
    for (size_t i = 0; i < SIZES * EACH; i++) {
        const size_t size = i % EACH == EACH - 1 ? LARGE * (i / EACH + 1) : STEP * (i / EACH) + 24;
        blocks[i] = malloc(size);
        assert_non_null(blocks[i]);
        memset(blocks[i], fill, size);
    }
    for (size_t i = 0; i < SIZES * EACH; i++) {
        free(blocks[i]);
    }
}

/* The decoder may conceal damage, but never with what another picture left behind. */
static enum status decode_dirty(struct bytes file, const struct codec_limits *limits, struct error *err) {
    struct picture picture;
    *err = (struct error){0};
    enum status status = codec_probe(file, limits, &picture, err);
    if (status != ST_OK) {
        return status;
    }
    struct image first = fixture_image(picture.pixels), second = fixture_image(picture.pixels);
    dirty_heap(0x11);
    status = codec_decode(file, &picture, limits, &first, err);
    if (status == ST_OK) {
        dirty_heap(0xEE);
        assert_int_equal(codec_decode(file, &picture, limits, &second, err), ST_OK);
        assert_int_equal(fixture_difference(&first, &second), 0);
    }
    codec_picture_finish(&picture);
    fixture_image_free(&first);
    fixture_image_free(&second);
    return status;
}

static void test_damaged_bytes(void **state) {
    (void)state;
    static const struct heic_reference_spec references[] = {{"auxl", 2, 1, {1}}, {0}};
    struct buf file = heic_file("heic", with_alpha, references);
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.max_pixels = 1 << 16;
    for (size_t at = 0; at < file.size; at++) {
        uint8_t kept = file.data[at];
        static const uint8_t changes[] = {0xFF, 0x01, 0x80};
        for (size_t i = 0; i < sizeof(changes); i++) {
            file.data[at] = kept ^ changes[i];
            enum status status = decode_dirty(buf_bytes(&file), &limits, &err);
            assert_true(status == ST_OK || status == ST_CORRUPT || status == ST_UNSUPPORTED ||
                        status == ST_LIMIT || status == ST_BUSY);
            assert_true(status == ST_OK || err.text[0] != 0);
        }
        file.data[at] = kept;
    }
    buf_finish(&file);
}

/* The unit states its new length, so that only the decoder can tell. */
static void test_short_units(void **state) {
    (void)state;
    for (size_t size = 8; size < sizeof(heic_colour_data); size++) {
        uint8_t data[sizeof(heic_colour_data)];
        memcpy(data, heic_colour_data, size);
        bytes_put_be32(data, (uint32_t)size - 4);
        const struct heic_item_spec items[] = {{"hvc1", {data, size}, "cs", NULL}, HEIC_END};
        struct buf file = heic_file("heic", items, NULL);
        struct codec_limits limits = fixture_limits();
        struct error err;
        enum status status = decode_dirty(buf_bytes(&file), &limits, &err);
        assert_true(status == ST_OK || status == ST_CORRUPT);
        buf_finish(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_gray),
        cmocka_unit_test(test_alpha),
        cmocka_unit_test(test_tiles),
        cmocka_unit_test(test_turned_once),
        cmocka_unit_test(test_other_codecs_are_named),
        cmocka_unit_test(test_very_many_items),
        cmocka_unit_test(test_sequences),
        cmocka_unit_test(test_pictures_that_refer_to_themselves),
        cmocka_unit_test(test_tiles_must_cover_the_picture),
        cmocka_unit_test(test_data_of_another_size),
        cmocka_unit_test(test_limits_come_first),
        cmocka_unit_test(test_truncated_at_every_length),
        cmocka_unit_test(test_damaged_bytes),
        cmocka_unit_test(test_short_units),
    };
    enum { SKIPPED = 77 };
    return codec_decodes(CODEC_HEIC) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
