/* SPDX-License-Identifier: MIT
 * The chunks of WebP files: sizes, animations, metadata. */
#include <stdio.h>

#include "codecs/metadata/exif.h"
#include "codecs/metadata/losses.h"
#include "tests/unit/codecs/webp/webp_fixture.h"

enum { NOT_BUILT = 77 };

static enum status try_frame(struct bytes input, bool first_frame, struct error *err) {
    struct codec_limits limits = fixture_limits();
    limits.first_frame = first_frame;
    return fixture_try(input, &limits, err);
}

static enum status try_file(const struct buf *file, struct error *err) {
    return try_frame(buf_bytes(file), false, err);
}

static void refuse(const struct buf *file, enum status status, const char *words) {
    struct error err;
    assert_int_equal(try_frame(buf_bytes(file), true, &err), status);
    if (!strstr(err.text, words)) {
        fail_msg("\"%s\" does not say \"%s\"", err.text, words);
    }
}

/* ---- sizes ---- */

static void test_truncation_is_corrupt(void **state) {
    (void)state;
    for (int kind = 0; kind < 6; kind++) {
        enum pixel_model model = kind % 2 ? PIXEL_RGBA : PIXEL_RGB;
        struct buf file = kind < 4
                              ? webp_picture(fixture_shape(model, 8, WEBP_SIDE, WEBP_SIDE), kind >= 2)
                              : webp_tagged(model, false, ICC | EXIF | XMP | (kind % 2 ? ALPHA : 0), true);
        struct error err;
        assert_int_equal(try_file(&file, &err), ST_OK);
        for (size_t size = 0; size < file.size; size++) {
            uint8_t *exact = malloc(size ? size : 1); /* so that a sanitizer sees reads outside */
            memcpy(exact, file.data, size);
            assert_int_equal(try_frame((struct bytes){exact, size}, false, &err), ST_CORRUPT);
            assert_non_null(strstr(err.text, size ? "cut short" : "empty"));
            free(exact);
        }
        buf_finish(&file);
    }
}

/* The file says that it is as short as it is, and its picture as well: libwebp finds that pixels are missing.
 */
static void test_pixels_are_not_invented(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct buf file =
            webp_picture(fixture_shape(kind % 2 ? PIXEL_RGBA : PIXEL_RGB, 8, 64, 64), kind >= 2);
        struct image whole = fixture_decode(buf_bytes(&file), false);
        size_t start =
            kind == 1 ? (size_t)((uint8_t *)memmem(file.data, file.size, "VP8 ", 4) - file.data) : 12;
        for (size_t size = start + 20; size < file.size; size++) {
            struct error err = {0};
            struct codec_limits limits = fixture_limits();
            struct picture picture;
            webp_number(file.data + 4, (uint32_t)size - 8, 4);
            webp_number(file.data + start + 4, (uint32_t)(size - start - 8), 4);
            struct bytes cut = {file.data, size};
            struct image image = fixture_image(image_shape(&whole));
            enum status status = codec_probe(cut, &limits, &picture, &err);
            status = status == ST_OK ? codec_decode(cut, &picture, &limits, &image, &err) : status;
            assert_true(status == ST_CORRUPT || (status == ST_OK && fixture_difference(&image, &whole) == 0));
            fixture_image_free(&image);
        }
        fixture_image_free(&whole);
        buf_finish(&file);
    }
}

static void test_lying_lengths(void **state) {
    (void)state;
    static const uint32_t lies[] = {0, 1, 3, 9, 0x7FFFFFFE, 0x7FFFFFFF, 0xFFFFFFF6, 0xFFFFFFFF};
    struct buf file = webp_tagged(PIXEL_RGBA, false, ICC | EXIF | XMP | ALPHA, false);
    size_t position = 12;
    struct error err;
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        struct buf copy = webp_start();
        assert_int_equal(buf_append(&copy, file.data + 12, file.size - 12, NULL), ST_OK);
        webp_number(copy.data + 4, lies[i], 4);
        assert_int_equal(try_file(&copy, &err), ST_CORRUPT);
        buf_finish(&copy);
    }
    while (position < file.size) {
        uint32_t size = (uint32_t)file.data[position + 4] | (uint32_t)file.data[position + 5] << 8;
        bool needed = memcmp(file.data + position, "EXIF", 4) && memcmp(file.data + position, "XMP ", 4);
        for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
            webp_number(file.data + position + 4, lies[i], 4);
            enum status status = try_file(&file, &err);
            assert_true(status == ST_CORRUPT || (status == ST_OK && (!needed || lies[i] < size)));
        }
        webp_number(file.data + position + 4, size, 4);
        position += 8 + size + (size & 1);
    }
    assert_int_equal(try_file(&file, &err), ST_OK);
    buf_finish(&file);
}

