/* SPDX-License-Identifier: MIT
 * What of a JPEG's metadata reaches the output, in both formats. */
#include "tests/unit/exif_fixture.h"
#include "tests/unit/picture_fixture.h"

static struct buf plain_file(void) {
    struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, 40, 30);
    shape.chroma_shift_x = shape.chroma_shift_y = 1;
    struct encode_options options = fixture_options();
    struct image image = fixture_painted(shape);
    struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
    fixture_image_free(&image);
    return file;
}

static void test_orientation_from_exif(void **state) {
    (void)state;
    for (uint32_t orientation = 1; orientation <= 8; orientation++) {
        for (int little = 0; little <= 1; little++) {
            struct buf file = plain_file();
            struct exif_fixture exif = exif_make(little, orientation);
            uint8_t segment[6 + EXIF_FIXTURE_SIZE] = "Exif";
            memcpy(segment + 6, exif.data, EXIF_FIXTURE_SIZE);
            fixture_segment(&file, 0xE1, segment, sizeof(segment));
            assert_int_equal(fixture_probe(buf_bytes(&file)).metadata.orientation, orientation);
            buf_finish(&file);
        }
    }
}

/* A file with every kind of metadata; the strings in it are looked for later. */
static struct buf tagged_file(void) {
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0<x:xmpmeta tiff:Orientation=\"6\"/>";
    struct buf file = plain_file();
    struct exif_fixture exif = exif_make(true, 6);
    uint8_t segment[6 + EXIF_FIXTURE_SIZE] = "Exif";
    memcpy(segment + 6, exif.data, EXIF_FIXTURE_SIZE);
    fixture_segment(&file, 0xFE, "COMMENT", 7);
    fixture_segment(&file, 0xE1, xmp, sizeof(xmp) - 1);
    fixture_segment(&file, 0xED, "Photoshop 3.0\0IPTC", 18);
    uint8_t icc[14 + 200] = "ICC_PROFILE";
    icc[12] = icc[13] = 1;
    icc[14 + 3] = 200; /* its own size */
    memcpy(icc + 14 + 16, "RGB ", 4);
    memcpy(icc + 14 + 36, "acsp", 4);
    memcpy(icc + 14 + 130, "PROFILE-BODY", 12);
    fixture_segment(&file, 0xE2, icc, sizeof(icc));
    fixture_segment(&file, 0xE1, segment, sizeof(segment));
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

static void test_metadata_stripped(void **state) {
    (void)state;
    struct buf file = tagged_file();
    struct buf output = reencoded(buf_bytes(&file), CODEC_JPEG, false);
    static const char *const gone[] = {"Exif",    "CAMERA",  "LATITUDE", "THUMBNAIL",
                                       "COMMENT", "xmpmeta", "IPTC"};
    for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
        assert_false(fixture_contains(buf_bytes(&output), gone[i]));
    }
    assert_true(fixture_contains(buf_bytes(&output), "PROFILE-BODY"));
    struct buf png = reencoded(buf_bytes(&file), CODEC_PNG, false);
    assert_true(fixture_contains(buf_bytes(&png), "iCCP"));
    assert_false(fixture_contains(buf_bytes(&png), "eXIf"));
    /* And back again: the profile survives both ways. */
    struct buf again = reencoded(buf_bytes(&png), CODEC_JPEG, false);
    assert_true(fixture_contains(buf_bytes(&again), "PROFILE-BODY"));
    buf_finish(&again);
    buf_finish(&png);
    buf_finish(&output);
    buf_finish(&file);
}

static void test_metadata_kept(void **state) {
    (void)state;
    struct buf file = tagged_file();
    struct buf output = reencoded(buf_bytes(&file), CODEC_JPEG, true);
    static const char *const kept[] = {"CAMERA", "LATITUDE", "COMMENT", "xmpmeta", "PROFILE-BODY"};
    static const char *const gone[] = {"THUMBNAIL", "PREVIEW", "STRAY", "IPTC"};
    for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
        assert_true(fixture_contains(buf_bytes(&output), kept[i]));
    }
    for (size_t i = 0; i < sizeof(gone) / sizeof(*gone); i++) {
        assert_false(fixture_contains(buf_bytes(&output), gone[i]));
    }
    assert_int_equal(fixture_probe(buf_bytes(&output)).metadata.orientation, 1);
    struct buf png = reencoded(buf_bytes(&file), CODEC_PNG, true);
    assert_true(fixture_contains(buf_bytes(&png), "LATITUDE"));
    assert_false(fixture_contains(buf_bytes(&png), "THUMBNAIL"));
    assert_int_equal(fixture_probe(buf_bytes(&png)).metadata.orientation, 1);
    buf_finish(&png);
    buf_finish(&output);
    buf_finish(&file);
}

