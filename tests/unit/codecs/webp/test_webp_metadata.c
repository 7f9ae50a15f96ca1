/* SPDX-License-Identifier: MIT
 * Metadata from WebP to all formats and from all formats to WebP. */
#include <stdio.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "tests/unit/codecs/webp/webp_fixture.h"

enum { NOT_BUILT = 77 };

static unsigned losses;

static struct buf reencoded(struct bytes input, enum codec_id id, bool keep, bool upright, bool lossless) {
    struct picture picture = fixture_probe(input);
    struct image image = fixture_decode(input, false);
    losses = 0;
    struct encode_options options = {.quality = 85,
                                     .effort = 1,
                                     .keep_metadata = keep,
                                     .upright = upright,
                                     .lossless = lossless,
                                     .losses = &losses};
    struct buf output = fixture_encode(id, &image, &options, &picture.metadata);
    fixture_image_free(&image);
    return output;
}

static size_t place_of(const struct buf *file, const char *chunk) {
    const uint8_t *found = memmem(file->data, file->size, chunk, 4);
    return found ? (size_t)(found - file->data) : 0;
}

static unsigned flags_of(const struct buf *file) {
    return memcmp(file->data + 12, "VP8X", 4) == 0 ? file->data[20] : 0;
}

/* All models that the writer knows, and both places that the picture may have in libwebp's file. */
static void test_what_stays(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        unsigned alpha = kind % 2 ? ALPHA : 0;
        struct buf file =
            webp_tagged(alpha ? PIXEL_RGBA : PIXEL_RGB, kind >= 2, ICC | EXIF | XMP | alpha, true);
        struct buf kept = reencoded(buf_bytes(&file), CODEC_WEBP, true, false, kind >= 2);
        assert_int_equal(flags_of(&kept), ICC | EXIF | XMP | alpha);
        assert_int_equal(place_of(&kept, "ICCP"), 30);
        assert_true(place_of(&kept, "VP8 ") + place_of(&kept, "VP8L") >= 38 + WEBP_PROFILE);
        assert_true(place_of(&kept, "EXIF") > place_of(&kept, "VP8 "));
        assert_true(place_of(&kept, "XMP ") > place_of(&kept, "EXIF"));
        assert_true(fixture_contains(buf_bytes(&kept), "CAMERA"));
        assert_true(fixture_contains(buf_bytes(&kept), "XMPTEXT"));
        assert_false(fixture_contains(buf_bytes(&kept), "THUMBNAIL"));
        assert_int_equal(losses & ~(unsigned)(LOSS_MAKER_NOTE | LOSS_THUMBNAIL), 0);
        struct picture picture = fixture_probe(buf_bytes(&kept));
        assert_int_equal(picture.metadata.orientation, 6);
        assert_int_equal(picture.metadata.losses, 0);
        assert_int_equal(picture.metadata.chunk[0].data.size, WEBP_PROFILE);
        struct image before = fixture_decode(buf_bytes(&file), false);
        struct image after = fixture_decode(buf_bytes(&kept), false);
        assert_true(kind < 2 || fixture_difference(&before, &after) == 0);
        fixture_image_free(&after);
        fixture_image_free(&before);
        buf_finish(&kept);
        buf_finish(&file);
    }
}

static void test_what_goes(void **state) {
    (void)state;
    struct buf file = webp_tagged(PIXEL_RGB, false, ICC | EXIF | XMP, false);
    struct buf kept = reencoded(buf_bytes(&file), CODEC_WEBP, false, true, false);
    assert_int_equal(flags_of(&kept), ICC);
    assert_false(fixture_contains(buf_bytes(&kept), "CAMERA"));
    assert_false(fixture_contains(buf_bytes(&kept), "XMPTEXT"));
    assert_int_equal(losses, 0);
    buf_finish(&kept);
    kept = reencoded(buf_bytes(&file), CODEC_WEBP, true, true, false);
    assert_int_equal(fixture_probe(buf_bytes(&kept)).metadata.orientation, 1);
    buf_finish(&kept);
    buf_finish(&file);
    /* Without anything to write the file is libwebp's own. */
    file = webp_tagged(PIXEL_RGB, false, 0, false);
    kept = reencoded(buf_bytes(&file), CODEC_WEBP, true, true, false);
    assert_int_equal(place_of(&kept, "VP8 "), 12);
    assert_int_equal(losses, LOSS_COLOUR | LOSS_EXIF | LOSS_XMP);
    buf_finish(&kept);
    buf_finish(&file);
}

