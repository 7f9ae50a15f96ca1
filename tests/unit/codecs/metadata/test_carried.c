/* SPDX-License-Identifier: MIT
 * Metadata that is converted between the formats: resolution, IPTC, texts. */
#include "codecs/metadata/carried.h"
#include "codecs/metadata/density.h"
#include "codecs/metadata/iptc.h"
#include "codecs/metadata/losses.h"
#include "codecs/metadata/plain_text.h"
#include "codecs/metadata/texts.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/picture_fixture.h"

#include <stdio.h>

#include <libdeflate.h>

/* ---- resolution ---- */

static void test_resolutions(void **state) {
    (void)state;
    static const struct {
        struct density from;
        uint8_t unit;
        uint16_t x, y; /* 0: does not fit */
        uint32_t metre_x, metre_y;
    } cases[] = {
        {{72, 72, 1, DENSITY_INCH}, 1, 72, 72, 2835, 2835},
        {{300, 150, 1, DENSITY_INCH}, 1, 300, 150, 11811, 5906},
        {{2835, 2835, 100, DENSITY_CM}, 1, 72, 72, 2835, 2835},
        {{11811, 11811, 100, DENSITY_CM}, 1, 300, 300, 11811, 11811},
        {{11800, 11800, 100, DENSITY_CM}, 2, 118, 118, 11800, 11800},
        {{118, 59, 1, DENSITY_CM}, 2, 118, 59, 11800, 5900},
        {{145, 145, 2, DENSITY_INCH}, 1, 73, 73, 2854, 2854},
        {{3, 4, 1, DENSITY_ASPECT}, 0, 3, 4, 3, 4},
        {{65535, 1, 1, DENSITY_INCH}, 1, 65535, 1, 2580118, 39},
        {{65536, 1, 1, DENSITY_INCH}, 1, 0, 0, 2580157, 39},
        {{1, 1, 1000, DENSITY_INCH}, 1, 0, 0, 0, 0},
        {{1, 1, 100, DENSITY_CM}, 1, 0, 0, 1, 1},
        {{UINT32_MAX, UINT32_MAX, 1, DENSITY_INCH}, 1, 0, 0, 0, 0},
        {{0, 0, 0, DENSITY_NONE}, 0, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint8_t jfif[5], phys[9];
        assert_int_equal(density_to_jfif(cases[i].from, jfif), cases[i].x > 0);
        if (cases[i].x > 0) {
            assert_int_equal(jfif[0], cases[i].unit);
            assert_int_equal(bytes_be16(jfif + 1), cases[i].x);
            assert_int_equal(bytes_be16(jfif + 3), cases[i].y);
        }
        assert_int_equal(density_to_phys(cases[i].from, phys), cases[i].metre_x > 0);
        if (cases[i].metre_x > 0) {
            assert_int_equal(bytes_be32(phys), cases[i].metre_x);
            assert_int_equal(bytes_be32(phys + 4), cases[i].metre_y);
            assert_int_equal(phys[8], cases[i].from.unit != DENSITY_ASPECT);
        }
    }
}

static void test_resolutions_that_are_none(void **state) {
    (void)state;
    static const uint8_t jfif[][5] = {{0, 0, 1, 0, 1}, {1, 0, 0, 0, 72}, {1, 0, 72, 0, 0}, {3, 0, 72, 0, 72}};
    for (size_t i = 0; i < sizeof(jfif) / sizeof(*jfif); i++) {
        assert_int_equal(density_from_jfif(jfif[i]).unit, DENSITY_NONE);
    }
    static const uint8_t phys[][9] = {
        {0, 0, 0, 7, 0, 0, 0, 7, 0}, {0, 0, 0, 0, 0, 0, 0, 7, 1}, {0, 0, 0, 7, 0, 0, 0, 7, 2}};
    for (size_t i = 0; i < sizeof(phys) / sizeof(*phys); i++) {
        assert_int_equal(density_from_phys(phys[i]).unit, DENSITY_NONE);
    }
}

/* Any dots per inch that a JFIF header can hold come back from a PNG's dots per metre. */
static void test_inches_survive_metres(void **state) {
    (void)state;
    for (uint32_t inch = 1; inch <= UINT16_MAX; inch++) {
        struct density density = {inch, UINT16_MAX + 1 - inch, 1, DENSITY_INCH};
        uint8_t phys[9], jfif[5];
        assert_true(density_to_phys(density, phys));
        assert_true(density_to_jfif(density_from_phys(phys), jfif));
        if (jfif[0] == 1) { /* else the metres are whole centimetres, too, and are given as such */
            assert_int_equal(bytes_be16(jfif + 1), inch);
            assert_int_equal(bytes_be16(jfif + 3), UINT16_MAX + 1 - inch);
        }
    }
}

static struct carried carried(const struct metadata *metadata, const struct codec *target, bool upright) {
    struct carried made = {0};
    struct image_shape shape = fixture_shape(PIXEL_RGB, 8, 40, 30);
    struct encode_options options = {.keep_metadata = true, .upright = upright};
    assert_int_equal(carried_make(metadata, target, &shape, &options, &made, NULL), ST_OK);
    return made;
}

static void test_which_resolution_counts(void **state) {
    (void)state;
    struct exif_fixture exif = {.little = false};
    memcpy(exif.data, "MM\0*\0\0\0\x08\0\3", 10);
    exif_entry(&exif, 10, 0x011A, 5, 1, 100);
    exif_entry(&exif, 22, 0x011B, 5, 1, 108);
    exif_entry(&exif, 34, 0x0128, 3, 1, 3);
    exif_put(&exif, 100, 200, 4), exif_put(&exif, 104, 2, 4);
    exif_put(&exif, 108, 50, 4), exif_put(&exif, 112, 1, 4);
    struct metadata metadata = {.orientation = 1};
    metadata.exif = exif_bytes(&exif);
    struct carried made = carried(&metadata, codec_get(CODEC_PNG), false);
    const struct density hundredths = {10000, 5000, 100, DENSITY_CM};
    assert_memory_equal(&made.density, &hundredths, sizeof(hundredths));
    metadata.density = (struct density){72, 36, 1, DENSITY_INCH};
    made = carried(&metadata, codec_get(CODEC_PNG), false);
    assert_memory_equal(&made.density, &metadata.density, sizeof(made.density));
    metadata.orientation = 6;
    made = carried(&metadata, codec_get(CODEC_PNG), true);
    assert_int_equal(made.density.x, 36);
    assert_int_equal(made.density.y, 72);
    metadata.density = (struct density){70000, 36, 1, DENSITY_INCH};
    made = carried(&metadata, codec_get(CODEC_JPEG), false);
    assert_int_equal(made.density.unit, DENSITY_NONE);
    assert_int_equal(made.losses, LOSS_RESOLUTION);
}

/* ---- IPTC ---- */

static size_t put_dataset(uint8_t *at, uint8_t record, uint8_t number, const char *value) {
    size_t size = strlen(value);
    const uint8_t head[] = {0x1C, record, number, (uint8_t)(size >> 8), (uint8_t)size};
    memcpy(at, head, sizeof(head));
    memcpy(at + sizeof(head), value, size);
    return sizeof(head) + size;
}

static size_t put_resource(uint8_t *at, uint16_t number, const uint8_t *data, size_t size) {
    const uint8_t head[12] = {'8', 'B', 'I', 'M', (uint8_t)(number >> 8), (uint8_t)number};
    memcpy(at, head, sizeof(head));
    bytes_put_be32(at + 8, (uint32_t)size);
    memcpy(at + 12, data, size);
    return 12 + bytes_align_up(size, 2);
}

static unsigned losses;

static struct buf iptc(const uint8_t *data, size_t size) {
    struct buf output;
    uint8_t *copy = malloc(size ? size : 1); /* so that a sanitizer sees reads outside */
    if (size > 0) {
        memcpy(copy, data, size);
    }
    buf_init(&output, IPTC_SIZE_MAX);
    losses = 0;
    assert_int_equal(iptc_sanitize((struct bytes){copy, size}, &output, &losses, NULL), ST_OK);
    free(copy);
    return output;
}

static void check_dataset(uint8_t record, uint8_t number, const char *value, bool kept) {
    uint8_t datasets[512], resources[1024] = {0};
    size_t size = put_dataset(datasets, 2, 80, "WRITER");
    size += put_dataset(datasets + size, record, number, value);
    struct buf output = iptc(resources, put_resource(resources, 0x0404, datasets, size));
    assert_true(fixture_contains(buf_bytes(&output), "WRITER"));
    assert_int_equal(fixture_contains(buf_bytes(&output), value), kept);
    assert_int_equal(losses, kept ? 0 : LOSS_IPTC);
    struct buf again = iptc(output.data, output.size);
    assert_int_equal(again.size, output.size);
    assert_memory_equal(again.data, output.data, output.size);
    buf_finish(&again);
    buf_finish(&output);
}

static void test_iptc_texts_stay(void **state) {
    (void)state;
    check_dataset(2, 5, "A TITLE", true);
    check_dataset(2, 120, "a caption, which is longer", true);
    check_dataset(2, 25, "keyword", true);
    check_dataset(1, 90, "\x1B%G", true);
    check_dataset(1, 90, "\x1B-A\x10", false);
    check_dataset(2, 202, "PREVIEW", false);
    check_dataset(2, 200, "PREVIEW", false);
    check_dataset(2, 120, "\x10\x1F PREVIEW", false);
    check_dataset(8, 10, "PREVIEW", false);
    check_dataset(7, 10, "PREVIEW", false);
    check_dataset(3, 120, "PREVIEW", false);
}

static void test_other_resources_go(void **state) {
    (void)state;
    static const struct {
        uint16_t number;
        unsigned loss;
    } others[] = {{0x0409, LOSS_THUMBNAIL}, {0x040C, LOSS_THUMBNAIL}, {0x03ED, 0}, {0x0422, 0}};
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        uint8_t resources[1024] = {0}, datasets[64];
        size_t size = put_resource(resources, others[i].number, (const uint8_t *)"CANARY", 6);
        size += put_resource(resources + size, 0x0404, datasets, put_dataset(datasets, 2, 80, "WRITER"));
        struct buf output = iptc(resources, size);
        assert_true(fixture_contains(buf_bytes(&output), "WRITER"));
        assert_false(fixture_contains(buf_bytes(&output), "CANARY"));
        assert_int_equal(losses, others[i].loss);
        buf_finish(&output);
    }
}

