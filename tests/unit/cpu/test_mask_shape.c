/* SPDX-License-Identifier: MIT
 * One shape at a time against points that are decided one by one, and shapes that share borders. */
#include "cpu/mask/mask_shape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include "tests/unit/cpu/region_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static uint64_t seed;

/* Whether the edge from a to b comes within `near` of the pixel at (x, y). */
static bool edge_in_square(struct region_point a, struct region_point b, double x, double y, double near) {
    double from = 0, to = 1, step[2] = {b.x - a.x, b.y - a.y};
    double lo[2] = {x - near - a.x, y - near - a.y}, hi[2] = {x + 1 + near - a.x, y + 1 + near - a.y};
    for (int axis = 0; axis < 2; axis++) {
        if (step[axis] == 0) {
            if (lo[axis] > 0 || hi[axis] < 0) {
                return false;
            }
            continue;
        }
        double s = lo[axis] / step[axis], t = hi[axis] / step[axis];
        from = fmax(from, fmin(s, t));
        to = fmin(to, fmax(s, t));
    }
    return from <= to;
}

/* Whether the border of a rectangle or ellipse passes through the pixel at (x, y) or nearly so: its nearest
 * point to the middle is inside and its farthest outside, in the norm whose unit circle the shape is. */
static bool convex_border(const struct region_set *set, uint32_t width, uint32_t height, double x, double y) {
    struct region_box box = region_box(set, 0, width, height);
    double u = x - (box.x0 + box.x1) / 2, v = y - (box.y0 + box.y1) / 2; /* from the middle */
    double near_u = fmax(0, fmax(u, -u - 1)), far_u = fmax(-u, u + 1), rx = (box.x1 - box.x0) / 2;
    double near_v = fmax(0, fmax(v, -v - 1)), far_v = fmax(-v, v + 1), ry = (box.y1 - box.y0) / 2;
    if (set->region[0].form == REGION_RECTANGLE) {
        return near_u < rx && near_v < ry && (far_u > rx || far_v > ry);
    }
    return hypot(near_u / rx, near_v / ry) < 1.00001 && hypot(far_u / rx, far_v / ry) > 0.99999;
}

static bool border_in_square(const struct region_set *set, const struct test_image *mask, double x,
                             double y) {
    struct region_point point[REGION_POINTS_MAX];
    uint32_t width = mask->image.width, height = mask->image.height;
    if (set->region[0].form != REGION_POLYGON) {
        return convex_border(set, width, height, x, y);
    }
    unsigned count = region_points(set, 0, width, height, point);
    for (unsigned i = 0; i < count; i++) {
        if (edge_in_square(point[i], point[(i + 1) % count], x, y, 0.002)) {
            return true;
        }
    }
    return false;
}

/* How many of 12 x 12 points of a pixel are inside, of 144. */
static unsigned samples_inside(const struct region_set *set, const struct test_image *mask, uint32_t x,
                               uint32_t y) {
    unsigned inside = 0;
    for (unsigned i = 0; i < 144; i++) {
        inside += region_has(set, 0, mask->image.width, mask->image.height, x + (i % 12 + 0.5) / 12,
                             y + (i / 12 + 0.5) / 12);
    }
    return inside;
}

/* One shape by each rule. Where a mask and the samples differ, a border must pass through the pixel. */
static void check_shape(const struct region_set *set, uint32_t width, uint32_t height) {
    struct test_image centre = gray_image(width, height), touched = gray_image(width, height),
                      beside = gray_image(width, height);
    draw_mask(&centre, set, (struct mask_options){0}, NULL);
    draw_mask(&touched, set, (struct mask_options){.outward = true}, NULL);
    draw_mask(&beside, set, (struct mask_options){.outward = true, .invert = true}, NULL);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            unsigned inside = samples_inside(set, &centre, x, y);
            bool border = border_in_square(set, &centre, x, y);
            bool middle = region_has(set, 0, width, height, x + 0.5, y + 0.5);
            assert_true(mask_at(&centre, x, y) == (middle ? 255 : 0) ||
                        region_near(set, 0, width, height, x + 0.5, y + 0.5));
            assert_true(mask_at(&touched, x, y) == 255 || (mask_at(&touched, x, y) == 0 && inside == 0));
            assert_true(mask_at(&touched, x, y) == 0 || inside > 0 || border);
            assert_true(mask_at(&beside, x, y) == 255 || (mask_at(&beside, x, y) == 0 && inside == 144));
            assert_true(mask_at(&beside, x, y) == 0 || inside < 144 || border);
        }
    }
    test_image_free(&centre);
    test_image_free(&touched);
    test_image_free(&beside);
}