static void test_profile_of_another_space_is_dropped(void **state) {
    (void)state;
    struct buf file = tagged_file();
    uint8_t *space = memmem(file.data, file.size, "RGB ", 4);
    memcpy(space, "CMYK", 4);
    struct buf output = reencoded(buf_bytes(&file), CODEC_JPEG, false);
    assert_false(fixture_contains(buf_bytes(&output), "ICC_PROFILE"));
    buf_finish(&output);
    buf_finish(&file);
}

static void test_orientation_in_xmp_follows(void **state) {
    (void)state;
    struct buf file = tagged_file();
    struct buf output = reencoded(buf_bytes(&file), CODEC_JPEG, true);
    assert_true(fixture_contains(buf_bytes(&output), "tiff:Orientation=\"1\"/>"));
    buf_finish(&output);
    buf_finish(&file);
}

static void test_pictures_in_xmp_are_dropped(void **state) {
    (void)state;
    struct buf file = plain_file();
    static const char xmp[] = "http://ns.adobe.com/xap/1.0/\0<x xmpGImg:image='SECRET'/>";
    static const char more[] = "http://ns.adobe.com/xmp/extension/\0SECRET";
    fixture_segment(&file, 0xE1, xmp, sizeof(xmp) - 1);
    fixture_segment(&file, 0xE1, more, sizeof(more) - 1);
    struct buf output = reencoded(buf_bytes(&file), CODEC_JPEG, true);
    assert_false(fixture_contains(buf_bytes(&output), "SECRET"));
    buf_finish(&output);
    buf_finish(&file);
}

/* A profile of three segments in the wrong order, which readers must put right. */
static void test_long_profile_in_any_order(void **state) {
    (void)state;
    enum { PART = 60000, SIZE = 3 * PART };
    struct buf file = plain_file();
    uint8_t *icc = malloc(14 + PART);
    static const uint8_t order[] = {2, 3, 1};
    for (unsigned i = 0; i < 3; i++) {
        memcpy(icc, "ICC_PROFILE", 12);
        icc[12] = order[i], icc[13] = 3;
        memset(icc + 14, 'a' + order[i], PART);
        if (order[i] == 1) {
            put_be32(icc + 14, SIZE);
            memcpy(icc + 14 + 16, "RGB ", 4);
            memcpy(icc + 14 + 36, "acsp", 4);
        }
        fixture_segment(&file, 0xE2, icc, 14 + PART);
    }
    free(icc);
    struct buf png = reencoded(buf_bytes(&file), CODEC_PNG, false);
    struct buf jpeg = reencoded(buf_bytes(&png), CODEC_JPEG, false);
    assert_true(fixture_contains(buf_bytes(&jpeg), "bbbbbbcccc"));
    assert_true(fixture_contains(buf_bytes(&jpeg), "ccccccdddd"));
    uint8_t *count = memmem(file.data, file.size, "ICC_PROFILE", 12);
    count[12] = 2; /* number 2 twice now: not a profile */
    struct buf without = reencoded(buf_bytes(&file), CODEC_JPEG, false);
    assert_false(fixture_contains(buf_bytes(&without), "ICC_PROFILE"));
    buf_finish(&without);
    buf_finish(&jpeg);
    buf_finish(&png);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientation_from_exif),
        cmocka_unit_test(test_metadata_stripped),
        cmocka_unit_test(test_metadata_kept),
        cmocka_unit_test(test_profile_of_another_space_is_dropped),
        cmocka_unit_test(test_orientation_in_xmp_follows),
        cmocka_unit_test(test_pictures_in_xmp_are_dropped),
        cmocka_unit_test(test_long_profile_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
