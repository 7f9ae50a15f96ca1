/* SPDX-License-Identifier: MIT
 * The plan of a resize: sizes, places, colours, and the check of plans from elsewhere. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "filters/chain.h"
#include "filters/resize/resize.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static struct resize_arguments arguments_of(const char *text) {
    struct resize_arguments arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments_default(filter_resize.arguments, &arguments);
    char copy[200], *saved;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *one = strtok_r(copy, " ", &saved); one; one = strtok_r(NULL, " ", &saved)) {
        char *value = strchr(one, '=');
        *value++ = '\0';
        struct error err = {0};
        if (argument_parse(argument_find(filter_resize.arguments, one), value, &arguments, &err) != ST_OK) {
            fail_msg("%s", err.text);
        }
    }
    return arguments;
}

static struct resize_plan plan_of(const char *text, const struct image_shape *shape) {
    struct resize_arguments arguments = arguments_of(text);
    struct resize_plan plan;
    struct error err = {0};
    memset(&plan, 0, sizeof plan);
    if (filter_resize.plan(&arguments, shape, &plan, &err) != ST_OK) {
        fail_msg("%s: %s", text, err.text);
    }
    return plan;
}

static const struct image_shape photo = {.model = PIXEL_RGB, .depth = 8, .width = 1200, .height = 800};

static const struct {
    const char *text;
    struct resize_axis x, y; /* of 1200 and 800 pixels */
} places[] = {
    {"width=600", {2, 0, 0, 600, 600}, {2, 0, 0, 400, 400}},
    {"height=200", {4, 0, 0, 300, 300}, {4, 0, 0, 200, 200}},
    {"width=1000 height=100", {8, 0, 0, 150, 150}, {8, 0, 0, 100, 100}},
    {"width=300 height=100 fit=outside", {4, 0, 0, 300, 300}, {4, 0, 0, 200, 200}},
    {"width=300 height=100 fit=fill", {4, 0, 0, 300, 300}, {8, 0, 0, 100, 100}},
    {"width=300 height=100 fit=cover", {4, 0, 0, 300, 300}, {4, 200, 0, 100, 100}},
    {"width=300 height=100 fit=cover gravity=north", {4, 0, 0, 300, 300}, {4, 0, 0, 100, 100}},
    {"width=300 height=100 fit=cover gravity=southwest", {4, 0, 0, 300, 300}, {4, 400, 0, 100, 100}},
    {"width=100 height=200 fit=cover gravity=0.5,0.5", {4, 400, 0, 100, 100}, {4, 0, 0, 200, 200}},
    {"width=100 height=200 fit=cover gravity=0.25,0", {4, 100, 0, 100, 100}, {4, 0, 0, 200, 200}},
    {"width=100 height=200 fit=cover gravity=0.1,0", {4, 0, 0, 100, 100}, {4, 0, 0, 200, 200}},
    {"width=100 height=200 fit=cover gravity=1,1", {4, 800, 0, 100, 100}, {4, 0, 0, 200, 200}},
    {"width=300 height=300 fit=contain", {4, 0, 0, 300, 300}, {4, 0, 50, 200, 300}},
    {"width=300 height=301 fit=contain", {4, 0, 0, 300, 300}, {4, 0, 50, 200, 301}},
    {"width=300 height=301 fit=contain gravity=south", {4, 0, 0, 300, 300}, {4, 0, 101, 200, 301}},
    {"width=400 height=200 fit=contain gravity=0.25,0.5", {4, 0, 25, 300, 400}, {4, 0, 0, 200, 200}},
    {"scale=0.25", {4, 0, 0, 300, 300}, {4, 0, 0, 200, 200}},
    {"scale=4", {1, 0, 0, 1200, 1200}, {1, 0, 0, 800, 800}},
    {"scale=4 enlarge=true", {0.25, 0, 0, 4800, 4800}, {0.25, 0, 0, 3200, 3200}},
    {"width=1 height=1 fit=fill", {1200, 0, 0, 1, 1}, {800, 0, 0, 1, 1}},
    {"height=1", {600, 0, 0, 2, 2}, {800, 0, 0, 1, 1}},
    {"width=2000 height=400 fit=cover", {1, 0, 0, 1200, 1200}, {1, 200, 0, 400, 400}},
    {"width=2400 height=400 fit=fill", {1, 0, 0, 1200, 1200}, {2, 0, 0, 400, 400}},
    {"width=2000 height=2000 fit=contain", {1, 0, 400, 1200, 2000}, {1, 0, 600, 800, 2000}},
};