static void test_random_shapes(void **state) {
    (void)state;
    uint64_t random = seed;
    for (int i = 0; i < 400; i++) {
        struct region_set set = {0};
        uint32_t width = 1 + (uint32_t)(test_random(&random) % 40);
        uint32_t height = 1 + (uint32_t)(test_random(&random) % 30);
        add_random_region(&set, &random, width, height);
        check_shape(&set, width, height);
    }
}

static void test_fixed_shapes(void **state) {
    (void)state;
    static const char *const shapes[] = {
        "0,0,16,16",
        "3,4,5,6",
        "2.5,2.5,4,4",
        "10.6,10.6,0.3,0.3",
        "0,0,100%,100%",
        "25%,25%,50%,50%",
        "ellipse:0,0,20,20",
        "ellipse:0,0,100%,100%",
        "ellipse:3,3,1,1",
        "ellipse:2,9,20,1",
        "ellipse:9,2,0.5,15",
        "polygon:0,0,20,0,20,20,0,20",
        "polygon:3,3,9,3,6,9",
        "polygon:5,5,5,15,15,15,15,5", /* the other way around */
        "polygon:2,2,18,18,18,2,2,18",
        "polygon:10,1,4,19,19,7,1,7,16,19", /* a star: its middle is inside */
        "polygon:1,1,15,1,15,15,4,15,4,4,12,4,12,12,1,12",
        "polygon:4.5,1,4.6,19,4.7,1",
        "polygon:2,4.25,18,4.25,18,4.75,2,4.75",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct region_set set = {0};
        add_region(&set, "%s", shapes[i]);
        check_shape(&set, 20, 20);
        check_shape(&set, 7, 13);
    }
}

/* Aligned to the grid of pixels, all rules give the same. */
static void test_aligned_is_exact(void **state) {
    (void)state;
    static const char *const shapes[] = {"4,8,8,4", "polygon:4,8,12,8,12,12,4,12"};
    for (int i = 0; i < 2; i++) {
        for (int outward = 0; outward < 4; outward++) {
            struct region_set set = {0};
            struct test_image mask = gray_image(33, 17);
            struct mask_report report;
            bool invert = outward & 2;
            add_region(&set, "%s", shapes[i]);
            draw_mask(&mask, &set, (struct mask_options){.outward = outward & 1, .invert = invert}, &report);
            assert_int_equal(report.covered, invert ? 33 * 17 - 32 : 32);
            assert_int_equal(mask_at(&mask, 4, 8), invert ? 0 : 255);
            assert_int_equal(mask_at(&mask, 11, 11), invert ? 0 : 255);
            test_image_free(&mask);
        }
    }
}