static void test_what_may_follow(void **state) {
    (void)state;
    struct buf file = webp_picture(fixture_shape(PIXEL_RGB, 8, WEBP_SIDE, WEBP_SIDE), false);
    struct error err;
    assert_int_equal(buf_append(&file, "garbage", 7, NULL), ST_OK);
    assert_int_equal(try_file(&file, &err), ST_OK);
    assert_int_equal(fixture_probe(buf_bytes(&file)).metadata.losses, 0);
    buf_finish(&file);
}

static void test_headers_that_contradict(void **state) {
    (void)state;
    struct buf picture = webp_picture(fixture_shape(PIXEL_RGB, 8, WEBP_SIDE, WEBP_SIDE), true),
               file = webp_start();
    webp_extended(&file, 0, WEBP_SIDE + 1, WEBP_SIDE);
    webp_picture_chunks(&file, &picture);
    webp_finish(&file);
    refuse(&file, ST_CORRUPT, "25 x 24");
    buf_finish(&file);
    file = webp_start();
    webp_chunk(&file, "VP8X", "\0\0\0\0\0", 5);
    webp_picture_chunks(&file, &picture);
    webp_finish(&file);
    refuse(&file, ST_CORRUPT, "VP8X");
    buf_finish(&file);
    file = webp_start();
    webp_extended(&file, 0, WEBP_SIDE, WEBP_SIDE);
    webp_finish(&file);
    refuse(&file, ST_CORRUPT, "no picture");
    buf_finish(&file);
    file = webp_start();
    webp_chunk(&file, "VP8L", "\x2F\0\0\0\x20", 5); /* version 1 */
    webp_finish(&file);
    refuse(&file, ST_CORRUPT, "damaged header");
    buf_finish(&file);
    file = webp_start();
    for (unsigned i = 0; i <= 10000; i++) {
        webp_chunk(&file, "JUNK", "", 0);
    }
    webp_picture_chunks(&file, &picture);
    webp_finish(&file);
    refuse(&file, ST_LIMIT, "10000 chunks");
    buf_finish(&file);
    buf_finish(&picture);
}

/* ---- animations ---- */

static struct buf animation(unsigned frames, uint32_t left, uint32_t top, uint32_t stated_width,
                            bool lossless) {
    struct buf picture = webp_picture(fixture_shape(PIXEL_RGB, 8, WEBP_SIDE, WEBP_SIDE), lossless),
               file = webp_start();
    webp_extended(&file, ANIMATION, 40, 30);
    webp_chunk(&file, "ANIM", "\xFF\xFF\xFF\xFF\0\0", 6);
    for (unsigned i = 0; i < frames; i++) {
        webp_frame(&file, &picture, left, top, stated_width, WEBP_SIDE);
    }
    webp_finish(&file);
    buf_finish(&picture);
    return file;
}

static void test_the_first_frame(void **state) {
    (void)state;
    struct codec_limits limits = fixture_limits();
    struct buf file = animation(3, 10, 4, WEBP_SIDE, true);
    struct picture picture;
    struct error err = {0};
    assert_int_equal(try_file(&file, &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "page=0"));
    limits.first_frame = true;
    assert_int_equal(codec_probe(buf_bytes(&file), &limits, &picture, &err), ST_OK);
    assert_int_equal(picture.native.model, PIXEL_RGBA);
    assert_int_equal(picture.native.width, 40);
    assert_int_equal(picture.native.height, 30);
    struct image image = fixture_image(picture.native);
    struct image painted = fixture_painted(fixture_shape(PIXEL_RGB, 8, WEBP_SIDE, WEBP_SIDE));
    assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &image, &err), ST_OK);
    for (uint32_t y = 0; y < 30; y++) {
        for (uint32_t x = 0; x < 40; x++) {
            bool inside = x >= 10 && x < 10 + WEBP_SIDE && y >= 4 && y < 4 + WEBP_SIDE;
            uint8_t wanted[4] = {0};
            if (inside) {
                memcpy(wanted, plane_row(&painted.plane[0], y - 4) + 3 * (x - 10), 3);
                wanted[3] = 255;
            }
            assert_memory_equal(plane_row(&image.plane[0], y) + 4 * (size_t)x, wanted, 4);
        }
    }
    fixture_image_free(&painted);
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_frames_that_are_wrong(void **state) {
    (void)state;
    struct error err;
    struct buf file = animation(1, 0, 0, WEBP_SIDE, false); /* a single frame is no animation */
    assert_int_equal(try_file(&file, &err), ST_OK);
    buf_finish(&file);
    file = animation(2, 18, 0, WEBP_SIDE, false);
    refuse(&file, ST_CORRUPT, "at 18, 0");
    buf_finish(&file);
    file = animation(2, 0, 8, WEBP_SIDE, false);
    refuse(&file, ST_CORRUPT, "at 0, 8");
    buf_finish(&file);
    file = animation(2, 0, 0, WEBP_SIDE - 1, false);
    refuse(&file, ST_CORRUPT, "frame of 23 x 24");
    buf_finish(&file);
    file = webp_start();
    webp_extended(&file, ANIMATION, 40, 30);
    webp_chunk(&file, "ANMF", "short", 5);
    webp_chunk(&file, "ANMF", "short", 5);
    webp_finish(&file);
    refuse(&file, ST_CORRUPT, "5 bytes");
    buf_finish(&file);
    file = animation(2, 0, 0, WEBP_SIDE, false);
    for (size_t size = 0; size < file.size; size++) {
        assert_int_equal(try_frame((struct bytes){file.data, size}, true, &err), ST_CORRUPT);
    }
    buf_finish(&file);
}

