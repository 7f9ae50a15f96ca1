/* SPDX-License-Identifier: MIT
 * The files are put together here, chunk by chunk, and not by the library under test. */
#include <time.h>

#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"
#include "tests/unit/codecs/png/png_fixture.h"

/* The sample that these pictures hold at a place; below 2 to the power of depth. */
static uint32_t sample_at(uint32_t x, uint32_t y, unsigned channel, unsigned depth) {
    return (x * 7 + y * 13 + channel * 31 + (depth == 16 ? x * 977 : 0)) & ((1u << depth) - 1);
}

/* Appends one scan line of the pixels x0, x0 + step, ... in row y, with filter 0. */
static size_t put_line(uint8_t *raw, uint32_t x0, uint32_t step, uint32_t width, uint32_t y, unsigned depth,
                       unsigned channels) {
    size_t bits = 0;
    raw[0] = 0;
    for (uint32_t x = x0; x < width; x += step) {
        for (unsigned c = 0; c < channels; c++) {
            uint32_t v = sample_at(x, y, c, depth);
            for (unsigned b = 0; b < depth; b++, bits++) {
                uint8_t *byte = raw + 1 + bits / 8;
                *byte = (uint8_t)(bits % 8 == 0 ? 0 : *byte);
                *byte |= (uint8_t)((v >> (depth - 1 - b) & 1) << (7 - bits % 8));
            }
        }
    }
    return bits ? 1 + (bits + 7) / 8 : 0;
}

static struct buf make_file(uint32_t width, uint32_t height, uint8_t depth, uint8_t color_type,
                            bool interlaced, const char *extra_name, const void *extra, size_t extra_size) {
    static const uint8_t passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                         {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    static const uint8_t whole[1][4] = {{0, 0, 1, 1}};
    struct buf file = put_start(width, height, depth, color_type, interlaced);
    if (color_type == 3) {
        uint8_t palette[256 * 3];
        for (unsigned i = 0; i < sizeof(palette); i++) {
            palette[i] = (uint8_t)(i * 5);
        }
        put_chunk(&file, "PLTE", palette, (size_t)3 << depth);
    }
    if (extra_name) {
        put_chunk(&file, extra_name, extra, extra_size);
    }
    unsigned channels = channels_of(color_type);
    uint8_t *raw = malloc(((size_t)width * channels * 2 + 16) * height * 2 + 64);
    size_t size = 0;
    for (unsigned p = 0; p < (interlaced ? 7u : 1u); p++) {
        const uint8_t *pass = interlaced ? passes[p] : whole[0];
        for (uint32_t y = pass[1]; y < height; y += pass[3]) {
            size += put_line(raw + size, pass[0], pass[2], width, y, depth, channels);
        }
    }
    put_pixels(&file, raw, size);
    free(raw);
    return file;
}

/* The expected value of a decoded sample: scaled to 8 bits, or looked up. */
static uint32_t expected_at(uint8_t color_type, unsigned depth, uint32_t x, uint32_t y, unsigned channel) {
    if (color_type == 3) {
        return sample_at(x, y, 0, depth) * 3 * 5 + channel * 5;
    }
    uint32_t v = sample_at(x, y, channel, depth);
    return depth < 8 ? v * 255 / ((1u << depth) - 1) : v;
}

static void check_file(uint32_t width, uint32_t height, uint8_t depth, uint8_t color_type, bool interlaced) {
    struct buf file = make_file(width, height, depth, color_type, interlaced, NULL, NULL, 0);
    struct picture picture = fixture_probe(buf_bytes(&file));
    assert_int_equal(picture.progressive, interlaced);
    struct image image = fixture_decode(buf_bytes(&file), true);
    assert_int_equal(image.depth, depth == 16 ? 16 : 8);
    unsigned channels = image.plane[0].channels;
    assert_int_equal(channels, color_type == 3 ? 3 : channels_of(color_type));
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t i = 0; i < width * channels; i++) {
            uint32_t expected = expected_at(color_type, depth, i / channels, y, i % channels);
            const uint8_t *row = plane_row(&image.plane[0], y);
            uint16_t got = row[i];
            if (depth == 16) {
                memcpy(&got, row + 2 * (size_t)i, 2);
            } else {
                expected &= 255;
            }
            assert_int_equal(got, expected);
        }
    }
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_every_kind_decodes(void **state) {
    (void)state;
    static const uint8_t kinds[][2] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1},
                                       {3, 2}, {3, 4}, {3, 8}, {4, 8}, {4, 16}, {6, 8}, {6, 16}};
    static const uint32_t sizes[][2] = {{1, 1}, {1, 9}, {9, 1}, {17, 33}, {64, 8}};
    for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            check_file(sizes[s][0], sizes[s][1], kinds[k][1], kinds[k][0], false);
            check_file(sizes[s][0], sizes[s][1], kinds[k][1], kinds[k][0], true);
        }
    }
}