/* Every cut, and every length that says too much. */
static void test_lying_lengths_in_iptc(void **state) {
    (void)state;
    uint8_t datasets[64], resources[128] = {0};
    size_t size = put_resource(resources, 0x0404, datasets, put_dataset(datasets, 2, 80, "WRITER"));
    for (size_t cut = 0; cut <= size; cut++) {
        struct buf output = iptc(resources, cut);
        assert_int_equal(fixture_contains(buf_bytes(&output), "WRITER"), cut >= size - 1);
        buf_finish(&output);
    }
    for (size_t at = 0; at < size; at++) {
        for (unsigned value = 0; value < 256; value += 51) {
            uint8_t changed[128];
            memcpy(changed, resources, sizeof(changed));
            changed[at] = (uint8_t)value;
            struct buf output = iptc(changed, size);
            assert_true(output.size <= size);
            buf_finish(&output);
        }
    }
}

/* Entries that do not fit are left out and reported. */
static void test_iptc_over_the_limit(void **state) {
    (void)state;
    uint8_t datasets[64], resources[128] = {0};
    size_t size = put_resource(resources, 0x0404, datasets, put_dataset(datasets, 2, 80, "WRITER"));
    struct buf output;
    buf_init(&output, size - 1);
    losses = 0;
    assert_int_equal(iptc_sanitize((struct bytes){resources, size}, &output, &losses, NULL), ST_OK);
    assert_int_equal(output.size, 0);
    assert_int_equal(losses, LOSS_IPTC);
    buf_finish(&output);
}

