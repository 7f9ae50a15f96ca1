/* SPDX-License-Identifier: MIT
 * Filters that move pixels, at every CPU level: alone, in chains whose pictures change their shape, and
 * behind masked steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/filters/filter_levels.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const uint32_t sizes[][2] = {{1, 1},  {1, 7},    {7, 1},   {2, 2},    {3, 5},   {17, 6},
                                    {33, 9}, {130, 11}, {67, 35}, {64, 300}, {2500, 2}};

static const char *const turns[] = {
    "rotate",
    "rotate:angle=0",
    "rotate:angle=180",
    "rotate:angle=270",
    "rotate:flip=horizontal",
    "rotate:flip=vertical",
    "rotate:flip=both",
    "rotate:angle=90 flip=horizontal",
    "rotate:angle=270 flip=horizontal",
    "rotate:angle=90 flip=both",
};

static void test_rotate(void **state) {
    for (unsigned t = 0; t < COUNT(turns); t++) {
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
                struct image_shape shape = simple_shape(model, sizes[i][0], sizes[i][1]);
                check_reference(*state, turns[t], &shape, false);
            }
        }
    }
}

static const char *const crops[] = {
    "crop",
    "crop:x=50% y=50%",
    "crop:width=1 height=1",
    "crop:x=25% width=50% height=75%",
    "crop:aspect=1:1 gravity=southeast",
    "crop:aspect=3/17",
    "crop:width=100% height=33.3% gravity=0.1,0.9",
};

static void test_crop(void **state) {
    for (unsigned t = 0; t < COUNT(crops); t++) {
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
                struct image_shape shape = simple_shape(model, sizes[i][0], sizes[i][1]);
                check_reference(*state, crops[t], &shape, false);
            }
        }
    }
}

static struct image_shape planes(unsigned shift_x, unsigned shift_y, uint32_t width, uint32_t height) {
    return (struct image_shape){.model = PIXEL_YCBCR,
                                .depth = 8,
                                .chroma_shift_x = (uint8_t)shift_x,
                                .chroma_shift_y = (uint8_t)shift_y,
                                .width = width,
                                .height = height};
}

/* The border of a cut plane may lie within a chroma sample. */
static void test_planes(void **state) {
    static const char *const texts[] = {"crop", "crop:x=4 y=8 width=15 height=9", "crop:width=1 height=1",
                                        "crop:x=16 y=4"};
    for (unsigned s = 0; s < 6; s++) {
        const unsigned shift_x = s % 3, shift_y = s / 3;
        for (unsigned t = 0; t < COUNT(texts); t++) {
            struct image_shape odd = planes(shift_x, shift_y, 43, 21);
            check_reference(*state, texts[t], &odd, false);
        }
        for (unsigned t = 0; t < COUNT(turns); t++) {
            struct image_shape even = planes(shift_x, shift_y, 44, 24);
            bool transposes = strstr(turns[t], "90") || strstr(turns[t], "270") || !strchr(turns[t], ':');
            if (shift_x == shift_y || !transposes) {
                check_reference(*state, turns[t], &even, false);
            }
        }
    }
}

/* Steps that keep the shape lie before, between and behind steps that change it. */
static const char *const chains[] = {
    "crop:x=3 y=5 width=17 height=9|blur:sigma=2",
    "blur:sigma=2|rotate",
    "blur:sigma=9|crop:width=3",
    "rotate|blur:sigma=1.5|rotate:angle=270|sharpen",
    "sharpen|crop:x=1 y=1|pixelate:block=4|rotate|convolve:preset=edge|crop:width=50% height=50%",
    "rotate|rotate|rotate|rotate|crop:x=1|crop:x=1|crop:x=1|crop:height=1",
};

static void test_chains(void **state) {
    for (unsigned i = 0; i < COUNT(chains); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 39 + i, 17);
            check_reference(*state, chains[i], &shape, false);
        }
    }
}

static void test_masks_apply_before_pixels_move(void **state) {
    static const char *const masked[] = {
        "blur:sigma=2|rotate",
        "blur:sigma=2|crop:x=3 y=5 width=17 height=9",
        "sharpen|pixelate:block=3|crop:x=1|rotate:angle=270|rotate:flip=vertical",
    };
    for (unsigned i = 0; i < COUNT(masked); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 41, 18 + i);
            check_reference(*state, masked[i], &shape, true);
        }
    }
    struct image_shape shape = planes(1, 1, 64, 36);
    check_reference(*state, "blur:sigma=2|rotate|crop:x=2 y=4", &shape, true);
}

static enum status run_masked(struct levels *levels, const char *text, const struct image_shape *shape) {
    struct chain chain = make_chain(text, shape);
    struct image_shape result = chain_result(&chain, shape);
    struct test_image source = make_noise(levels, shape), mask = make_mask(levels, shape);
    struct test_image target = test_image_make(&result);
    struct chain_run run = {
        .chain = &chain, .source = &source.image, .target = &target.image, .mask = &mask.image};
    enum status status = lane_run(levels->lane[0], &run, NULL, NULL);
    test_image_free(&source);
    test_image_free(&mask);
    test_image_free(&target);
    return status;
}

/* A mask lies over the source; it is no mask for a picture whose pixels have moved. */
static void test_masks_that_cannot_apply(void **state) {
    struct image_shape shape = simple_shape(2, 20, 10);
    assert_int_equal(run_masked(*state, "crop:x=1|blur", &shape), ST_INTERNAL);
    assert_int_equal(run_masked(*state, "blur|rotate|blur", &shape), ST_INTERNAL);
    assert_int_equal(run_masked(*state, "rotate:angle=0|sharpen", &shape), ST_INTERNAL);
    assert_int_equal(run_masked(*state, "blur|rotate", &shape), ST_OK);
}

static void test_helpers_take_parts(void **state) {
    struct levels *levels = *state;
    levels->helpers = helpers_start(3, 1, false);
    for (unsigned i = 0; i < COUNT(turns); i++) {
        struct image_shape shape = simple_shape(i, 300, 401);
        check_reference(levels, turns[i], &shape, false);
    }
    struct image_shape shape = simple_shape(2, 300, 401);
    check_reference(levels, "crop:x=7 y=9 width=80%|blur:sigma=3|rotate|blur:sigma=20", &shape, false);
    helpers_stop(levels->helpers);
    levels->helpers = NULL;
}

static void test_a_picture_that_is_being_made(void **state) {
    struct levels *levels = *state;
    levels->follows = true;
    struct image_shape shape = simple_shape(2, 80, 61);
    check_reference(levels, "crop:x=7 y=9|blur:sigma=3", &shape, false);
    check_reference(levels, "blur:sigma=3|rotate", &shape, false);
    check_reference(levels, "rotate", &shape, false);
    levels->follows = false;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rotate),
        cmocka_unit_test(test_crop),
        cmocka_unit_test(test_planes),
        cmocka_unit_test(test_chains),
        cmocka_unit_test(test_masks_apply_before_pixels_move),
        cmocka_unit_test(test_masks_that_cannot_apply),
        cmocka_unit_test(test_helpers_take_parts),
        cmocka_unit_test(test_a_picture_that_is_being_made),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