static void test_transparency_becomes_alpha(void **state) {
    (void)state;
    static const uint8_t one_grey[2] = {0, 3}, alphas[2] = {10, 20};
    struct buf file = make_file(8, 8, 4, 0, false, "tRNS", one_grey, sizeof(one_grey));
    struct image image = fixture_decode(buf_bytes(&file), true);
    assert_int_equal(image.model, PIXEL_GRAY_ALPHA);
    for (uint32_t x = 0; x < 8; x++) {
        assert_int_equal(plane_row(&image.plane[0], 5)[2 * x + 1], sample_at(x, 5, 0, 4) == 3 ? 0 : 255);
    }
    fixture_image_free(&image);
    buf_finish(&file);
    file = make_file(8, 8, 2, 3, true, "tRNS", alphas, sizeof(alphas));
    image = fixture_decode(buf_bytes(&file), true);
    assert_int_equal(image.model, PIXEL_RGBA);
    for (uint32_t x = 0; x < 8; x++) {
        uint32_t index = sample_at(x, 6, 0, 2);
        assert_int_equal(plane_row(&image.plane[0], 6)[4 * x + 3], index < 2 ? alphas[index] : 255);
    }
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_round_trips_are_exact(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = {{1, 1}, {1, 40}, {17, 33}, {129, 5}};
    for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        for (unsigned depth = 8; depth <= 16; depth += 8) {
            for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
                for (uint8_t effort = 0; effort <= 9; effort++) {
                    struct encode_options options = {.effort = effort};
                    struct image image = fixture_painted(
                        fixture_shape((enum pixel_model)model, depth, sizes[s][0], sizes[s][1]));
                    struct buf file = fixture_encode(CODEC_PNG, &image, &options, NULL);
                    struct image back = fixture_decode(buf_bytes(&file), true);
                    assert_int_equal(fixture_difference(&image, &back), 0);
                    fixture_image_free(&back);
                    buf_finish(&file);
                    fixture_image_free(&image);
                }
            }
        }
    }
}

static void test_truncation_is_corrupt(void **state) {
    (void)state;
    for (int interlaced = 0; interlaced <= 1; interlaced++) {
        struct buf file = make_file(120, 90, 8, 2, interlaced, NULL, NULL, 0);
        struct codec_limits limits = fixture_limits();
        struct error err;
        for (size_t percent = 0; percent < 100; percent += 5) {
            size_t size = file.size * percent / 100;
            uint8_t *exact = malloc(size ? size : 1);
            memcpy(exact, file.data, size);
            assert_int_equal(fixture_try((struct bytes){exact, size}, &limits, &err), ST_CORRUPT);
            free(exact);
        }
        /* Without the end chunk all pixels are there. */
        assert_int_equal(fixture_try((struct bytes){file.data, file.size - 12}, &limits, &err), ST_OK);
        buf_finish(&file);
    }
}

static void test_damage_is_named(void **state) {
    (void)state;
    struct codec_limits limits = fixture_limits();
    struct error err;
    struct buf file = make_file(30, 30, 8, 2, false, NULL, NULL, 0);
    file.data[file.size - 12 - 6] ^= 1; /* in the last IDAT bytes: the checksum tells */
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_CORRUPT);
    buf_finish(&file);
    file = put_start(30, 30, 8, 5, false);
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "colour type 5"));
    buf_finish(&file);
    file = put_start(30, 30, 8, 2, false);
    put_chunk(&file, "IEND", NULL, 0);
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "IDAT"));
    buf_finish(&file);
    file = put_start(7000, 7000, 8, 6, false);
    put_pixels(&file, (const uint8_t[200]){0}, 200);
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_CORRUPT);
    assert_non_null(strstr(err.text, "truncated"));
    file.data[12] = 'C', file.data[13] = 'g', file.data[14] = 'B', file.data[15] = 'I';
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "CgBI"));
    buf_finish(&file);
}