static void test_iptc_has_no_place_in_a_png(void **state) {
    (void)state;
    uint8_t datasets[64], resources[128] = {0};
    struct metadata metadata = {.orientation = 1};
    metadata.photoshop.data = resources;
    metadata.photoshop.size =
        put_resource(resources, 0x0404, datasets, put_dataset(datasets, 2, 80, "WRITER"));
    struct carried made = carried(&metadata, codec_get(CODEC_PNG), false);
    assert_int_equal(made.iptc.size, 0);
    assert_int_equal(made.losses, LOSS_IPTC);
    carried_finish(&made);
    made = carried(&metadata, codec_get(CODEC_JPEG), false);
    assert_true(fixture_contains(buf_bytes(&made.iptc), "WRITER"));
    assert_int_equal(made.losses, 0);
    carried_finish(&made);
}

/* A format of pixels alone, beside one with a place for all of these. */
static void test_what_has_no_place_is_lost(void **state) {
    (void)state;
    static const uint8_t exif[26] = {'I', 'I', 42, 0, 8, 0, 0, 0,   1,   0,  0x0F,
                                     1,   2,   0,  4, 0, 0, 0, 'A', 'B', 'C'};
    const struct metadata metadata = {.orientation = 1,
                                      .exif = {exif, sizeof exif},
                                      .density = {72, 72, 1, DENSITY_INCH},
                                      .chunk_count = 1,
                                      .chunk = {{.kind = CHUNK_TIME}}};
    struct carried made = carried(&metadata, &(const struct codec){0}, false);
    assert_int_equal(made.losses, LOSS_EXIF | LOSS_RESOLUTION | LOSS_OTHER);
    assert_int_equal(made.exif.size, 0);
    carried_finish(&made);
    made = carried(&metadata, codec_get(CODEC_PNG), false);
    assert_true(made.losses == 0 && made.exif.size > 0);
    carried_finish(&made);
}