/* ---- metadata ---- */

static void test_metadata_are_found(void **state) {
    (void)state;
    for (int prefix = 0; prefix <= 1; prefix++) {
        struct buf file = webp_tagged(PIXEL_RGB, false, ICC | EXIF | XMP, prefix);
        struct picture picture = fixture_probe(buf_bytes(&file));
        assert_int_equal(picture.metadata.orientation, 6);
        assert_int_equal(picture.metadata.exif.size, EXIF_FIXTURE_SIZE);
        assert_int_equal(picture.metadata.xmp.size, sizeof webp_packet - 1);
        assert_int_equal(picture.metadata.chunk_count, 1);
        assert_int_equal(picture.metadata.chunk[0].data.size, WEBP_PROFILE);
        assert_int_equal(picture.metadata.losses, 0);
        buf_finish(&file);
    }
    struct buf file = webp_tagged(PIXEL_RGB, false, 0, false);
    struct picture picture = fixture_probe(buf_bytes(&file));
    assert_int_equal(picture.metadata.orientation, 1);
    assert_int_equal(picture.metadata.chunk_count + picture.metadata.exif.size + picture.metadata.xmp.size,
                     0);
    assert_int_equal(picture.metadata.losses, LOSS_COLOUR | LOSS_EXIF | LOSS_XMP);
    buf_finish(&file);
}

static unsigned losses_with(const char *name, size_t size) {
    struct buf file = webp_tagged(PIXEL_RGB, false, ICC | EXIF | XMP, false);
    uint8_t *data = calloc(1, size + 1);
    webp_chunk(&file, name, data, size);
    webp_finish(&file);
    unsigned losses = fixture_probe(buf_bytes(&file)).metadata.losses;
    free(data);
    buf_finish(&file);
    return losses;
}

static void test_further_chunks_are_losses(void **state) {
    (void)state;
    assert_int_equal(losses_with("EXIF", 9), LOSS_EXIF);
    assert_int_equal(losses_with("XMP ", 9), LOSS_XMP);
    assert_int_equal(losses_with("ICCP", 9), LOSS_COLOUR);
    assert_int_equal(losses_with("C2PA", 9), LOSS_C2PA);
    assert_int_equal(losses_with("JUNK", 9), LOSS_OTHER);
    assert_int_equal(losses_with("VP8 ", 9), 0);
    struct buf picture = webp_picture(fixture_shape(PIXEL_RGB, 8, WEBP_SIDE, WEBP_SIDE), false),
               file = webp_start();
    uint8_t *large = calloc(1, METADATA_ICC_MAX + 1);
    webp_extended(&file, ICC, WEBP_SIDE, WEBP_SIDE);
    webp_chunk(&file, "ICCP", large, METADATA_ICC_MAX + 1);
    webp_picture_chunks(&file, &picture);
    for (unsigned i = 0; i < METADATA_MARKERS_MAX; i++) {
        webp_chunk(&file, "VP8 ", "", 0);
    }
    webp_finish(&file);
    assert_int_equal(fixture_probe(buf_bytes(&file)).metadata.losses, LOSS_COLOUR | LOSS_OTHER);
    free(large);
    buf_finish(&file);
    buf_finish(&picture);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncation_is_corrupt),
        cmocka_unit_test(test_pixels_are_not_invented),
        cmocka_unit_test(test_lying_lengths),
        cmocka_unit_test(test_what_may_follow),
        cmocka_unit_test(test_headers_that_contradict),
        cmocka_unit_test(test_the_first_frame),
        cmocka_unit_test(test_frames_that_are_wrong),
        cmocka_unit_test(test_metadata_are_found),
        cmocka_unit_test(test_further_chunks_are_losses),
    };
    if (!codec_decodes(CODEC_WEBP)) {
        puts("built without libwebp");
        return NOT_BUILT;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