static void test_memory_limit(void **state) {
    (void)state;
    struct buf file = make_file(30000, 2, 16, 6, true, NULL, NULL, 0);
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.max_memory = 100000;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "memory limit"));
    buf_finish(&file);
}

static void test_text_bombs_cost_nothing(void **state) {
    (void)state;
    enum { EXPANDED = 64 << 20, COPIES = 100 };
    uint8_t *zeros = calloc(1, EXPANDED);
    uLongf size = compressBound(EXPANDED);
    uint8_t *bomb = malloc(size + 9);
    memcpy(bomb, "Comment\0", 9); /* name, zero, method 0 */
    assert_int_equal(compress(bomb + 9, &size, zeros, EXPANDED), Z_OK);
    struct buf file = make_file(1, 1, 8, 0, false, NULL, NULL, 0);
    static const char *const names[] = {"zTXt", "iCCP", "iTXt"};
    for (unsigned i = 0; i < COPIES; i++) {
        insert_chunk(&file, names[i % 3], bomb, size + 9);
    }
    clock_t start = clock();
    struct codec_limits limits = fixture_limits();
    struct error err;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_OK);
    struct picture picture = fixture_probe(buf_bytes(&file));
    struct image image = fixture_decode(buf_bytes(&file), true);
    struct encode_options options = {.effort = 1};
    struct buf output = fixture_encode(CODEC_PNG, &image, &options, &picture.metadata);
    assert_true(clock() - start < CLOCKS_PER_SEC / 2);
    assert_true(output.size < 200);
    buf_finish(&output);
    fixture_image_free(&image);
    buf_finish(&file);
    free(bomb);
    free(zeros);
}

static void test_pixels_without_end_cost_nothing(void **state) {
    (void)state;
    enum { EXPANDED = 256 << 20 };
    uint8_t *zeros = calloc(1, EXPANDED);
    struct buf file = put_start(1, 1, 8, 0, false);
    put_pixels(&file, zeros, EXPANDED);
    free(zeros);
    struct codec_limits limits = fixture_limits();
    struct error err;
    clock_t start = clock();
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_CORRUPT);
    assert_true(clock() - start < CLOCKS_PER_SEC / 2);
    assert_non_null(strstr(err.text, "more pixel data"));
    buf_finish(&file);
}

static struct buf tagged_file(void) {
    struct buf file = make_file(12, 12, 8, 2, false, NULL, NULL, 0);
    struct exif_fixture exif = exif_make(false, 6);
    insert_chunk(&file, "eXIf", exif.data, EXIF_FIXTURE_SIZE);
    insert_chunk(&file, "tEXt", "Comment\0HELLO", 13);
    insert_chunk(&file, "tEXt", "Raw profile type exif\0HEXDUMP", 29);
    insert_chunk(&file, "iTXt", "XML:com.adobe.xmp\0\0\0\0\0PACKET", 28);
    insert_chunk(&file, "tIME", "\x07\xE8\1\1\1\1\1", 7);
    insert_chunk(&file, "pHYs", "\0\0\1\0\0\0\1\0\1", 9);
    insert_chunk(&file, "gAMA", "\0\0\xB1\x8F", 4);
    insert_chunk(&file, "cICP", "\x0C\x0D\0\1HIDDEN", 10); /* too long */
    insert_chunk(&file, "prVt", "PRIVATE", 7);
    return file;
}

static struct buf reencoded(struct bytes input, enum codec_id id, bool keep) {
    struct picture picture = fixture_probe(input);
    struct image image = fixture_decode(input, false);
    struct encode_options options = {.quality = 85, .effort = 1, .keep_metadata = keep, .upright = true};
    struct buf output = fixture_encode(id, &image, &options, &picture.metadata);
    fixture_image_free(&image);
    return output;
}

/* An iCCP chunk with a profile of `there` bytes that says it has `stated`. */
static struct buf file_with_profile(uint32_t stated, size_t there) {
    struct buf file = make_file(12, 12, 8, 2, false, NULL, NULL, 0);
    uint8_t *profile = calloc(1, there);
    icc_make(profile, there, "RGB ");
    bytes_put_be32(profile, stated);
    uLongf size = compressBound(there);
    uint8_t *chunk = calloc(1, 5 + size);
    memcpy(chunk, "ICC", 3);
    assert_int_equal(compress(chunk + 5, &size, profile, there), Z_OK);
    insert_chunk(&file, "iCCP", chunk, 5 + size);
    free(chunk);
    free(profile);
    return file;
}