static void test_nothing_stays_allocated(void **state) {
    (void)state;
    struct carried made = {0};
    struct buf *const parts[] = {&made.profile, &made.exif, &made.xmp, &made.iptc};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        buf_init(parts[i], 100);
        assert_int_equal(buf_append(parts[i], "bytes", 5, NULL), ST_OK);
    }
    carried_finish(&made);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        assert_null(parts[i]->data);
    }
}

/* ---- texts ---- */

struct seen {
    unsigned count;
    char text[256]; /* of the last one: keyword|language|value */
};

static enum status see(void *context, const struct text *text, struct error *err) {
    (void)err;
    struct seen *seen = context;
    seen->count++;
    snprintf(seen->text, sizeof(seen->text), "%.*s|%.*s|%.*s", (int)text->keyword.size,
             (const char *)text->keyword.data, (int)text->language.size, (const char *)text->language.data,
             (int)text->value.size, (const char *)text->value.data);
    return ST_OK;
}

static struct seen texts(enum chunk_kind kind, const void *data, size_t size) {
    struct metadata metadata = {.orientation = 1};
    struct seen seen = {0};
    metadata.chunk_count = 1;
    metadata.chunk[0].kind = kind;
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, data, size);
    metadata.chunk[0].data = (struct bytes){copy, size};
    losses = 0;
    assert_int_equal(texts_each(&metadata, &losses, see, &seen, NULL), ST_OK);
    assert_int_equal(losses, seen.count ? 0 : LOSS_TEXT);
    free(copy);
    return seen;
}

#define CHECK_TEXT(kind, data, wanted) check_text(kind, data, sizeof(data) - 1, wanted)

static void check_text(enum chunk_kind kind, const char *data, size_t size, const char *wanted) {
    struct seen seen = texts(kind, data, size);
    assert_int_equal(seen.count, wanted != NULL);
    assert_string_equal(seen.text, wanted ? wanted : "");
}

#define SIXTY "qwertzuiopasdfghjklyxcvbnm0123456789QWERTZUIOPASDFGHJKLYXCVB\n"