/* Borders through centres and along pixels, and shapes too small to have a width. */
static void test_borders(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool outward;
        struct mask_rect bounds;
    } table[] = {
        {"2.5,2.5,4,3", false, {2, 2, 6, 5}},
        {"polygon:2.5,2.5,6.5,2.5,6.5,5.5,2.5,5.5", false, {2, 2, 6, 5}},
        {"polygon:2.5,5.5,6.5,5.5,6.5,2.5,2.5,2.5", false, {2, 2, 6, 5}},
        {"2.5,2.5,4,3", true, {2, 2, 7, 6}},
        {"polygon:2.5,2.5,6.5,2.5,6.5,5.5,2.5,5.5", true, {2, 2, 7, 6}},
        {"ellipse:4,8,8,4", false, {4, 8, 12, 12}},
        {"ellipse:4,8,8,4", true, {4, 8, 12, 12}},
        {"ellipse:4,3,3,7", true, {4, 3, 7, 10}},
        {"5,6,0.000001,0.000001", false, {0, 0, 0, 0}},
        {"5,6,0.000001,0.000001", true, {5, 6, 6, 7}},
        {"ellipse:5,6,0.000001,0.000001", true, {5, 6, 6, 7}},
        {"ellipse:5,6,4,0.000001", true, {5, 6, 9, 7}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct region_set set = {0};
        struct test_image mask = gray_image(20, 20);
        struct mask_report report;
        add_region(&set, "%s", table[i].text);
        draw_mask(&mask, &set, (struct mask_options){.outward = table[i].outward}, &report);
        assert_memory_equal(&report.bounds, &table[i].bounds, sizeof report.bounds);
        test_image_free(&mask);
    }
}

/* Adds the coverage of one shape to `sum`. */
static void add_coverage(const struct region_set *set, uint32_t width, uint32_t height, unsigned *sum) {
    struct test_image mask = gray_image(width, height);
    draw_mask(&mask, set, (struct mask_options){0}, NULL);
    for (uint32_t i = 0; i < width * height; i++) {
        sum[i] += mask_at(&mask, i % width, i / width) == 255;
    }
    test_image_free(&mask);
}

static void assert_covered_once(const unsigned *sum, size_t count) {
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(sum[i], 1);
    }
}

/* Rectangles that share borders anywhere, also on centres: each pixel belongs to one. */
static void test_rectangles_adjoin(void **state) {
    (void)state;
    enum { WIDTH = 47, HEIGHT = 10 };
    uint64_t random = seed;
    for (int round = 0; round < 200; round++) {
        unsigned sum[WIDTH * HEIGHT] = {0};
        bool percent = round % 2;
        unsigned tenths = percent ? 1000 : 10 * WIDTH, from = 0;
        while (from < tenths) {
            struct region_set set = {0};
            unsigned size = 1 + (unsigned)(test_random(&random) % 90);
            size = from + size > tenths ? tenths - from : size;
            add_region(&set, percent ? "%u.%u%%,0,%u.%u%%,100%%" : "%u.%u,0,%u.%u,100%%", from / 10,
                       from % 10, size / 10, size % 10);
            add_coverage(&set, WIDTH, HEIGHT, sum);
            from += size;
        }
        assert_covered_once(sum, WIDTH * HEIGHT);
    }
}

/* Triangles around a point, through centres and corners of pixels, fill the picture once. */
static void test_triangles_adjoin(void **state) {
    (void)state;
    enum { SIDE = 24 };
    uint64_t random = seed;
    for (int round = 0; round < 200; round++) {
        unsigned sum[SIDE * SIDE] = {0};
        double x = (double)(test_random(&random) % (2 * SIDE - 2) + 1) / 2;
        double y = (double)(test_random(&random) % (2 * SIDE - 2) + 1) / 2;
        double a = (double)(test_random(&random) % (2 * SIDE - 1) + 1) / 2;
        const double ring[][2] = {{0, 0}, {a, 0}, {SIDE, 0}, {SIDE, a}, {SIDE, SIDE}, {0, SIDE}, {0, 0}};
        for (int i = 0; i < 6; i++) {
            struct region_set set = {0};
            const double *p = ring[i], *q = ring[i + 1];
            bool turned = test_random(&random) % 2;
            add_region(&set, "polygon:%g,%g,%g,%g,%g,%g", x, y, turned ? p[0] : q[0], turned ? p[1] : q[1],
                       turned ? q[0] : p[0], turned ? q[1] : p[1]);
            add_coverage(&set, SIDE, SIDE, sum);
        }
        assert_covered_once(sum, SIDE * SIDE);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_shapes),     cmocka_unit_test(test_fixed_shapes),
        cmocka_unit_test(test_aligned_is_exact),  cmocka_unit_test(test_borders),
        cmocka_unit_test(test_rectangles_adjoin), cmocka_unit_test(test_triangles_adjoin),
    };
    seed = test_seed();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