static void test_stated_length_of_a_profile(void **state) {
    (void)state;
    enum { MOST = METADATA_ICC_MAX };
    static const struct {
        uint32_t stated;
        size_t there;
        bool written;
    } cases[] = {{400, 400, true},  {60000, 400, false}, {401, 400, false},  {399, 400, false},
                 {127, 400, false}, {0, 400, false},     {MOST, MOST, true}, {MOST + 1, MOST + 1, false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf file = file_with_profile(cases[i].stated, cases[i].there);
        struct buf jpeg = reencoded(buf_bytes(&file), CODEC_JPEG, true);
        assert_int_equal(fixture_contains(buf_bytes(&jpeg), "acsp"), cases[i].written);
        struct buf png = reencoded(buf_bytes(&file), CODEC_PNG, false);
        assert_int_equal(fixture_contains(buf_bytes(&png), "iCCP"), cases[i].written);
        buf_finish(&png);
        buf_finish(&jpeg);
        buf_finish(&file);
    }
}

static void test_the_first_exif_counts(void **state) {
    (void)state;
    struct buf file = make_file(12, 12, 8, 2, false, NULL, NULL, 0);
    for (uint32_t orientation = 3; orientation <= 6; orientation += 3) { /* each goes to the front */
        struct exif_fixture exif = exif_make(false, orientation);
        insert_chunk(&file, "eXIf", exif.data, EXIF_FIXTURE_SIZE);
    }
    assert_int_equal(fixture_probe(buf_bytes(&file)).metadata.orientation, 6);
    buf_finish(&file);
}

static void check_words(const struct buf *file, const char *const *words, size_t count, bool expected) {
    for (size_t i = 0; i < count; i++) {
        if (fixture_contains(buf_bytes(file), words[i]) != expected) {
            fail_msg("%s is %sthere", words[i], expected ? "not " : "");
        }
    }
}

static void test_metadata(void **state) {
    (void)state;
    struct buf file = tagged_file();
    assert_int_equal(fixture_probe(buf_bytes(&file)).metadata.orientation, 6);
    static const char *const never[] = {"HIDDEN", "PRIVATE", "THUMBNAIL", "HEXDUMP", "PACKET", "cICP"};
    static const char *const personal[] = {"HELLO", "LATITUDE", "tIME", "pHYs", "eXIf"};
    static const char *const colour[] = {"gAMA"};
    struct buf stripped = reencoded(buf_bytes(&file), CODEC_PNG, false);
    check_words(&stripped, never, 6, false);
    check_words(&stripped, personal, 5, false);
    check_words(&stripped, colour, 1, true);
    struct buf kept = reencoded(buf_bytes(&file), CODEC_PNG, true);
    check_words(&kept, never, 6, false);
    check_words(&kept, personal, 5, true);
    check_words(&kept, colour, 1, true);
    assert_int_equal(fixture_probe(buf_bytes(&kept)).metadata.orientation, 1);
    struct buf jpeg = reencoded(buf_bytes(&file), CODEC_JPEG, true);
    check_words(&jpeg, never, 6, false);
    assert_true(fixture_contains(buf_bytes(&jpeg), "LATITUDE"));
    buf_finish(&jpeg);
    buf_finish(&kept);
    buf_finish(&stripped);
    buf_finish(&file);
}

static void test_bad_checksum_is_not_carried(void **state) {
    (void)state;
    struct buf file = tagged_file();
    uint8_t *text = memmem(file.data, file.size, "HELLO", 5);
    text[0] = 'J';
    struct buf kept = reencoded(buf_bytes(&file), CODEC_PNG, true);
    assert_false(fixture_contains(buf_bytes(&kept), "JELLO"));
    buf_finish(&kept);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_decodes),
        cmocka_unit_test(test_transparency_becomes_alpha),
        cmocka_unit_test(test_round_trips_are_exact),
        cmocka_unit_test(test_truncation_is_corrupt),
        cmocka_unit_test(test_damage_is_named),
        cmocka_unit_test(test_memory_limit),
        cmocka_unit_test(test_text_bombs_cost_nothing),
        cmocka_unit_test(test_pixels_without_end_cost_nothing),
        cmocka_unit_test(test_stated_length_of_a_profile),
        cmocka_unit_test(test_the_first_exif_counts),
        cmocka_unit_test(test_metadata),
        cmocka_unit_test(test_bad_checksum_is_not_carried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
