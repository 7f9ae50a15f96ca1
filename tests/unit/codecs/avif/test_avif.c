/* SPDX-License-Identifier: MIT
 * AVIF by libavif, in this process. */
#include "codecs/metadata/losses.h"
#include "core/clock.h"
#include "tests/unit/codecs/avif/avif_fixture.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"

#include <stdio.h>

enum { CICP = 0x63494350 };

static const uint32_t sizes[][2] = {{1, 1}, {1, 40}, {40, 1}, {17, 33}, {129, 65}};

/* ---- pixels ---- */

static unsigned tolerance(enum pixel_model model, unsigned depth) {
    bool gray = model == PIXEL_GRAY || model == PIXEL_GRAY_ALPHA;
    if (depth == 8) {
        return gray ? 0 : 3; /* the quantizer of quality 100 is lossless; YCbCr is rounded */
    }
    return gray ? 33 : 160; /* 10 bits: steps of 64 */
}

static void test_round_trips(void **state) {
    (void)state;
    const struct encode_options options = best(SUBSAMPLING_444);
    for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
        for (unsigned depth = 8; depth <= 16; depth += 8) {
            for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
                struct image image =
                    fixture_painted(fixture_shape((enum pixel_model)model, depth, sizes[s][0], sizes[s][1]));
                struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
                struct image back = fixture_decode(buf_bytes(&file), false);
                assert_true(fixture_difference(&image, &back) <= tolerance((enum pixel_model)model, depth));
                fixture_image_free(&back);
                fixture_image_free(&image);
                buf_finish(&file);
            }
        }
    }
}

static void test_planes_stay_as_they_are(void **state) {
    (void)state;
    static const uint8_t shifts[][2] = {
        [SUBSAMPLING_420] = {1, 1}, [SUBSAMPLING_422] = {1, 0}, [SUBSAMPLING_444] = {0, 0}};
    for (int subsampling = SUBSAMPLING_420; subsampling <= SUBSAMPLING_444; subsampling++) {
        struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 71, 45));
        struct encode_options options = best((enum subsampling)subsampling);
        struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.native.model, PIXEL_YCBCR);
        assert_int_equal(picture.native.chroma_shift_x, shifts[subsampling][0]);
        assert_int_equal(picture.native.chroma_shift_y, shifts[subsampling][1]);
        struct image planes = fixture_decode(buf_bytes(&file), true);
        struct buf again = fixture_encode(CODEC_AVIF, &planes, &options, &picture.metadata);
        struct image back = fixture_decode(buf_bytes(&again), true);
        assert_int_equal(fixture_difference(&planes, &back), 0);
        fixture_image_free(&back);
        fixture_image_free(&planes);
        fixture_image_free(&image);
        buf_finish(&again);
        buf_finish(&file);
        codec_picture_finish(&picture);
    }
}

static void test_quality_and_effort(void **state) {
    (void)state;
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 200, 120));
    size_t previous = 0;
    for (uint8_t quality = 1; quality <= 100; quality = (uint8_t)(quality + 33)) {
        struct encode_options options = {.quality = quality};
        struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
        assert_true(file.size > previous);
        previous = file.size;
        buf_finish(&file);
    }
    for (uint8_t effort = 0; effort <= 9; effort++) {
        struct encode_options options = {.quality = 50, .effort = effort};
        struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
        struct image back = fixture_decode(buf_bytes(&file), false);
        fixture_image_free(&back);
        buf_finish(&file);
    }
    fixture_image_free(&image);
}

/* ---- metadata ---- */

static struct buf with_metadata(const struct encode_options *options, struct metadata *metadata) {
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 40, 24));
    struct buf file = fixture_encode(CODEC_AVIF, &image, options, metadata);
    fixture_image_free(&image);
    return file;
}

static void test_metadata_stay_or_go(void **state) {
    (void)state;
    static const char packet[] =
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
        "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        "<rdf:Description rdf:about='' xmlns:dc='http://purl.org/dc/elements/1.1/'><dc:source>PACKET"
        "</dc:source></rdf:Description></rdf:RDF></x:xmpmeta>";
    struct exif_fixture exif = exif_make(true, 1);
    uint8_t profile[400];
    icc_make(profile, sizeof(profile), "RGB ");
    struct metadata metadata = {.orientation = 1,
                                .exif = {exif.data, sizeof(exif.data)},
                                .xmp = {(const uint8_t *)packet, sizeof(packet) - 1},
                                .chunk_count = 2,
                                .chunk = {{CHUNK_ICC, 0, {profile, sizeof(profile)}},
                                          {CHUNK_COMMENT, 0, {(const uint8_t *)"hi", 2}}}};
    for (int keep = 0; keep <= 1; keep++) {
        unsigned losses = 0;
        struct encode_options options = {.quality = 50, .keep_metadata = keep, .losses = &losses};
        struct buf file = with_metadata(&options, &metadata);
        assert_int_equal(fixture_contains(buf_bytes(&file), "CAMERA"), keep);
        assert_int_equal(fixture_contains(buf_bytes(&file), "PACKET"), keep);
        assert_true(fixture_contains(buf_bytes(&file), "PROFILE"));
        assert_false(fixture_contains(buf_bytes(&file), "STRAY"));
        assert_int_equal(losses & (LOSS_TEXT | LOSS_COLOUR), keep ? LOSS_TEXT : 0);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.exif.size > 0, keep);
        assert_int_equal(picture.metadata.xmp.size > 0, keep);
        assert_int_equal(picture.metadata.chunk[0].kind, CHUNK_ICC);
        assert_memory_equal(picture.metadata.chunk[0].data.data, profile, sizeof(profile));
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
}

