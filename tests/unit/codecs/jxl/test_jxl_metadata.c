/* SPDX-License-Identifier: MIT
 * What stands beside the pixels of a JPEG XL file. */
#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "tests/unit/codecs/jxl/jxl_fixture.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"

#include <stdio.h>

enum { CICP = 0x63494350 };

static const char packet[] = "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
                             "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
                             "<rdf:Description rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/'>"
                             "<dc:source>PACKET</dc:source></rdf:Description></rdf:RDF></x:xmpmeta>";

static void test_metadata_stay_or_go(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(true, 1);
    struct metadata metadata = {.orientation = 1,
                                .exif = {exif.data, sizeof exif.data},
                                .xmp = {(const uint8_t *)packet, sizeof packet - 1},
                                .chunk_count = 1,
                                .chunk = {{CHUNK_COMMENT, 0, {(const uint8_t *)"hi", 2}}}};
    for (int keep = 0; keep <= 1; keep++) {
        for (int lossless = 0; lossless <= 1; lossless++) {
            unsigned losses = 0;
            const struct encode_options options = {
                .quality = 50, .keep_metadata = keep, .lossless = lossless, .losses = &losses};
            struct buf file = jxl_painted(PIXEL_RGB, 8, &options, &metadata);
            assert_int_equal(fixture_contains(buf_bytes(&file), "CAMERA"), keep);
            assert_int_equal(fixture_contains(buf_bytes(&file), "PACKET"), keep);
            assert_false(fixture_contains(buf_bytes(&file), "STRAY"));
            assert_false(fixture_contains(buf_bytes(&file), "jbrd"));
            assert_int_equal(losses & (LOSS_TEXT | LOSS_COLOUR), keep ? LOSS_TEXT : 0);
            struct picture picture = fixture_probe(buf_bytes(&file));
            assert_int_equal(picture.metadata.exif.size > 0, keep);
            assert_int_equal(picture.metadata.xmp.size > 0, keep);
            assert_int_equal(picture.metadata.chunk_count, 0); /* sRGB needs no words */
            codec_picture_finish(&picture);
            buf_finish(&file);
        }
    }
}

/* The codestream says how the picture is turned; the EXIF that goes on says the same. */
static void test_orientations(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(true, 5);
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        struct metadata metadata = {.orientation = orientation, .exif = {exif.data, sizeof exif.data}};
        struct encode_options options = {.quality = 50, .keep_metadata = true};
        struct buf file = jxl_painted(PIXEL_RGB, 8, &options, &metadata);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.orientation, orientation);
        assert_int_equal(exif_orientation(picture.metadata.exif), orientation);
        assert_int_equal(picture.pixels.width, 40);
        codec_picture_finish(&picture);
        buf_finish(&file);
        options.upright = true;
        file = jxl_painted(PIXEL_RGB, 8, &options, &metadata);
        picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.orientation, 1);
        assert_true(picture.metadata.upright);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
}

/* Codes for which libjxl has words stay codes; of the others a profile says the same. */
static void test_colour_codes(void **state) {
    (void)state;
    static const struct {
        uint8_t code[4], chunks;
        enum chunk_kind kind;
    } rows[] = {
        {{1, 13, 0, 1}, 0, CHUNK_COLOUR},  {{2, 2, 0, 1}, 0, CHUNK_COLOUR},
        {{12, 13, 0, 1}, 1, CHUNK_COLOUR}, {{9, 16, 0, 1}, 1, CHUNK_COLOUR},
        {{9, 18, 0, 1}, 1, CHUNK_COLOUR},  {{1, 8, 0, 1}, 1, CHUNK_COLOUR},
        {{11, 17, 0, 1}, 1, CHUNK_COLOUR}, {{5, 13, 0, 1}, 1, CHUNK_ICC},
        {{9, 4, 0, 1}, 1, CHUNK_ICC},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct metadata metadata = {
            .orientation = 1, .chunk_count = 1, .chunk = {{CHUNK_COLOUR, CICP, {rows[i].code, 4}}}};
        for (int lossless = 0; lossless <= 1; lossless++) {
            const struct encode_options options = {.quality = 50, .lossless = lossless};
            struct buf file = jxl_painted(PIXEL_RGB, 8, &options, &metadata);
            struct picture picture = fixture_probe(buf_bytes(&file));
            assert_int_equal(picture.metadata.chunk_count, rows[i].chunks);
            if (rows[i].chunks > 0) {
                assert_int_equal(picture.metadata.chunk[0].kind, rows[i].kind);
            }
            if (rows[i].chunks > 0 && rows[i].kind == CHUNK_COLOUR) {
                assert_memory_equal(picture.metadata.chunk[0].data.data, rows[i].code, 4);
            }
            codec_picture_finish(&picture);
            buf_finish(&file);
        }
    }
}

