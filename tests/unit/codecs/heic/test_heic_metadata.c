/* SPDX-License-Identifier: MIT */
#include "codecs/metadata/losses.h"
#include "tests/unit/codecs/heic/heic_fixture.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"

#define CICP 0x63494350u

static const char packet[] =
    "<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
    "<r:Description xmlns:t='http://ns.adobe.com/tiff/1.0/' t:Orientation='6' "
    "t:Artist='PAINTER'/></r:RDF></x:xmpmeta>";

/* A picture that is turned by its boxes and, as EXIF and XMP say, would have to be turned again. */
static struct buf tagged_file(unsigned offset) {
    static uint8_t exif[4 + 6 + EXIF_FIXTURE_SIZE];
    struct exif_fixture tiff = exif_make(true, 6);
    memset(exif, 0, sizeof(exif));
    memcpy(exif + 4, "Exif", 4);
    exif[3] = (uint8_t)offset;
    memcpy(exif + 10, tiff.data, EXIF_FIXTURE_SIZE);
    const struct heic_item_spec items[] = {
        HEIC_COLOUR("csr"),
        {"Exif", HEIC_BYTES(exif), "", NULL},
        {"mime", {(const uint8_t *)packet, sizeof(packet) - 1}, "", "application/rdf+xml"},
        HEIC_END,
    };
    static const struct heic_reference_spec references[] = {{"cdsc", 2, 1, {1}}, {"cdsc", 3, 1, {1}}, {0}};
    return heic_file("heic", items, references);
}

static void test_nothing_turns_a_picture_twice(void **state) {
    (void)state;
    static const enum codec_id targets[] = {CODEC_JPEG, CODEC_PNG};
    for (unsigned i = 0; i < 4; i++) {
        struct buf file = tagged_file(i < 2 ? 6 : 0); /* the prefix of a JPEG segment may count or not */
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.orientation, 1);
        assert_int_equal(picture.metadata.losses, 0);
        struct image image = fixture_decode(buf_bytes(&file), false);
        struct encode_options options = {.quality = 85, .effort = 1, .keep_metadata = true};
        struct buf output = fixture_encode(targets[i % 2], &image, &options, &picture.metadata);
        codec_picture_finish(&picture);
        picture = fixture_probe(buf_bytes(&output));
        assert_int_equal(picture.metadata.orientation, 1);
        assert_true(fixture_contains(buf_bytes(&output), "LATITUDE"));
        assert_true(fixture_contains(buf_bytes(&output), "PAINTER"));
        assert_false(fixture_contains(buf_bytes(&output), "Orientation>6"));
        codec_picture_finish(&picture);
        buf_finish(&output);
        fixture_image_free(&image);
        buf_finish(&file);
    }
}

static void test_exif_offset_outside(void **state) {
    (void)state;
    static const struct heic_reference_spec references[] = {{"cdsc", 2, 1, {1}}, {0}};
    static const struct heic_item_spec cases[][3] = {
        {HEIC_COLOUR("cs"), {"Exif", HEIC_TEXT("\0\0\0\7MM"), "", NULL}, HEIC_END},
        {HEIC_COLOUR("cs"), {"Exif", HEIC_TEXT("\xFF\xFF\xFF\xFFMM"), "", NULL}, HEIC_END},
        {HEIC_COLOUR("cs"), {"Exif", HEIC_TEXT("\0\0"), "", NULL}, HEIC_END},
        {HEIC_COLOUR("cs"),
         {"Exif", HEIC_TEXT("\0\0\0\0Ex"), "", NULL},
         HEIC_END}, /* ends within the prefix */
    };
    static const size_t sizes[] = {0, 0, 0, 2};
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct buf file = heic_file("heic", cases[i], references);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.exif.size, sizes[i]);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
}

static struct picture probe_colour(const char *properties) {
    const struct heic_item_spec items[] = {HEIC_COLOUR(properties), HEIC_END};
    struct buf file = heic_file("heic", items, NULL);
    struct picture picture = fixture_probe(buf_bytes(&file));
    buf_finish(&file); /* the metadata do not borrow from it */
    return picture;
}

static void test_colour(void **state) {
    (void)state;
    static const uint8_t code[] = {12, 16, 0, 1};
    struct picture picture = probe_colour("csn");
    assert_int_equal(picture.metadata.chunk_count, 1);
    assert_int_equal(picture.metadata.chunk[0].kind, CHUNK_COLOUR);
    assert_int_equal(picture.metadata.chunk[0].tag, CICP);
    assert_int_equal(picture.metadata.chunk[0].data.size, sizeof(code));
    assert_memory_equal(picture.metadata.chunk[0].data.data, code, sizeof(code));
    codec_picture_finish(&picture);
    picture = probe_colour("csnI"); /* a profile takes precedence */
    assert_int_equal(picture.metadata.chunk_count, 1);
    assert_int_equal(picture.metadata.chunk[0].kind, CHUNK_ICC);
    assert_int_equal(picture.metadata.chunk[0].data.size, 7);
    assert_memory_equal(picture.metadata.chunk[0].data.data, "PROFILE", 7);
    codec_picture_finish(&picture);
    static const char *const without[] = {"csu", "csk"}; /* a sanitizer sees what is not freed */
    for (size_t i = 0; i < sizeof(without) / sizeof(*without); i++) {
        picture = probe_colour(without[i]);
        assert_int_equal(picture.metadata.chunk_count, 0);
        codec_picture_finish(&picture);
    }
}

static unsigned losses_of(const struct heic_item_spec *items, const struct heic_reference_spec *references) {
    struct buf file = heic_file("heic", items, references);
    struct picture picture = fixture_probe(buf_bytes(&file));
    unsigned losses = picture.metadata.losses;
    codec_picture_finish(&picture);
    buf_finish(&file);
    return losses;
}

static void test_losses(void **state) {
    (void)state;
    static const struct heic_item_spec two[] = {HEIC_COLOUR("cs"), HEIC_COLOUR("cs"), HEIC_END};
    static const struct heic_item_spec gain[] = {HEIC_COLOUR("cs"), HEIC_MONO("msx"), HEIC_END};
    static const struct heic_item_spec alpha[] = {HEIC_COLOUR("cs"), HEIC_MONO("msa"), HEIC_END};
    static const struct heic_item_spec other[] = {
        HEIC_COLOUR("cs"), {"mime", HEIC_TEXT("text"), "", "text/plain"}, HEIC_END};
    static const struct heic_reference_spec thumbnail[] = {{"thmb", 2, 1, {1}}, {0}};
    static const struct heic_reference_spec auxiliary[] = {{"auxl", 2, 1, {1}}, {0}};
    static const struct heic_reference_spec described[] = {{"cdsc", 2, 1, {1}}, {0}};
    assert_int_equal(losses_of(two, NULL), LOSS_PICTURES);
    assert_int_equal(losses_of(two, thumbnail), LOSS_THUMBNAIL);
    assert_int_equal(losses_of(gain, auxiliary), LOSS_PICTURES);
    assert_int_equal(losses_of(alpha, auxiliary), 0);
    assert_int_equal(losses_of(other, described), LOSS_OTHER);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_turns_a_picture_twice),
        cmocka_unit_test(test_exif_offset_outside),
        cmocka_unit_test(test_colour),
        cmocka_unit_test(test_losses),
    };
    enum { SKIPPED = 77 };
    return codec_decodes(CODEC_HEIC) ? cmocka_run_group_tests(tests, NULL, NULL) : SKIPPED;
}