static void test_colour_code_stays(void **state) {
    (void)state;
    static const uint8_t code[4] = {9, 16, 9, 0};
    struct metadata metadata = {
        .orientation = 1, .chunk_count = 1, .chunk = {{CHUNK_COLOUR, CICP, {code, sizeof(code)}}}};
    struct encode_options options = best(SUBSAMPLING_420);
    struct image image = fixture_painted((struct image_shape){
        PIXEL_YCBCR, 8, .chroma_shift_x = 1, .chroma_shift_y = 1, .width = 32, .height = 32});
    struct buf file = fixture_encode(CODEC_AVIF, &image, &options, &metadata);
    struct picture picture = fixture_probe(buf_bytes(&file));
    assert_int_equal(picture.metadata.chunk_count, 1);
    assert_memory_equal(picture.metadata.chunk[0].data.data, code, sizeof(code));
    /* A PNG holds RGB of the full range. */
    struct image rgb = fixture_decode(buf_bytes(&file), false);
    struct buf png = fixture_encode(CODEC_PNG, &rgb, &options, &picture.metadata);
    assert_non_null(memmem(png.data, png.size, "cICP\x09\x10\0\1", 8));
    fixture_image_free(&rgb);
    fixture_image_free(&image);
    buf_finish(&png);
    buf_finish(&file);
    codec_picture_finish(&picture);
}

/* EXIF's numbers for a rotation by quarters anticlockwise, and then the mirror: none, upside down, sideways.
 */
static const uint8_t orientations[4][3] = {{1, 4, 2}, {8, 5, 7}, {3, 2, 4}, {6, 7, 5}};

static void test_orientations_are_read(void **state) {
    (void)state;
    struct exif_fixture exif = exif_make(true, 6);
    struct metadata metadata = {.orientation = 5, .exif = {exif.data, sizeof(exif.data)}};
    struct encode_options options = {.quality = 50, .keep_metadata = true};
    struct buf file = with_metadata(&options, &metadata);
    for (uint8_t quarters = 0; quarters < 4; quarters++) {
        for (uint8_t mirror = 0; mirror < 2; mirror++) {
            *find_box(&file, "irot") = quarters;
            *find_box(&file, "imir") = mirror;
            struct picture picture = fixture_probe(buf_bytes(&file));
            assert_int_equal(picture.metadata.orientation, orientations[quarters][1 + mirror]);
            /* The EXIF that goes on says the same. */
            struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 16, 16));
            struct buf jpeg = fixture_encode(CODEC_JPEG, &image, &options, &picture.metadata);
            struct picture written = fixture_probe(buf_bytes(&jpeg));
            assert_int_equal(written.metadata.orientation, picture.metadata.orientation);
            codec_picture_finish(&written);
            codec_picture_finish(&picture);
            fixture_image_free(&image);
            buf_finish(&jpeg);
        }
    }
    buf_finish(&file);
}

static void test_orientations_are_written(void **state) {
    (void)state;
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        struct metadata metadata = {.orientation = orientation};
        struct encode_options options = {.quality = 50, .keep_metadata = true};
        struct buf file = with_metadata(&options, &metadata);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.orientation, orientation);
        codec_picture_finish(&picture);
        buf_finish(&file);
        options.upright = true;
        file = with_metadata(&options, &metadata);
        assert_null(find_box(&file, "irot"));
        assert_null(find_box(&file, "imir"));
        buf_finish(&file);
    }
}

/* ---- failures ---- */

static struct buf plain_file(void) {
    struct encode_options options = {.quality = 50, .keep_metadata = true};
    return with_metadata(&options, &(struct metadata){.orientation = 6});
}

static void test_cut_files(void **state) {
    (void)state;
    struct buf file = plain_file();
    fixture_try_cut(buf_bytes(&file), 64);
    buf_finish(&file);
}

