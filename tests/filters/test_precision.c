/* SPDX-License-Identifier: MIT
 * How near the filters' single precision is to double. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/filters/filter_levels.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The sum of the window of (x, y) with any weights, in double precision, at the nearest samples. */
static double true_sum(const struct image *image, const double *weight, int width, int height, uint32_t x,
                       uint32_t y, unsigned c) {
    double sum = 0;
    for (int j = 0; j < height; j++) {
        for (int i = 0; i < width; i++) {
            ptrdiff_t at_x = edge_source(EDGE_CLAMP, (ptrdiff_t)image->width, (ptrdiff_t)x + i - width / 2);
            ptrdiff_t at_y = edge_source(EDGE_CLAMP, (ptrdiff_t)image->height, (ptrdiff_t)y + j - height / 2);
            sum += weight[j * width + i] * test_sample(image, 0, (uint32_t)at_x, (uint32_t)at_y, c);
        }
    }
    return sum;
}

static double clamped(double value) {
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

/* value = own * sample + factor * (weighted sum), within 0.51. */
static void check_true(struct levels *levels, const char *text, const double *weight, int side, double own,
                       double factor) {
    struct image_shape shape = simple_shape(2, 61, 19);
    struct test_image source = make_noise(levels, &shape);
    struct test_image got = level_result(levels, text, &source, NULL);
    for (uint32_t i = 0; i < shape.width * shape.height * 3; i++) {
        uint32_t x = i / 3 % shape.width, y = i / 3 / shape.width;
        double sum = true_sum(&source.image, weight, side, side, x, y, i % 3);
        double expected = clamped(own * test_sample(&source.image, 0, x, y, i % 3) + factor * sum);
        double error = fabs(test_sample(&got.image, 0, x, y, i % 3) - expected);
        if (error > 0.51) {
            fail_msg("%s at %u, %u: off by %f", text, (unsigned)x, (unsigned)y, error);
        }
    }
    test_image_free(&source);
    test_image_free(&got);
}

static void test_convolve_is_true(void **state) {
    static const double uneven[] = {0.31, -0.7, 0.11, 0.5, 1.9, -0.25, 0.013, -0.021, 0.4};
    static const double product[] = {0.25, 0.5, 0.25, 0.5, 1, 0.5, 0.25, 0.5, 0.25};
    double box[25];
    for (unsigned i = 0; i < COUNT(box); i++) {
        box[i] = 1;
    }
    check_true(*state, "convolve:kernel=0.31,-0.7,0.11;0.5,1.9,-0.25;0.013,-0.021,0.4 divisor=1.7", uneven, 3,
               0, 1 / 1.7);
    check_true(*state, "convolve:kernel=0.25,0.5,0.25;0.5,1,0.5;0.25,0.5,0.25", product, 3, 0, 0.25);
    check_true(*state, "convolve:preset=box size=5", box, 5, 0, 1 / 25.0);
}

static void test_sharpen_is_true(void **state) {
    enum { RADIUS = 8, SIDE = 2 * RADIUS + 1 };
    double weight[SIDE * SIDE];
    double total = 0;
    const double sigma = 2, amount = 1.5;
    for (int i = 0; i < SIDE * SIDE; i++) {
        int x = i % SIDE - RADIUS, y = i / SIDE - RADIUS;
        weight[i] = exp(-(x * x + y * y) / (2 * sigma * sigma));
        total += weight[i];
    }
    check_true(*state, "sharpen:sigma=2 amount=1.5", weight, SIDE, 1 + amount, -amount / total);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolve_is_true),
        cmocka_unit_test(test_sharpen_is_true),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
