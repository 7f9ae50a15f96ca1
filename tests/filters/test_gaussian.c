/* SPDX-License-Identifier: MIT
 * How near the blur is to the Gaussian that it stands for: sampled, in double precision, with tails of
 * 6 sigma, over the picture extended without end. The CPU backend stands for all, as they give
 * the same bytes. FULL=1 prints the table of docs/filters.md. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cpu/cpu.h"
#include "filters/chain.h"
#include "tests/filters/filter_image.h"
#include "tests/filters/reference/reference_gaussian.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 150; /* many pictures */

enum { WIDTH = 240, HEIGHT = 150 };

static const double sigmas[] = {0.1, 0.2, 0.3, 0.5,   0.7, 1,   1.5, 2,   2.7, 3,  3.99,
                                4,   4.5, 5,   6,     7.9, 8,   10,  12,  16,  20, 31,
                                33,  50,  100, 127.9, 128, 200, 256, 300, 400, 500};
static const enum content contents[] = {CONTENT_NOISE, CONTENT_CHECKER, CONTENT_IMPULSE,
                                        CONTENT_STEP,  CONTENT_STRIPES, CONTENT_PHOTO};

enum { SIGMAS = sizeof sigmas / sizeof sigmas[0], CONTENTS = sizeof contents / sizeof contents[0] };

struct fixture {
    struct backend *backend;
    struct lane *lane;
};

struct errors {
    double largest;
    double mean;
    double perfect; /* the mean that rounding the true values leaves: 0.25 where they are spread evenly */
};

static int setup(void **state) {
    static struct fixture fixture;
    assert_int_equal(cpu_backend_open("auto", &fixture.backend, NULL), ST_OK);
    assert_int_equal(lane_create(fixture.backend, &fixture.lane, NULL), ST_OK);
    *state = &fixture;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    lane_destroy(f->lane);
    backend_close(f->backend);
    return 0;
}

static struct errors measure(struct fixture *f, unsigned depth, double sigma, enum edge edge,
                             enum content content) {
    static double expected[WIDTH * HEIGHT];
    struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = (uint8_t)depth, .width = WIDTH, .height = HEIGHT};
    struct test_image source = test_image_make(&shape);
    struct test_image got = test_image_make(&shape);
    uint64_t random = 1;
    test_image_fill(&source, content, &random);
    struct blur_arguments arguments = {.sigma = sigma, .edge = edge};
    struct chain chain = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_OK);
    assert_int_equal(
        lane_run(f->lane, &(struct chain_run){.chain = &chain, .source = &source.image, .target = &got.image},
                 NULL, NULL),
        ST_OK);
    reference_gaussian(&source.image, sigma, edge, expected);
    struct errors errors = {0};
    for (unsigned i = 0; i < WIDTH * HEIGHT; i++) {
        double error = fabs(test_sample(&got.image, 0, i % WIDTH, i / WIDTH, 0) - expected[i]);
        errors.largest = error > errors.largest ? error : errors.largest;
        errors.mean += error / (WIDTH * HEIGHT);
        errors.perfect += fabs(floor(expected[i] + 0.5) - expected[i]) / (WIDTH * HEIGHT);
    }
    test_image_free(&source);
    test_image_free(&got);
    return errors;
}

/* The worst of all contents and edges; the means are those of the photograph. */
static struct errors worst(struct fixture *f, unsigned depth, double sigma) {
    struct errors all = {0};
    for (unsigned i = 0; i < CONTENTS; i++) {
        for (int edge = EDGE_CLAMP; edge <= EDGE_ZERO; edge++) {
            if (!getenv("FULL") && edge != EDGE_CLAMP && edge != (int)(1 + i % EDGE_ZERO)) {
                continue;
            }
            struct errors one = measure(f, depth, sigma, (enum edge)edge, contents[i]);
            all.largest = fmax(all.largest, one.largest);
            if (contents[i] == CONTENT_PHOTO && one.mean - one.perfect >= all.mean - all.perfect) {
                all.mean = one.mean;
                all.perfect = one.perfect;
            }
        }
    }
    return all;
}

static void test_eight_bits(void **state) {
    for (unsigned s = 0; s < SIGMAS; s++) {
        struct errors errors = worst(*state, 8, sigmas[s]);
        if (getenv("FULL")) {
            printf("8 bits, sigma %g: largest %.3f, mean %.3f of 255 (rounding alone: %.3f)\n", sigmas[s],
                   errors.largest, errors.mean, errors.perfect);
        }
        assert_true(errors.largest <= 0.65); /* 1 is promised */
        assert_true(errors.mean <= errors.perfect + 0.01);
    }
}

/* 16 bits show the error of the method itself, from reduction and the cut tails, as weights are floats. */
static void test_sixteen_bits(void **state) {
    for (unsigned s = 0; s < SIGMAS; s++) {
        struct errors errors = worst(*state, 16, sigmas[s]);
        if (getenv("FULL")) {
            printf("16 bits, sigma %g: largest %.1f, mean %.2f of 65535\n", sigmas[s], errors.largest,
                   errors.mean);
        }
        assert_true(errors.largest <= 32); /* of 65535: 0.12 of 255 */
    }
}

/* One pixel as textbook code computes it: whole weights of the square kernel, borders repeated,
 * the quotient cut off. */
static int tutorial(const struct image *image, uint32_t x, uint32_t y, double sigma, int radius) {
    long sum = 0;
    long all = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            long weight = lround(1000 * exp(-(dx * dx + dy * dy) / (2 * sigma * sigma)));
            uint32_t sx = (uint32_t)reference_fold(EDGE_CLAMP, (long)x + dx, WIDTH);
            uint32_t sy = (uint32_t)reference_fold(EDGE_CLAMP, (long)y + dy, HEIGHT);
            sum += weight * (long)test_sample(image, 0, sx, sy, 0);
            all += weight;
        }
    }
    return (int)(sum / all);
}

static void test_tutorial_kernel(void **state) {
    struct fixture *f = *state;
    struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT};
    struct blur_arguments arguments = {.sigma = 1.5, .kernel_size = 7};
    struct chain chain = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_OK);
    for (unsigned i = 0; i < CONTENTS; i++) {
        struct test_image source = test_image_make(&shape);
        struct test_image got = test_image_make(&shape);
        uint64_t random = i;
        test_image_fill(&source, contents[i], &random);
        assert_int_equal(
            lane_run(f->lane,
                     &(struct chain_run){.chain = &chain, .source = &source.image, .target = &got.image},
                     NULL, NULL),
            ST_OK);
        for (uint32_t p = 0; p < WIDTH * HEIGHT; p++) {
            int classic = tutorial(&source.image, p % WIDTH, p / WIDTH, 1.5, 3);
            assert_in_range(1 + (int)test_sample(&got.image, 0, p % WIDTH, p / WIDTH, 0) - classic, 0, 2);
        }
        test_image_free(&source);
        test_image_free(&got);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_eight_bits),
        cmocka_unit_test(test_sixteen_bits),
        cmocka_unit_test(test_tutorial_kernel),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