static void expect_axis(const char *text, const struct resize_axis *got, const struct resize_axis *wanted) {
    if (fabs(got->scale - wanted->scale) > 1e-9 || fabs(got->begin - wanted->begin) > 1e-6 ||
        got->first != wanted->first || got->count != wanted->count || got->canvas != wanted->canvas) {
        fail_msg("%s: scale %g, begin %g, first %u, count %u, canvas %u", text, got->scale, got->begin,
                 got->first, got->count, got->canvas);
    }
}

static void test_places(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(places); i++) {
        struct resize_plan plan = plan_of(places[i].text, &photo);
        expect_axis(places[i].text, &plan.x, &places[i].x);
        expect_axis(places[i].text, &plan.y, &places[i].y);
        assert_true(filter_resize.valid(&plan, &photo));
    }
}

/* Every plan is valid, and covers no more than the source, at all small sizes. */
static void test_small_sizes(void **state) {
    (void)state;
    static const char *const fits[] = {"inside", "contain", "cover", "fill", "outside"};
    for (unsigned i = 0; i < 13 * 11 * 9 * 10; i++) {
        struct image_shape shape = {
            .model = PIXEL_GRAY, .depth = 8, .width = 1 + i % 13, .height = 1 + i / 13 % 11 * 7};
        char text[120];
        snprintf(text, sizeof text, "width=%u height=%u fit=%s enlarge=%u gravity=0.7,0.2",
                 1 + i / 13 / 11 % 9 * 4, 1 + i % 17, fits[i / 13 / 11 / 9 % 5], i / 13 / 11 / 9 / 5);
        struct resize_plan plan = plan_of(text, &shape);
        if (!filter_resize.valid(&plan, &shape) ||
            plan.x.begin + plan.x.count * plan.x.scale > shape.width + 1e-6) {
            fail_msg("%s of %ux%u", text, shape.width, shape.height);
        }
    }
}

static void test_planes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool planar; /* of 4:2:0, 1200x800 */
    } cases[] = {
        {"width=333", true},
        {"width=301 height=77 fit=fill", true},
        {"width=300 height=101 fit=cover gravity=0.3,0.3", true},
        {"width=300 height=300 fit=contain", true},
        {"width=300 height=302 fit=contain", false},               /* begins at row 51 */
        {"width=300 height=301 fit=contain gravity=north", true},  /* ends at row 200 */
        {"width=303 height=303 fit=contain gravity=south", false}, /* 202 rows from 101 on */
        {"width=303 height=304 fit=contain gravity=south", true},  /* 202 rows from 102 on */
        {"width=304 height=303 fit=contain gravity=0,0.5", false}, /* 203 rows from 50 on */
        {"width=304 height=203 fit=contain gravity=west", true},   /* up to the border of the canvas */
        {"width=65535 enlarge=1", true},
        {"width=1 height=65535 enlarge=1", true},
    };
    struct image_shape shape = photo;
    shape.model = PIXEL_YCBCR;
    shape.chroma_shift_x = shape.chroma_shift_y = 1;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct resize_arguments arguments = arguments_of(cases[i].text);
        if (filter_resize.planar(&arguments, &shape) != cases[i].planar) {
            fail_msg("%s", cases[i].text);
        }
        struct resize_plan plan = plan_of(cases[i].text, &shape);
        assert_int_equal(filter_resize.valid(&plan, &shape), cases[i].planar);
    }
}

