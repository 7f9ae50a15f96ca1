/* SPDX-License-Identifier: MIT
 * Lossless JPEGs: what HTTP does not show. tests/http/test_lossless_jpeg.py has the samples and the refusals.
 */
#include "codecs/jpeg/lossless/sof3.h"

#include "tests/unit/codecs/picture_fixture.h"

enum { SIDE = 64, ROWS = 16 };

static const uint8_t head[] =
    "\xFF\xD8\xFF\xC3\0\x0B\x08\0\x40\0\x40\1\1\x11\0"     /* 64 x 64, of one component */
    "\xFF\xC4\0\x15\0\1\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1" /* codes 0 and 10 for 0 and 1 */
    "\xFF\xDD\0\4\4\0\xFF\xDA\0\x08\1\1\0\7\0\0";          /* 16 rows; the last predictor */

/* Flat: each sample is a bit of 0, a difference of 0. With a restart marker behind each 16 rows. */
static struct buf flat_file(void) {
    static const uint8_t zeros[ROWS * SIDE / 8];
    struct buf file;
    buf_init(&file, 1 << 16);
    assert_int_equal(buf_append(&file, head, sizeof head - 1, NULL), ST_OK);
    for (unsigned i = 0; i < SIDE / ROWS; i++) {
        const uint8_t marker[2] = {0xFF, (uint8_t)(i + 1 < SIDE / ROWS ? 0xD0 + i : 0xD9)};
        assert_int_equal(buf_append(&file, zeros, sizeof zeros, NULL), ST_OK);
        assert_int_equal(buf_append(&file, marker, sizeof marker, NULL), ST_OK);
    }
    return file;
}

static void note_rows(void *context, uint32_t rows) {
    uint32_t *told = context;
    assert_true(rows >= *told);
    *told = rows;
}

static void test_rows_are_reported(void **state) {
    (void)state;
    struct buf file = flat_file();
    struct picture picture = fixture_probe(buf_bytes(&file));
    assert_true(picture.lossless && !picture.progressive);
    uint32_t told = 0;
    const struct progress progress = {note_rows, &told};
    struct codec_limits limits = fixture_limits();
    limits.progress = &progress;
    struct image image = fixture_image(picture.native);
    struct error err = {0};
    assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &image, &err), ST_OK);
    assert_int_equal(told, SIDE);
    assert_int_equal(plane_row(&image.plane[0], SIDE - 1)[SIDE - 1], 128);
    fixture_image_free(&image);
    buf_finish(&file);
}

static void test_the_deadline(void **state) {
    (void)state;
    struct buf file = flat_file();
    struct picture picture = fixture_probe(buf_bytes(&file));
    struct codec_limits limits = fixture_limits();
    limits.deadline_ns = 1;
    struct image image = fixture_image(picture.native);
    struct error err = {0};
    assert_int_equal(codec_decode(buf_bytes(&file), &picture, &limits, &image, &err), ST_LIMIT);
    fixture_image_free(&image);
    buf_finish(&file);
}

/* Each cut leaves a bit or more out, but for that of the end marker. */
static void test_every_cut(void **state) {
    (void)state;
    struct buf file = flat_file();
    struct codec_limits limits = fixture_limits();
    for (size_t size = 0; size < file.size - 2; size++) {
        struct error err = {0};
        uint8_t *copy = malloc(size + 1); /* so that sanitizers notice reads behind the end */
        memcpy(copy, file.data, size);
        struct bytes cut = {copy, size};
        struct image image = fixture_image(
            (struct image_shape){.model = PIXEL_GRAY, .depth = 8, .width = SIDE, .height = SIDE});
        assert_int_equal(sof3_decode(cut, &limits, &image, &err), ST_CORRUPT);
        fixture_image_free(&image);
        free(copy);
    }
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows_are_reported),
        cmocka_unit_test(test_the_deadline),
        cmocka_unit_test(test_every_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
