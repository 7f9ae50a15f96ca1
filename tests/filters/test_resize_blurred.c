/* SPDX-License-Identifier: MIT
 * A resize whose background is the blurred picture has, at every CPU level, the bytes of its parts: a resize
 * that covers the canvas, a blur, and over it the resize within the canvas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/filters/filter_levels.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

enum { TEXT_MAX = 256 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Sides of the picture and of the canvas. */
static const struct {
    uint32_t width, height, box_x, box_y;
    const char *how;
    const char *sigma;
} cases[] = {
    {60, 40, 48, 48, "", "3"},
    {60, 40, 30, 64, "gravity=north", "0.5"},
    {41, 83, 90, 70, "kernel=area enlarge=true", "6"},
    {41, 83, 90, 70, "kernel=linear", "20"},
    {41, 82, 122, 40, "gravity=0.25,0.75 kernel=cubic", "1.5"},
    {1, 1, 7, 5, "", "2"},
    {1, 37, 64, 33, "kernel=nearest", "100"},
    {200, 2, 40, 30, "gravity=east kernel=mitchell", "9"},
};

static const struct image_shape planar[] = {
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
};

static void paste(const struct image *to, const struct image *from, const struct resize_plan *plan) {
    for (unsigned i = 0; i < from->plane_count; i++) {
        const struct plane *plane = &from->plane[i];
        uint32_t left = plan->x.first >> plane->shift_x, top = plan->y.first >> plane->shift_y;
        for (uint32_t at = 0; at < plane->width * plane->height; at++) {
            uint32_t x = at % plane->width, y = at / plane->width;
            for (unsigned c = 0; c < plane->channels; c++) {
                test_put(to, i, left + x, top + y, c, test_sample(from, i, x, y, c));
            }
        }
    }
}

/* Whether this case can be made in these planes; so can its parts then. */
static bool is_planar(const struct image_shape *shape, const struct resize_plan *plan) {
    return shape->model != PIXEL_YCBCR || filter_resize.valid(plan, shape);
}

static void check_case(struct levels *levels, unsigned index, struct image_shape shape) {
    char whole[TEXT_MAX], covered[TEXT_MAX], inside[TEXT_MAX];
    unsigned x = cases[index].box_x, y = cases[index].box_y;
    const char *how = cases[index].how;
    shape.width = cases[index].width;
    shape.height = cases[index].height;
    snprintf(whole, sizeof whole, "resize:width=%u height=%u fit=contain background=blur:%s %s", x, y,
             cases[index].sigma, how);
    snprintf(covered, sizeof covered, "resize:width=%u height=%u fit=cover enlarge=true %s|blur:sigma=%s", x,
             y, how, cases[index].sigma);
    snprintf(inside, sizeof inside, "resize:width=%u height=%u fit=inside %s", x, y, how);
    struct chain chain = make_chain(whole, &shape);
    if (!is_planar(&shape, &chain.step[0].resize)) {
        return;
    }
    assert_int_equal(chain_check(&chain, &shape, NULL), ST_OK);
    struct test_image source = make_noise(levels, &shape);
    struct test_image expected = level_result(levels, covered, &source, NULL);
    struct test_image picture = level_result(levels, inside, &source, NULL);
    paste(&expected.image, &picture.image, &chain.step[0].resize);
    compare_levels(levels, whole, &chain, &source, NULL, &expected);
    test_image_free(&source);
    test_image_free(&expected);
    test_image_free(&picture);
}

static void check_all(struct levels *levels) {
    for (unsigned i = 0; i < COUNT(cases); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            check_case(levels, i, simple_shape(model, 1, 1));
        }
        for (unsigned p = 0; p < COUNT(planar); p++) {
            check_case(levels, i, planar[p]);
        }
    }
}

static void test_parts(void **state) {
    check_all(*state);
}

/* In bands of a crew, and while the source is made. */
static void test_helpers(void **state) {
    struct levels *levels = *state;
    levels->helpers = helpers_start(3, 1, false);
    check_all(levels);
    levels->follows = true;
    check_all(levels);
    levels->follows = false;
    helpers_stop(levels->helpers);
    levels->helpers = NULL;
}

/* Without background nothing is blurred. */
static void test_no_background(void **state) {
    struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 60, .height = 40};
    struct chain blurred = make_chain("resize:width=30 height=20 fit=contain background=blur:3", &shape);
    assert_false(resize_is_blurred(&blurred.step[0].resize));
    struct test_image source = make_noise(*state, &shape);
    struct test_image expected = level_result(*state, "resize:width=30 height=20", &source, NULL);
    compare_levels(*state, "no background", &blurred, &source, NULL, &expected);
    test_image_free(&source);
    test_image_free(&expected);
}

static void test_plans_from_elsewhere(void **state) {
    (void)state;
    struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 60, .height = 40};
    struct chain chain = make_chain("resize:width=50 height=90 fit=contain background=blur:3", &shape);
    const struct resize_plan good = chain.step[0].resize;
    assert_true(filter_resize.valid(&good, &shape));
    struct resize_plan bad = good;
    bad.ground_x.count--;
    assert_false(filter_resize.valid(&bad, &shape));
    bad = good;
    bad.ground_y.scale *= 2;
    assert_false(filter_resize.valid(&bad, &shape));
    bad = good;
    bad.ground_x.canvas = bad.ground_x.count = 51;
    assert_false(filter_resize.valid(&bad, &shape));
    bad = good;
    bad.blur.axis[0].radius = 200;
    assert_false(filter_resize.valid(&bad, &shape));
    bad = good;
    bad.ground = RESIZE_GROUND_BLUR + 1;
    assert_false(filter_resize.valid(&bad, &shape));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_helpers),
        cmocka_unit_test(test_no_background),
        cmocka_unit_test(test_plans_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