static void test_texts(void **state) {
    (void)state;
    CHECK_TEXT(CHUNK_COMMENT, "words", "Comment||words");
    CHECK_TEXT(CHUNK_COMMENT, "words\0", "Comment||words");
    CHECK_TEXT(CHUNK_COMMENT, "caf\xE9", "Comment||caf\xC3\xA9");
    CHECK_TEXT(CHUNK_COMMENT, "caf\xC3\xA9", "Comment||caf\xC3\xA9");
    CHECK_TEXT(CHUNK_COMMENT, "words\0more", NULL);
    CHECK_TEXT(CHUNK_COMMENT, "\x01", NULL);
    CHECK_TEXT(CHUNK_TEXT, "Title\0words", "Title||words");
    CHECK_TEXT(CHUNK_TEXT, "Title\0caf\xE9", "Title||caf\xC3\xA9");
    CHECK_TEXT(CHUNK_TEXT, "Title", NULL);
    CHECK_TEXT(CHUNK_TEXT, "\0words", NULL);
    CHECK_TEXT(CHUNK_TEXT, "Tit\x01le\0words", NULL);
    CHECK_TEXT(CHUNK_TEXT, "Title\0see base64,", NULL);
    CHECK_TEXT(CHUNK_COMMENT, SIXTY SIXTY SIXTY,
               "Comment||" SIXTY SIXTY SIXTY); /* 108 letters behind the 24th */
    CHECK_TEXT(CHUNK_COMMENT, SIXTY SIXTY SIXTY SIXTY, NULL);
    CHECK_TEXT(CHUNK_TEXT_INTERNATIONAL, "Title\0\0\0en\0Titel\0caf\xC3\xA9", "Title|en|caf\xC3\xA9");
    CHECK_TEXT(CHUNK_TEXT_INTERNATIONAL, "Title\0\0\0en\0Titel\0caf\xE9", NULL);
    CHECK_TEXT(CHUNK_TEXT_INTERNATIONAL, "Title\0\0\0\xE9\0Titel\0words", NULL);
    CHECK_TEXT(CHUNK_TEXT_INTERNATIONAL, "Title\0\2\0en\0Titel\0words", NULL);
    CHECK_TEXT(CHUNK_TEXT_INTERNATIONAL, "Title\0\0\1en\0Titel\0words", NULL);
    CHECK_TEXT(CHUNK_TEXT_INTERNATIONAL, "Title\0\0\0en\0Titel", NULL);
    CHECK_TEXT(CHUNK_TEXT_INTERNATIONAL, "Title\0\0", NULL);
    CHECK_TEXT(CHUNK_TEXT_DEFLATED, "Title\0\1words", NULL);
    CHECK_TEXT(CHUNK_TEXT_DEFLATED, "Title\0", NULL);
    CHECK_TEXT(CHUNK_TEXT_DEFLATED, "Title\0\0no stream", NULL);
}

/* `head`, then a zlib stream of so many spaces. */
static struct seen packed(enum chunk_kind kind, const char *head, size_t head_size, size_t spaces) {
    char *text = malloc(spaces);
    uint8_t chunk[1024];
    memset(text, ' ', spaces);
    memcpy(chunk, head, head_size);
    struct libdeflate_compressor *compressor = libdeflate_alloc_compressor(9);
    size_t size =
        libdeflate_zlib_compress(compressor, text, spaces, chunk + head_size, sizeof(chunk) - head_size);
    assert_true(size > 0);
    libdeflate_free_compressor(compressor);
    free(text);
    return texts(kind, chunk, head_size + size);
}

static void test_packed_texts(void **state) {
    (void)state;
    assert_int_equal(packed(CHUNK_TEXT_DEFLATED, "Title\0", 7, TEXT_MAX).count, 1);
    assert_int_equal(packed(CHUNK_TEXT_DEFLATED, "Title\0", 7, TEXT_MAX + 1).count, 0);
    assert_int_equal(packed(CHUNK_TEXT_INTERNATIONAL, "Title\0\1\0\0", 10, TEXT_MAX).count, 1);
    assert_int_equal(packed(CHUNK_TEXT_INTERNATIONAL, "Title\0\1\0\0", 10, TEXT_MAX + 1).count, 0);
    assert_int_equal(packed(CHUNK_TEXT_INTERNATIONAL, "Title\0\0\0\0", 10, 100).count, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resolutions),
        cmocka_unit_test(test_resolutions_that_are_none),
        cmocka_unit_test(test_inches_survive_metres),
        cmocka_unit_test(test_which_resolution_counts),
        cmocka_unit_test(test_iptc_texts_stay),
        cmocka_unit_test(test_other_resources_go),
        cmocka_unit_test(test_lying_lengths_in_iptc),
        cmocka_unit_test(test_iptc_over_the_limit),
        cmocka_unit_test(test_iptc_has_no_place_in_a_png),
        cmocka_unit_test(test_what_has_no_place_is_lost),
        cmocka_unit_test(test_nothing_stays_allocated),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_packed_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