static void test_other_formats(void **state) {
    (void)state;
    struct buf webp = webp_tagged(PIXEL_RGB, false, ICC | EXIF | XMP, true);
    for (enum codec_id id = CODEC_JPEG; id <= CODEC_PNG; id++) {
        struct buf other = reencoded(buf_bytes(&webp), id, true, false, false);
        struct buf back = reencoded(buf_bytes(&other), CODEC_WEBP, true, false, false);
        const struct buf *both[] = {&other, &back};
        for (unsigned i = 0; i < 2; i++) {
            struct picture picture = fixture_probe(buf_bytes(both[i]));
            assert_int_equal(picture.metadata.orientation, 6);
            assert_true(fixture_contains(buf_bytes(both[i]), "CAMERA"));
            assert_true(fixture_contains(buf_bytes(both[i]), "XMPTEXT"));
            assert_int_equal(picture.metadata.chunk_count, 1);
        }
        assert_int_equal(flags_of(&back), ICC | EXIF | XMP);
        buf_finish(&back);
        buf_finish(&other);
    }
    buf_finish(&webp);
}

static struct buf with_metadata(enum pixel_model model, const struct metadata *metadata) {
    struct image image = fixture_painted(fixture_shape(model, 8, WEBP_SIDE, WEBP_SIDE));
    losses = 0;
    struct encode_options options = {.quality = 85, .keep_metadata = true, .losses = &losses};
    struct buf file = fixture_encode(CODEC_WEBP, &image, &options, metadata);
    fixture_image_free(&image);
    return file;
}

static void test_the_resolution_is_in_exif(void **state) {
    (void)state;
    struct metadata metadata = {.orientation = 1, .density = {300, 150, 1, DENSITY_INCH}};
    struct buf file = with_metadata(PIXEL_RGB, &metadata);
    struct picture picture = fixture_probe(buf_bytes(&file));
    const struct density density = exif_density(picture.metadata.exif);
    assert_memory_equal(&density, &metadata.density, sizeof density);
    assert_int_equal(picture.metadata.orientation, 1);
    assert_int_equal(losses, 0);
    buf_finish(&file);
    metadata.density = (struct density){4, 3, 1, DENSITY_ASPECT};
    file = with_metadata(PIXEL_RGB, &metadata);
    assert_int_equal(flags_of(&file), 0);
    assert_int_equal(losses, LOSS_RESOLUTION);
    buf_finish(&file);
}

static void test_what_has_no_place(void **state) {
    (void)state;
    static const struct {
        enum chunk_kind kind;
        unsigned loss;
    } cases[] = {{CHUNK_COMMENT, LOSS_TEXT},
                 {CHUNK_TEXT, LOSS_TEXT},
                 {CHUNK_TEXT_DEFLATED, LOSS_TEXT},
                 {CHUNK_TEXT_INTERNATIONAL, LOSS_TEXT},
                 {CHUNK_TIME, LOSS_OTHER}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct metadata metadata = {.orientation = 1, .chunk_count = 1};
        metadata.chunk[0].kind = cases[i].kind;
        metadata.chunk[0].data = (struct bytes){(const uint8_t *)"Title\0words", 11};
        struct buf file = with_metadata(PIXEL_RGB, &metadata);
        assert_int_equal(losses, cases[i].loss);
        assert_int_equal(flags_of(&file), 0);
        buf_finish(&file);
    }
}

/* WebP stores RGB in any case: a profile for grey becomes one for RGB, and one for inks is lost. */
static void test_profiles_match_the_colours(void **state) {
    (void)state;
    static const char spaces[][5] = {"RGB ", "GRAY", "CMYK"};
    uint8_t profile[WEBP_PROFILE];
    struct metadata metadata = {.orientation = 1, .chunk_count = 1};
    metadata.chunk[0].kind = CHUNK_ICC;
    metadata.chunk[0].data = (struct bytes){profile, sizeof profile};
    for (int i = 0; i < 3; i++) {
        webp_profile(profile, spaces[i]);
        struct buf file = with_metadata(i == 1 ? PIXEL_GRAY : PIXEL_RGB, &metadata);
        assert_int_equal(flags_of(&file), i < 2 ? ICC : 0);
        assert_int_equal(fixture_contains(buf_bytes(&file), "mntrRGB XYZ "), i < 2);
        assert_int_equal(losses, i < 2 ? 0 : LOSS_COLOUR);
        buf_finish(&file);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_stays),        cmocka_unit_test(test_what_goes),
        cmocka_unit_test(test_other_formats),     cmocka_unit_test(test_the_resolution_is_in_exif),
        cmocka_unit_test(test_what_has_no_place), cmocka_unit_test(test_profiles_match_the_colours),
    };
    if (!codec_decodes(CODEC_WEBP)) {
        puts("built without libwebp");
        return NOT_BUILT;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