static void test_damaged_files(void **state) {
    (void)state;
    struct buf file = plain_file();
    fixture_try_damaged(&file, 12);
    buf_finish(&file);
}

static void test_size_limits_come_first(void **state) {
    (void)state;
    struct buf file = plain_file();
    struct codec_limits limits = fixture_limits();
    struct picture picture;
    struct error err = {0};
    limits.max_pixels = 40 * 24 - 1;
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "40 x 24 = 960 pixels"));
    limits = fixture_limits();
    limits.max_side = 39;
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_LIMIT);
    limits = fixture_limits();
    bytes_put_be32(find_box(&file, "ispe") + 4, 60000); /* over the limit of libavif itself */
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_LIMIT);
    buf_finish(&file);
}

static void test_deadlines(void **state) {
    (void)state;
    struct buf file = plain_file(), output;
    struct codec_limits limits = fixture_limits();
    struct error err;
    limits.deadline_ns = 1;
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_LIMIT);
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 16, 16));
    struct encode_options options = {.quality = 50, .deadline_ns = 1};
    buf_init(&output, 1 << 20);
    assert_int_equal(codec_encode(CODEC_AVIF, &image, &options, NULL, &output, &err), ST_LIMIT);
    buf_finish(&output);
    /* A lower effort meets the deadline: the highest takes seconds for this picture. */
    struct image large = fixture_painted(fixture_shape(PIXEL_RGB, 8, 1024, 1024));
    options = (struct encode_options){.quality = 50, .effort = 9, .deadline_ns = clock_ns() + 3000000000};
    output = fixture_encode(CODEC_AVIF, &large, &options, NULL);
    buf_finish(&output);
    fixture_image_free(&large);
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_wrong_subsampling_in_the_container(void **state) {
    (void)state;
    enum { FLAGS = 2, HALVED_WIDTH = 8 };
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 33, 21));
    struct encode_options options = best(SUBSAMPLING_422);
    struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
    struct image before = fixture_decode(buf_bytes(&file), true);
    find_box(&file, "av1C")[FLAGS] &= (uint8_t)~HALVED_WIDTH;
    struct image after = fixture_decode(buf_bytes(&file), true);
    assert_int_equal(after.plane[1].width, 17);
    assert_int_equal(fixture_difference(&before, &after), 0);
    fixture_image_free(&before);
    fixture_image_free(&after);
    fixture_image_free(&image);
    buf_finish(&file);
}

/* A decoder makes no planes of chroma then. */
static void test_grey_data_in_a_container_for_colours(void **state) {
    (void)state;
    enum { FLAGS = 2, GREY = 16, HALVED_WIDTH = 8, PROFILE_422 = 2 << 5 };
    struct image image = fixture_painted(fixture_shape(PIXEL_GRAY, 8, 40, 24));
    struct encode_options options = best(SUBSAMPLING_AUTO);
    struct buf file = fixture_encode(CODEC_AVIF, &image, &options, NULL);
    struct codec_limits limits = fixture_limits();
    struct error err;
    uint8_t *flags = find_box(&file, "av1C") + FLAGS, *data = find_box(&file, "mdat");
    data += memcmp(data, "\x12\0", 2) == 0 ? 2 : 0; /* the mark of a frame's begin may come first */
    assert_int_equal(data[0], 0x0A); /* the sequence header, whose first bits are the profile */
    data[2] |= PROFILE_422;
    *flags = (uint8_t)((*flags & ~GREY) | HALVED_WIDTH);
    assert_int_equal(fixture_try(buf_bytes(&file), &limits, &err), ST_CORRUPT);
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_full_output(void **state) {
    (void)state;
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 64, 64));
    struct encode_options options = {.quality = 90};
    struct error err = {0};
    struct buf output;
    buf_init(&output, 100);
    assert_int_equal(codec_encode(CODEC_AVIF, &image, &options, NULL, &output, &err), ST_LIMIT);
    buf_finish(&output);
    fixture_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_planes_stay_as_they_are),
        cmocka_unit_test(test_quality_and_effort),
        cmocka_unit_test(test_metadata_stay_or_go),
        cmocka_unit_test(test_colour_code_stays),
        cmocka_unit_test(test_orientations_are_read),
        cmocka_unit_test(test_orientations_are_written),
        cmocka_unit_test(test_cut_files),
        cmocka_unit_test(test_damaged_files),
        cmocka_unit_test(test_size_limits_come_first),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_wrong_subsampling_in_the_container),
        cmocka_unit_test(test_grey_data_in_a_container_for_colours),
        cmocka_unit_test(test_full_output),
    };
    if (!codec_decodes(CODEC_AVIF)) {
        printf("this build has no AVIF\n");
        return SKIPPED;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
