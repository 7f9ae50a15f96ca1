/* SPDX-License-Identifier: MIT */
#include "cpu/orient.h"
#include "tests/unit/codecs/picture_fixture.h"

/* Where the pixel (x, y) of the upright picture stands in the stored one: written from the
 * definition in EXIF, which says what row 0 and column 0 are. */
static void stored_place(uint8_t orientation, const struct plane *stored, uint32_t x, uint32_t y,
                         uint32_t *from_x, uint32_t *from_y) {
    uint32_t right = stored->width - 1, bottom = stored->height - 1;
    uint32_t across[9] = {0, x, right - x, right - x, x, y, y, right - y, right - y};
    uint32_t down[9] = {0, y, y, bottom - y, bottom - y, x, bottom - x, bottom - x, x};
    *from_x = across[orientation];
    *from_y = down[orientation];
}

static void check(struct image_shape shape, uint8_t orientation) {
    struct image source = fixture_painted(shape);
    struct image target = fixture_image(orient_shape(&shape, orientation));
    orient_image(&source, orientation, &target, 0, NULL);
    for (unsigned p = 0; p < source.plane_count; p++) {
        const struct plane *from = &source.plane[p], *to = &target.plane[p];
        size_t size = (size_t)from->channels * shape.depth / 8;
        for (uint32_t y = 0; y < to->height; y++) {
            for (uint32_t x = 0; x < to->width; x++) {
                uint32_t from_x, from_y;
                stored_place(orientation, from, x, y, &from_x, &from_y);
                assert_memory_equal(plane_row(to, y) + x * size, plane_row(from, from_y) + from_x * size,
                                    size);
            }
        }
    }
    fixture_image_free(&source);
    fixture_image_free(&target);
}

static void test_every_sample_size(void **state) {
    (void)state;
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        for (int model = PIXEL_GRAY; model <= PIXEL_RGBA; model++) {
            for (unsigned depth = 8; depth <= 16; depth += 8) {
                check(fixture_shape((enum pixel_model)model, depth, 1, 1), orientation);
                check(fixture_shape((enum pixel_model)model, depth, 1, 70), orientation);
                check(fixture_shape((enum pixel_model)model, depth, 67, 33), orientation);
            }
        }
    }
}

static void test_planes_swap_their_reductions(void **state) {
    (void)state;
    struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, 64, 36);
    shape.chroma_shift_x = 2;
    shape.chroma_shift_y = 1;
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        assert_true(orient_is_exact(&shape, orientation));
        struct image_shape turned = orient_shape(&shape, orientation);
        assert_int_equal(turned.chroma_shift_x, orientation >= 5 ? 1 : 2);
        assert_int_equal(turned.width, orientation >= 5 ? 36 : 64);
        check(shape, orientation);
    }
}

static void test_odd_mirrored_chroma_is_not_exact(void **state) {
    (void)state;
    struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, 17, 32);
    shape.chroma_shift_x = shape.chroma_shift_y = 1;
    const bool exact[9] = {true, true, false, false, true, true, true, false, false};
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        assert_int_equal(orient_is_exact(&shape, orientation), exact[orientation]);
    }
    shape.chroma_shift_x = 0;
    assert_true(orient_is_exact(&shape, 2));
    shape.model = PIXEL_RGB;
    assert_true(orient_is_exact(&shape, 3));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_sample_size),
        cmocka_unit_test(test_planes_swap_their_reductions),
        cmocka_unit_test(test_odd_mirrored_chroma_is_not_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
