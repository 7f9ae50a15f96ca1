/* SPDX-License-Identifier: MIT
 * A JPEG that libjpeg writes without metadata stands for that of the other encoder. With the metadata spliced
 * in, it must equal the JPEG that our encoder writes with them. */
#include "codecs/jpeg/jpeg_markers.h"
#include "tests/unit/codecs/jpeg/jpeg_splice_fixture.h"
#include "tests/unit/codecs/metadata/exif_fixture.h"
#include "tests/unit/codecs/metadata/icc_fixture.h"

/* ---- carried metadata ---- */

enum { PART = 60000 };

static void add_profile(struct buf *file, size_t size, bool gray) {
    uint8_t *icc = calloc(1, size + 128);
    assert_non_null(icc);
    icc_make(icc, size, gray ? "GRAY" : "RGB ");
    uint8_t *segment = malloc(14 + PART);
    size_t count = (size + PART - 1) / PART;
    for (size_t i = 0; i < count; i++) {
        size_t part = size - i * PART < PART ? size - i * PART : PART;
        memcpy(segment, "ICC_PROFILE", 12);
        segment[12] = (uint8_t)(i + 1);
        segment[13] = (uint8_t)count;
        memcpy(segment + 14, icc + i * PART, part);
        fixture_segment(file, 0xE2, segment, 14 + part);
    }
    free(segment);
    free(icc);
}

/* A file with every kind of metadata; a profile of no bytes is none. */
static struct buf tagged_file(size_t profile, bool gray) {
    static const char xmp[] =
        "http://ns.adobe.com/xap/1.0/\0<r:RDF xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>"
        "<r:Description xmlns:t='http://ns.adobe.com/tiff/1.0/' t:Orientation='6' "
        "t:Artist='PAINTER'/></r:RDF>";
    static const uint8_t jfif[] = {'J', 'F', 'I', 'F', 0, 1, 1, 1, 0, 72, 0, 72, 0, 0};
    struct buf file = bare_file(planar_shape(1, 1));
    struct exif_fixture exif = exif_make(true, 6);
    uint8_t segment[6 + EXIF_FIXTURE_SIZE] = "Exif";
    memcpy(segment + 6, exif.data, EXIF_FIXTURE_SIZE);
    fixture_segment(&file, 0xFE, "COMMENT", 7);
    fixture_segment(&file, 0xE1, xmp, sizeof(xmp) - 1);
    fixture_segment(&file, 0xFE, "", 0);
    fixture_segment(&file, 0xED, "Photoshop 3.0\0008BIM\4\4\0\0\0\0\0\x0C\x1C\2\x50\0\7WRITER", 14 + 12 + 11);
    fixture_segment(&file, 0xE0, jfif, sizeof(jfif));
    if (profile > 0) {
        add_profile(&file, profile, gray);
    }
    fixture_segment(&file, 0xE1, segment, sizeof(segment));
    return file;
}

/* Also appends to a buffer that is not empty. Returns the JPEG of our encoder. */
static struct buf assert_spliced_alike(struct image_shape shape, const struct encode_options *options,
                                       const struct metadata *metadata) {
    struct buf wanted = encode(shape, options, metadata);
    struct buf bare = bare_file(shape);
    struct buf output;
    struct error err;
    buf_init(&output, 64 << 20);
    assert_int_equal(buf_append(&output, "before", 6, &err), ST_OK);
    assert_int_equal(splice(buf_bytes(&bare), shape, options, metadata, &output, &err), ST_OK);
    assert_memory_equal(output.data, "before", 6);
    assert_same((struct bytes){output.data + 6, output.size - 6}, buf_bytes(&wanted));
    buf_finish(&output);
    buf_finish(&bare);
    return wanted;
}

