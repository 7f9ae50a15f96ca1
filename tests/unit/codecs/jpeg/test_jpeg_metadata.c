/* SPDX-License-Identifier: MIT
 * The metadata of a JPEG that reaches the output, in both formats. */
#include "codecs/metadata/losses.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"
#include "tests/unit/codecs/picture_fixture.h"

#define XMP_NAME "http://ns.adobe.com/xap/1.0/\0"
#define RDF "http://www.w3.org/1999/02/22-rdf-syntax-ns#"

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
    static const char xmp[] =
        XMP_NAME "<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF xmlns:r='" RDF "'>"
                 "<r:Description xmlns:t='http://ns.adobe.com/tiff/1.0/' t:Orientation='6' "
                 "t:Artist='PAINTER'/></r:RDF></x:xmpmeta>";
    struct buf file = plain_file();
    struct exif_fixture exif = exif_make(true, 6);
    uint8_t segment[6 + EXIF_FIXTURE_SIZE] = "Exif";
    memcpy(segment + 6, exif.data, EXIF_FIXTURE_SIZE);
    fixture_segment(&file, 0xFE, "COMMENT", 7);
    fixture_segment(&file, 0xE1, xmp, sizeof(xmp) - 1);
    fixture_segment(&file, 0xED, "Photoshop 3.0\0IPTC", 18);
    uint8_t icc[14 + 400] = "ICC_PROFILE";
    icc[12] = icc[13] = 1;
    icc_make(icc + 14, 400, "RGB ");
    fixture_segment(&file, 0xE2, icc, sizeof(icc));
    fixture_segment(&file, 0xE1, segment, sizeof(segment));
    return file;
}

static unsigned losses; /* of the last call */

static struct buf reencoded_as(struct bytes input, enum codec_id id, bool keep, bool upright) {
    struct picture picture = fixture_probe(input);
    struct image image = fixture_decode(input, false);
    struct encode_options options = {
        .quality = 85, .effort = 1, .keep_metadata = keep, .upright = upright, .losses = &losses};
    losses = 0;
    struct buf output = fixture_encode(id, &image, &options, &picture.metadata);
    fixture_image_free(&image);
    return output;
}

static struct buf reencoded(struct bytes input, enum codec_id id, bool keep) {
    return reencoded_as(input, id, keep, true);
}

static void test_metadata_stripped(void **state) {
    (void)state;
    struct buf file = tagged_file();
    struct buf output = reencoded(buf_bytes(&file), CODEC_JPEG, false);
    static const char *const gone[] = {"Exif",    "CAMERA",  "LATITUDE", "THUMBNAIL",
                                       "COMMENT", "xmpmeta", "IPTC"};
    assert_int_equal(losses, 0);
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
    static const char *const kept[] = {"CAMERA", "LATITUDE", "COMMENT", "PAINTER", "PROFILE-BODY"};
    static const char *const gone[] = {"THUMBNAIL", "PREVIEW", "STRAY", "IPTC"};
    assert_int_equal(losses, LOSS_MAKER_NOTE | LOSS_THUMBNAIL | LOSS_IPTC);
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
    for (int upright = 0; upright <= 1; upright++) {
        struct buf output = reencoded_as(buf_bytes(&file), CODEC_JPEG, true, upright);
        assert_int_equal(fixture_contains(buf_bytes(&output), "<tiff:Orientation>6<"), !upright);
        assert_true(fixture_contains(buf_bytes(&output), "PAINTER"));
        buf_finish(&output);
    }
    buf_finish(&file);
}

static void test_extended_xmp_is_dropped(void **state) {
    (void)state;
    struct buf file = plain_file();
    static const char more[] = "http://ns.adobe.com/xmp/extension/\0SECRET";
    fixture_segment(&file, 0xE1, more, sizeof(more) - 1);
    struct buf output = reencoded(buf_bytes(&file), CODEC_JPEG, true);
    assert_false(fixture_contains(buf_bytes(&output), "SECRET"));
    assert_int_equal(losses, LOSS_XMP);
    buf_finish(&output);
    buf_finish(&file);
}

/* ---- profiles with a wrong length ---- */

static struct buf file_with_profile(uint32_t stated, size_t there) {
    struct buf file = plain_file();
    uint8_t *icc = calloc(1, 14 + there + 400);
    memcpy(icc, "ICC_PROFILE", 12);
    icc[12] = icc[13] = 1;
    icc_make(icc + 14, 400, "RGB ");
    bytes_put_be32(icc + 14, stated);
    fixture_segment(&file, 0xE2, icc, 14 + there);
    free(icc);
    return file;
}

static size_t profile_bytes(struct bytes file) {
    const uint8_t *found = memmem(file.data, file.size, "ICC_PROFILE", 12);
    return found ? bytes_be16(found - 2) - 16 : 0;
}