/* libjxl keeps a profile that it has no words for, byte for byte, unless it converts the colours. */
static void test_profiles(void **state) {
    (void)state;
    uint8_t profile[400];
    icc_make(profile, sizeof profile, "RGB ");
    struct metadata metadata = {
        .orientation = 1, .chunk_count = 1, .chunk = {{CHUNK_ICC, 0, {profile, sizeof profile}}}};
    for (int lossless = 0; lossless <= 1; lossless++) {
        const struct encode_options options = {.quality = 50, .lossless = lossless};
        struct buf file = jxl_painted(PIXEL_RGB, 8, &options, &metadata);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.chunk_count, 1);
        assert_int_equal(picture.metadata.chunk[0].kind, CHUNK_ICC);
        assert_int_equal(picture.metadata.chunk[0].data.size, sizeof profile);
        assert_memory_equal(picture.metadata.chunk[0].data.data, profile, sizeof profile);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
}

/* Appends a box to a file in a container. */
static void add_box(struct buf *file, const char *type, const void *data, size_t size) {
    uint8_t head[8];
    struct error err;
    bytes_put_be32(head, (uint32_t)(sizeof head + size));
    memcpy(head + 4, type, 4);
    assert_int_equal(buf_append(file, head, sizeof head, &err), ST_OK);
    assert_int_equal(buf_append(file, data, size, &err), ST_OK);
}

static struct picture probe_with(const char *type, const void *data, size_t size, struct buf *file) {
    struct exif_fixture exif = exif_make(true, 1);
    struct metadata metadata = {.orientation = 1, .exif = {exif.data, sizeof exif.data}};
    const struct encode_options options = {.quality = 50, .keep_metadata = true};
    *file = jxl_painted(PIXEL_RGB, 8, &options, &metadata);
    add_box(file, type, data, size);
    return fixture_probe(buf_bytes(file));
}

static void test_boxes(void **state) {
    (void)state;
    /* Brotli: a stream of one block that is not compressed, and its end. */
    static const uint8_t packed[] = "xml \x0B\x02\x80hello\x03";
    static const uint8_t damaged[] = "xml \xFF\xFF\xFF\xFF";
    static const struct {
        const char *type;
        const void *data;
        size_t size;
        size_t xmp;
        unsigned losses;
    } rows[] = {
        {"xml ", packet, sizeof packet - 1, sizeof packet - 1, 0},
        {"brob", packed, sizeof packed - 1, 5, 0},
        {"brob", damaged, sizeof damaged - 1, 0, LOSS_XMP},
        {"brob", "xml", 3, 0, 0},
        {"jumb", "c2pa", 4, 0, LOSS_C2PA},
        {"jhgm", "gain", 4, 0, LOSS_PICTURES},
        {"brob", "jumb\3", 5, 0, LOSS_C2PA},
        {"Exif", "\0\0\0\xFFMM", 6, 0, 0}, /* the first counts */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf file;
        struct picture picture = probe_with(rows[i].type, rows[i].data, rows[i].size, &file);
        assert_int_equal(picture.metadata.xmp.size, rows[i].xmp);
        assert_int_equal(picture.metadata.losses, rows[i].losses);
        assert_true(picture.metadata.exif.size > 0);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata_stay_or_go),
        cmocka_unit_test(test_orientations),
        cmocka_unit_test(test_colour_codes),
        cmocka_unit_test(test_profiles),
        cmocka_unit_test(test_boxes),
    };
    if (!codec_decodes(CODEC_JXL)) {
        printf("this build has no JPEG XL\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
