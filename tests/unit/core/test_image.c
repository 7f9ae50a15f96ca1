/* SPDX-License-Identifier: MIT */
#include "core/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { MODELS = PIXEL_YCBCR + 1 };

static void test_models(void **state) {
    (void)state;
    static const struct {
        enum pixel_model model;
        unsigned channels;
        bool alpha;
    } table[MODELS] = {{PIXEL_GRAY, 1, false},
                       {PIXEL_GRAY_ALPHA, 2, true},
                       {PIXEL_RGB, 3, false},
                       {PIXEL_RGBA, 4, true},
                       {PIXEL_YCBCR, 3, false}};
    for (int i = 0; i < MODELS; i++) {
        assert_int_equal(image_pixel_channels(table[i].model), table[i].channels);
        assert_int_equal(image_pixel_has_alpha(table[i].model), table[i].alpha);
    }
}

/* Sizes worked out by hand. */
static void test_sizes(void **state) {
    (void)state;
    static const struct {
        struct image_shape shape;
        size_t bytes, stride;
    } table[] = {
        {{PIXEL_GRAY, 8, 0, 0, 1, 1}, 64 * 32, 64},
        {{PIXEL_GRAY, 8, 0, 0, 64, 32}, 64 * 32, 64},
        {{PIXEL_GRAY, 8, 0, 0, 65, 33}, 128 * 64, 128},
        {{PIXEL_GRAY, 16, 0, 0, 33, 3}, 128 * 3, 128},
        {{PIXEL_GRAY_ALPHA, 8, 0, 0, 32, 3}, 64 * 3, 64},
        {{PIXEL_GRAY_ALPHA, 16, 0, 0, 17, 1}, 128, 128},
        {{PIXEL_RGB, 8, 0, 0, 21, 5}, 64 * 5, 64},
        {{PIXEL_RGB, 8, 0, 0, 22, 5}, 128 * 5, 128},
        {{PIXEL_RGB, 16, 0, 0, 11, 2}, 128 * 2, 128},
        {{PIXEL_RGBA, 8, 0, 0, 16, 7}, 64 * 7, 64},
        {{PIXEL_RGBA, 16, 0, 0, 9, 1}, 128, 128},
        {{PIXEL_YCBCR, 8, 0, 0, 64, 32}, 3 * 64 * 32, 64},
        {{PIXEL_YCBCR, 8, 1, 0, 128, 32}, 128 * 32 + 2 * 64 * 32, 128},
        {{PIXEL_YCBCR, 8, 1, 1, 128, 64}, 128 * 64 + 2 * 64 * 32, 128},
        {{PIXEL_YCBCR, 8, 2, 2, 1, 1}, 3 * 64 * 32, 64},
        {{PIXEL_YCBCR, 8, 1, 1, 129, 65}, 192 * 96 + 2 * 128 * 64, 192},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct image image;
        assert_int_equal(image_layout(&image, &table[i].shape), table[i].bytes);
        assert_int_equal(image.plane[0].stride, table[i].stride);
    }
}

static uint32_t reduced(uint32_t size, unsigned shift) {
    return size / (1u << shift) + (size % (1u << shift) != 0);
}

/* Properties of every shape: planes behind each other, none over another, all aligned,
 * padded where libjpeg writes, and the same shape read back. */
static void check_shape(const struct image_shape *shape) {
    struct image image;
    size_t bytes = image_layout(&image, shape), end = 0;
    bool planar = shape->model == PIXEL_YCBCR;
    assert_true(bytes > 0 && bytes % IMAGE_ALIGNMENT == 0);
    assert_int_equal(image.plane_count, planar ? 3 : 1);
    for (unsigned i = 0; i < image.plane_count; i++) {
        const struct plane *plane = &image.plane[i];
        assert_int_equal(plane->width, reduced(shape->width, i ? shape->chroma_shift_x : 0));
        assert_int_equal(plane->height, reduced(shape->height, i ? shape->chroma_shift_y : 0));
        assert_int_equal(plane->channels, planar ? 1 : image_pixel_channels(shape->model));
        assert_int_equal(plane->stride % IMAGE_ALIGNMENT, 0);
        assert_true(plane->stride >= plane_row_bytes(plane, shape->depth));
        assert_int_equal(plane->offset, end);
        assert_null(plane->data);
        bool padded = shape->depth == 8 && (planar || shape->model == PIXEL_GRAY);
        size_t rows = padded ? (plane->height + IMAGE_MCU - 1) / IMAGE_MCU * IMAGE_MCU : plane->height;
        assert_true(!padded || plane->stride >= (plane->width + IMAGE_MCU - 1) / IMAGE_MCU * IMAGE_MCU);
        end += plane->stride * rows;
    }
    assert_int_equal(bytes, end);
    struct image_shape back = image_shape(&image);
    assert_memory_equal(&back, shape, sizeof back);
}