/* A profile that states more bytes than it has would be filled with the memory behind it. */
static void test_stated_length_of_a_profile(void **state) {
    (void)state;
    static const struct {
        uint32_t stated;
        size_t there, written;
    } cases[] = {{400, 400, 400}, {60000, 400, 0}, {401, 400, 0}, {400, 464, 400},  {0, 400, 0},
                 {127, 400, 0},   {128, 400, 0},   {399, 400, 0}, {399, 399, 0},    {0xFFFFFFFF, 400, 0},
                 {128, 128, 0},   {128, 127, 0},   {400, 399, 0}, {1 << 24, 400, 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf file = file_with_profile(cases[i].stated, cases[i].there);
        struct buf jpeg = reencoded(buf_bytes(&file), CODEC_JPEG, true);
        assert_int_equal(profile_bytes(buf_bytes(&jpeg)), cases[i].written);
        assert_int_equal(losses, cases[i].written ? 0 : LOSS_COLOUR);
        struct buf png = reencoded(buf_bytes(&file), CODEC_PNG, false);
        struct buf back = reencoded(buf_bytes(&png), CODEC_JPEG, false);
        assert_int_equal(profile_bytes(buf_bytes(&back)), cases[i].written);
        buf_finish(&back);
        buf_finish(&png);
        buf_finish(&jpeg);
        buf_finish(&file);
    }
}

static void test_the_first_exif_counts(void **state) {
    (void)state;
    struct buf file = plain_file();
    for (uint32_t orientation = 3; orientation <= 6; orientation += 3) { /* each goes to the front */
        struct exif_fixture exif = exif_make(true, orientation);
        uint8_t segment[6 + EXIF_FIXTURE_SIZE] = "Exif";
        memcpy(segment + 6, exif.data, EXIF_FIXTURE_SIZE);
        fixture_segment(&file, 0xE1, segment, sizeof(segment));
    }
    assert_int_equal(fixture_probe(buf_bytes(&file)).metadata.orientation, 6);
    struct buf output = reencoded_as(buf_bytes(&file), CODEC_JPEG, true, false);
    assert_int_equal(fixture_probe(buf_bytes(&output)).metadata.orientation, 6);
    assert_true(losses & LOSS_EXIF);
    buf_finish(&output);
    buf_finish(&file);
}

/* A profile of three segments in the wrong order, which readers must put right. */
static void test_long_profile_in_any_order(void **state) {
    (void)state;
    enum { PART = 60000, SIZE = 3 * PART };
    struct buf file = plain_file();
    uint8_t *icc = malloc(14 + PART), *whole = malloc(SIZE);
    icc_make(whole, SIZE, "RGB ");
    static const uint8_t order[] = {2, 3, 1};
    for (unsigned i = 0; i < 3; i++) {
        memcpy(icc, "ICC_PROFILE", 12);
        icc[12] = order[i], icc[13] = 3;
        memcpy(icc + 14, whole + (order[i] - 1) * PART, PART);
        size_t head = order[i] == 1 ? ICC_FIXTURE_LEAST : 0;
        memset(icc + 14 + head, 'a' + order[i], PART - head);
        fixture_segment(&file, 0xE2, icc, 14 + PART);
    }
    free(whole);
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

/* A segment that is its name and nothing more counts as one of that name. */
static void test_names_without_content(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t size;
        uint8_t marker;
        unsigned losses;
    } cases[] = {
        {"JP", 2, 0xEB, LOSS_C2PA}, {"J", 1, 0xEB, LOSS_OTHER},    {"MPF", 4, 0xE2, LOSS_PICTURES},
        {"Adobe", 5, 0xEE, 0},      {"Adob", 4, 0xEE, LOSS_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf file = plain_file();
        fixture_segment(&file, cases[i].marker, cases[i].name, cases[i].size);
        assert_int_equal(fixture_probe(buf_bytes(&file)).metadata.losses, cases[i].losses);
        buf_finish(&file);
    }
}

static void test_names_of_losses(void **state) {
    (void)state;
    char text[LOSSES_TEXT_MAX];
    losses_name(0, text);
    assert_string_equal(text, "");
    losses_name(LOSS_IPTC, text);
    assert_string_equal(text, "iptc");
    losses_name(LOSS_EXIF | LOSS_XMP | LOSS_OTHER, text);
    assert_string_equal(text, "exif, xmp, other");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_orientation_from_exif),
        cmocka_unit_test(test_metadata_stripped),
        cmocka_unit_test(test_metadata_kept),
        cmocka_unit_test(test_profile_of_another_space_is_dropped),
        cmocka_unit_test(test_orientation_in_xmp_follows),
        cmocka_unit_test(test_extended_xmp_is_dropped),
        cmocka_unit_test(test_stated_length_of_a_profile),
        cmocka_unit_test(test_the_first_exif_counts),
        cmocka_unit_test(test_long_profile_in_any_order),
        cmocka_unit_test(test_names_without_content),
        cmocka_unit_test(test_names_of_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