static void assert_alike_in_all_modes(struct image_shape shape, const struct metadata *metadata,
                                      bool profile) {
    for (unsigned mode = 0; mode < 4; mode++) {
        struct encode_options options = fixture_options();
        options.keep_metadata = mode & 1;
        options.upright = mode & 2;
        struct buf wanted = assert_spliced_alike(shape, &options, metadata);
        assert_int_equal(fixture_contains(buf_bytes(&wanted), "LATITUDE"), options.keep_metadata);
        assert_int_equal(fixture_contains(buf_bytes(&wanted), "COMMENT"), options.keep_metadata);
        assert_int_equal(fixture_contains(buf_bytes(&wanted), "PAINTER"), options.keep_metadata);
        assert_int_equal(fixture_contains(buf_bytes(&wanted), "acsp"), profile);
        static const uint8_t inches[] = {1, 0, 72, 0, 72};
        assert_int_equal(memcmp(wanted.data + 13, inches, sizeof(inches)) == 0, options.keep_metadata);
        unsigned orientation = options.keep_metadata && !options.upright ? 6 : 1;
        assert_int_equal(fixture_probe(buf_bytes(&wanted)).metadata.orientation, orientation);
        buf_finish(&wanted);
    }
}

static void test_same_as_our_encoder(void **state) {
    (void)state;
    const struct image_shape shapes[] = {fixture_shape(PIXEL_GRAY, 8, 40, 30),
                                         planar_shape(0, 0),
                                         planar_shape(1, 0),
                                         planar_shape(0, 1),
                                         planar_shape(1, 1),
                                         planar_shape(2, 0)};
    static const size_t profiles[] = {0, 400, 65519, 65520, 3 * PART};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (size_t k = 0; k < sizeof profiles / sizeof *profiles; k++) {
            struct buf file = tagged_file(profiles[k], shapes[i].model == PIXEL_GRAY);
            struct picture picture = fixture_probe(buf_bytes(&file));
            assert_alike_in_all_modes(shapes[i], &picture.metadata, profiles[k] > 0);
            buf_finish(&file);
        }
    }
}

/* It becomes one for grey. */
static void test_profile_of_another_model(void **state) {
    (void)state;
    struct buf file = tagged_file(400, false);
    struct picture picture = fixture_probe(buf_bytes(&file));
    assert_alike_in_all_modes(fixture_shape(PIXEL_GRAY, 8, 40, 30), &picture.metadata, true);
    buf_finish(&file);
}

static void test_metadata_of_a_png(void **state) {
    (void)state;
    struct buf file = tagged_file(3 * PART, false);
    struct picture picture = fixture_probe(buf_bytes(&file));
    struct encode_options options = {.effort = 1, .keep_metadata = true};
    struct image image = fixture_painted(fixture_shape(PIXEL_RGB, 8, 40, 30));
    struct buf png = fixture_encode(CODEC_PNG, &image, &options, &picture.metadata);
    struct picture other = fixture_probe(buf_bytes(&png));
    assert_int_equal(other.codec, CODEC_PNG);
    assert_alike_in_all_modes(planar_shape(1, 1), &other.metadata, true);
    buf_finish(&png);
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_no_metadata(void **state) {
    (void)state;
    struct encode_options options = fixture_options();
    options.keep_metadata = true;
    struct buf wanted = assert_spliced_alike(planar_shape(1, 1), &options, NULL);
    buf_finish(&wanted);
}

/* ---- segments of the encoder itself ---- */

static void test_head_is_made_alike(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    struct buf wanted = bare_file(shape), file = bare_file(shape);
    cut_out(&file, 2, 18); /* JFIF */
    assert_becomes(buf_bytes(&file), shape, buf_bytes(&wanted));
    fixture_segment(&file, 0xE0, "JFXX\0\0\0\0\0\0\0\0\0\0", 14);
    fixture_segment(&file, 0xE0, "JFIF", 5); /* too short to be one */
    fixture_insert(&file, marker_at(buf_bytes(&file), 0xDA), "\xFF\xFE\0\4me\xFF\xEF\0\2", 10);
    fixture_insert(&file, marker_at(buf_bytes(&file), 0xC0), "\xFF\xEE\0\7Adobe", 9);
    assert_becomes(buf_bytes(&file), shape, buf_bytes(&wanted));
    buf_finish(&file);
    buf_finish(&wanted);
}

static void test_the_encoder_s_jfif_header_goes(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    struct buf wanted = bare_file(shape), file = bare_file(shape);
    file.data[12] = 2; /* version 1.2 */
    file.data[13] = 1; /* pixels per inch */
    file.data[15] = 72;
    fixture_segment(&file, 0xFE, "", 0);
    assert_becomes(buf_bytes(&file), shape, buf_bytes(&wanted));
    buf_finish(&file);
    buf_finish(&wanted);
}

/* A patched JPEG has the version of its source, where the last header counts. */
static void test_version_of_jfif(void **state) {
    (void)state;
    static const uint8_t versions[][3] = {{1, 2, 2}, {1, 0, 0}, {2, 7, 1}, {1, 255, 255}};
    const struct encode_options options = fixture_options();
    struct image_shape shape = planar_shape(1, 1);
    struct buf file = bare_file(shape), output;
    struct bytes scans;
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        struct metadata found = {0};
        struct jpeg_frame frame;
        memcpy(file.data + 11, versions[i], 2);
        fixture_segment(&file, 0xE0, "JFIF\0\1\5\0\0\1\0\1\0\0", 14); /* before the other */
        assert_int_equal(jpeg_read_head(buf_bytes(&file), &frame, &found, NULL), ST_OK);
        assert_int_equal(found.jfif_minor, versions[i][2]);
        cut_out(&file, 2, 18);
        buf_init(&output, 1 << 20);
        assert_int_equal(
            jpeg_splice(buf_bytes(&file), &shape, found.jfif_minor, &options, NULL, &output, &scans, NULL),
            ST_OK);
        assert_ptr_equal(scans.data, file.data + marker_at(buf_bytes(&file), 0xDA));
        assert_ptr_equal(scans.data + scans.size, file.data + file.size);
        assert_int_equal(output.data[11], 1);
        assert_int_equal(output.data[12], versions[i][2]);
        buf_finish(&output);
    }
    buf_finish(&file);
}