static void test_every_shape(void **state) {
    (void)state;
    static const uint32_t sides[] = {1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 1000};
    enum { SIDES = sizeof sides / sizeof *sides };
    unsigned checked = 0;
    for (unsigned i = 0; i < MODELS * 2 * 9 * SIDES * SIDES; i++) {
        unsigned rest = i / SIDES / SIDES;
        struct image_shape shape;
        memset(&shape, 0, sizeof shape); /* padding, too: shapes are compared as bytes */
        shape.model = (enum pixel_model)(rest / 18);
        shape.depth = rest / 9 % 2 ? 16 : 8;
        shape.chroma_shift_x = (uint8_t)(rest % 9 / 3);
        shape.chroma_shift_y = (uint8_t)(rest % 3);
        shape.width = sides[i % SIDES];
        shape.height = sides[i / SIDES % SIDES];
        bool planar = shape.model == PIXEL_YCBCR;
        if (planar ? shape.depth == 8 : rest % 9 == 0) {
            check_shape(&shape);
            checked++;
        }
    }
    assert_int_equal(checked, (4 * 2 + 9) * SIDES * SIDES);
}

static void test_place(void **state) {
    (void)state;
    struct image_shape shape = {PIXEL_YCBCR, 8, 1, 1, 101, 51};
    struct image image;
    size_t bytes = image_layout(&image, &shape);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, bytes);
    assert_non_null(memory);
    image_place(&image, memory);
    for (unsigned i = 0; i < 3; i++) {
        struct plane *plane = &image.plane[i];
        assert_ptr_equal(plane->data, memory + plane->offset);
        assert_int_equal((uintptr_t)plane->data % IMAGE_ALIGNMENT, 0);
        assert_ptr_equal(plane_row(plane, 0), plane->data);
        assert_ptr_equal(plane_row(plane, 3), plane->data + 3 * plane->stride);
        for (uint32_t y = 0; y < plane->height; y++) {
            memset(plane_row(plane, y), (int)i, plane->stride); /* asan: it is all there */
        }
    }
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(*plane_row(&image.plane[i], image.plane[i].height - 1), i);
    }
    free(memory);
}

static void test_overflow(void **state) {
    (void)state;
    static const struct image_shape too_large[] = {
        {PIXEL_RGBA, 16, 0, 0, UINT32_MAX, UINT32_MAX},  {PIXEL_RGBA, 8, 0, 0, UINT32_MAX, UINT32_MAX},
        {PIXEL_RGB, 16, 0, 0, UINT32_MAX, UINT32_MAX},   {PIXEL_GRAY_ALPHA, 8, 0, 0, UINT32_MAX, UINT32_MAX},
        {PIXEL_GRAY, 8, 0, 0, UINT32_MAX, UINT32_MAX},   {PIXEL_YCBCR, 8, 0, 0, UINT32_MAX, UINT32_MAX},
        {PIXEL_YCBCR, 8, 0, 0, UINT32_MAX, 3000000000u},
    };
    for (size_t i = 0; i < sizeof too_large / sizeof *too_large; i++) {
        struct image image;
        assert_int_equal(image_layout(&image, &too_large[i]), 0);
    }
    struct image image;
    struct image_shape wide = {PIXEL_RGBA, 16, 0, 0, UINT32_MAX, 1};
    assert_true(image_layout(&image, &wide) == (size_t)UINT32_MAX * 8 + 8);
    struct image_shape reduced_edge = {PIXEL_YCBCR, 8, 2, 2, UINT32_MAX, 1};
    assert_true(image_layout(&image, &reduced_edge) > 0);
    assert_true(image.plane[1].width == 1u << 30);
    struct image_shape nothing = {PIXEL_RGB, 8, 0, 0, 0, 5};
    assert_int_equal(image_layout(&image, &nothing), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_models), cmocka_unit_test(test_sizes),    cmocka_unit_test(test_every_shape),
        cmocka_unit_test(test_place),  cmocka_unit_test(test_overflow),
    };
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