static void test_colours(void **state) {
    (void)state;
    static const struct {
        enum pixel_model model;
        uint8_t depth;
        uint16_t plain[4], light[4]; /* in linear light, of 16 bits */
    } cases[] = {
        {PIXEL_GRAY, 16, {26193}, {8692}},
        {PIXEL_GRAY_ALPHA, 16, {26193, 0x40 * 257}, {8692, 0x40 * 257}},
        {PIXEL_RGB, 16, {0x80 * 257, 0x60 * 257, 0x40 * 257}, {14146, 7666, 3359}},
        {PIXEL_RGBA, 8, {0x80, 0x60, 0x40, 0x40}, {0}},
        {PIXEL_GRAY, 8, {102}, {0}},
        {PIXEL_YCBCR, 8, {102, 107, 147}, {0}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct image_shape shape = {
            .model = cases[i].model, .depth = cases[i].depth, .width = 10, .height = 20};
        struct resize_plan plan = plan_of("width=20 height=20 fit=contain background=#80604040", &shape);
        for (unsigned c = 0; c < 4; c++) {
            assert_int_equal(plan.colour[c], cases[i].plain[c]);
        }
        if (shape.depth == 16) {
            resize_plan_linear(&plan, &shape);
            for (unsigned c = 0; c < 4; c++) {
                assert_in_range(plan.colour[c] + 2, cases[i].light[c], cases[i].light[c] + 4);
            }
        }
    }
}

static void test_too_large(void **state) {
    (void)state;
    static const char *const texts[] = {"scale=100 enlarge=1", "width=65535 enlarge=1"};
    struct image_shape tall = {.model = PIXEL_GRAY, .depth = 8, .width = 7, .height = 20000};
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct resize_arguments arguments = arguments_of(texts[i]);
        struct resize_plan plan = {0};
        struct error err = {0};
        assert_int_equal(filter_resize.plan(&arguments, &tall, &plan, &err), ST_LIMIT);
        assert_non_null(strstr(err.text, "a side has at most 65535"));
        assert_false(filter_resize.planar(&arguments, &tall));
    }
}

/* Each of these numbers alone makes a plan invalid. */
static void test_plans_from_elsewhere(void **state) {
    (void)state;
    const struct resize_plan good = plan_of("width=300 height=300 fit=contain", &photo);
    assert_true(filter_resize.valid(&good, &photo));
    static const double scales[] = {0, -1, 1e-9, 4.01, 1e30, NAN, INFINITY},
                        begins[] = {-1, 1, 1e30, NAN, INFINITY};
    for (size_t i = 0; i < COUNT(scales); i++) {
        struct resize_plan bad = good;
        bad.x.scale = scales[i];
        assert_false(filter_resize.valid(&bad, &photo));
    }
    for (size_t i = 0; i < COUNT(begins); i++) {
        struct resize_plan bad = good;
        bad.y.begin = begins[i];
        assert_false(filter_resize.valid(&bad, &photo));
    }
    static const struct resize_axis axes[] = {
        {4, 0, 0, 0, 300},     {4, 0, 0, 300, 0},          {4, 0, 1, 300, 300}, {4, 0, 0, 300, 299},
        {4, 0, 0, 300, 65536}, {4, 0, UINT32_MAX, 1, 300}, {4, 0, 0, 301, 301}, {4, 0, 299, UINT32_MAX, 300}};
    for (size_t i = 0; i < COUNT(axes); i++) {
        struct resize_plan bad = good;
        bad.x = axes[i];
        assert_false(filter_resize.valid(&bad, &photo));
    }
    struct resize_plan bad = good;
    bad.kernel = RESIZE_KERNELS;
    assert_false(filter_resize.valid(&bad, &photo));
    bad = good;
    bad.ground = RESIZE_GROUND_COLOUR + 1;
    assert_false(filter_resize.valid(&bad, &photo));
    bad = good;
    bad.colour[1] = 256;
    assert_false(filter_resize.valid(&bad, &photo));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),    cmocka_unit_test(test_small_sizes),
        cmocka_unit_test(test_planes),    cmocka_unit_test(test_colours),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_plans_from_elsewhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