static void test_sampling_of_grey_is_free(void **state) {
    (void)state;
    struct image_shape shape = fixture_shape(PIXEL_GRAY, 8, 40, 30);
    struct buf file = bare_file(shape);
    file.data[marker_at(buf_bytes(&file), 0xC0) + 11] = 0x22;
    assert_becomes(buf_bytes(&file), shape, buf_bytes(&file));
    buf_finish(&file);
}

static void test_room(void **state) {
    (void)state;
    struct image_shape shape = planar_shape(1, 1);
    struct encode_options options = fixture_options();
    options.keep_metadata = true;
    struct buf tagged = tagged_file(400, false), bare = bare_file(shape);
    struct picture picture = fixture_probe(buf_bytes(&tagged));
    struct buf wanted = encode(shape, &options, &picture.metadata);
    size_t head = marker_at(buf_bytes(&wanted), 0xDA);
    uint8_t *memory = malloc(head);
    struct bytes scans;
    struct buf output;
    struct error err;
    for (size_t size = 0; size <= head; size += size < head - 60 ? 47 : 1) {
        buf_init_fixed(&output, memory, size);
        assert_int_equal(jpeg_splice(buf_bytes(&bare), &shape, JPEG_SPLICE_MINOR, &options, &picture.metadata,
                                     &output, &scans, &err),
                         size < head ? ST_LIMIT : ST_OK);
        assert_int_equal(output.size, size < head ? 0 : head);
    }
    assert_memory_equal(memory, wanted.data, head);
    assert_same(scans, (struct bytes){wanted.data + head, wanted.size - head});
    free(memory);
    buf_finish(&wanted);
    buf_finish(&bare);
    buf_finish(&tagged);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_as_our_encoder),
        cmocka_unit_test(test_profile_of_another_model),
        cmocka_unit_test(test_metadata_of_a_png),
        cmocka_unit_test(test_no_metadata),
        cmocka_unit_test(test_head_is_made_alike),
        cmocka_unit_test(test_the_encoder_s_jfif_header_goes),
        cmocka_unit_test(test_version_of_jfif),
        cmocka_unit_test(test_sampling_of_grey_is_free),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
