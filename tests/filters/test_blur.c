/* SPDX-License-Identifier: MIT
 * Every CPU level gives the reference's bytes, in the picture and around it. FULL=1 tries every model
 * with every size, SEED=n repeats a run. How near the reference is to a true Gaussian is the
 * business of test_gaussian.c. */
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
#include "tests/filters/reference/reference_blur.h"
#include "tests/filters/reference/reference_filters.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 150; /* many pictures */

enum { LEVELS_MAX = 5 };

static const char *const level_names[LEVELS_MAX] = {"plain", "baseline", "avx2", "avx512", "neon"};

struct fixture {
    struct backend *backend[LEVELS_MAX]; /* NULL: this processor lacks it */
    struct lane *lane[LEVELS_MAX];
    uint64_t random;
};

static const double sigmas[] = {0.1, 0.3, 0.5, 1,  1.5, 2,  3,  3.99, 4,   5,  7.9,
                                8,   12,  16,  20, 33,  50, 64, 100,  300, 500};
static const uint32_t sizes[][2] = {{1, 1},   {1, 7},    {7, 1},   {2, 2},   {3, 5},  {17, 31},
                                    {64, 48}, {127, 65}, {200, 3}, {3, 200}, {33, 2}, {2, 401}};

static const struct image_shape models[] = {
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_RGB, .depth = 8},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
    {.model = PIXEL_GRAY_ALPHA, .depth = 8},
    {.model = PIXEL_RGBA, .depth = 8},
    {.model = PIXEL_GRAY, .depth = 16},
    {.model = PIXEL_GRAY_ALPHA, .depth = 16},
    {.model = PIXEL_RGB, .depth = 16},
    {.model = PIXEL_RGBA, .depth = 16},
};

enum {
    SIGMAS = sizeof sigmas / sizeof sigmas[0],
    SIZES = sizeof sizes / sizeof sizes[0],
    MODELS = sizeof models / sizeof models[0],
    EDGES = EDGE_ZERO + 1,
};

static bool full(void) {
    return getenv("FULL") != NULL;
}

static int setup(void **state) {
    static struct fixture fixture;
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        struct error err = {0};
        if (cpu_backend_open(level_names[i], &fixture.backend[i], &err) == ST_OK) {
            assert_int_equal(lane_create(fixture.backend[i], &fixture.lane[i], &err), ST_OK);
        } else {
            printf("not tested: %s\n", err.text);
        }
    }
    assert_non_null(fixture.lane[0]);
    fixture.random = test_seed();
    *state = &fixture;
    return 0;
}

static int teardown(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        lane_destroy(f->lane[i]);
        backend_close(f->backend[i]);
    }
    return 0;
}

static struct chain make_chain(const struct blur_arguments *arguments, const struct image_shape *shape) {
    struct chain chain = {0};
    struct error err = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), arguments, shape, &err), ST_OK);
    return chain;
}

static void print_case(const struct image_shape *shape, const struct blur_arguments *arguments) {
    printf("model %d, %u bits, chroma %u %u, %ux%u, sigma %g, kernel_size %d, edge %d\n", (int)shape->model,
           shape->depth, shape->chroma_shift_x, shape->chroma_shift_y, shape->width, shape->height,
           arguments->sigma, arguments->kernel_size, arguments->edge);
}

/* The first byte in which the whole memory of two pictures differs, or -1. */
static long difference(const struct test_image *a, const struct test_image *b) {
    for (size_t i = 0; i < a->size; i++) {
        if (a->memory[i] != b->memory[i]) {
            return (long)i;
        }
    }
    return -1;
}

/* Runs the chain at every level and compares all of the memory, guards and padding too. */
static void compare_levels(struct fixture *f, const struct chain *chain, const struct test_image *source,
                           const struct test_image *expected, const struct blur_arguments *arguments) {
    struct image_shape shape = image_shape(&source->image);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (!f->lane[i]) {
            continue;
        }
        struct test_image got = test_image_make(&shape);
        struct error err = {0};
        enum status status = lane_run(
            f->lane[i], &(struct chain_run){.chain = chain, .source = &source->image, .target = &got.image},
            NULL, &err);
        long at = status == ST_OK ? difference(expected, &got) : 0;
        if (at >= 0) {
            print_case(&shape, arguments);
            long offset = at - GUARD_BYTES;
            long stride = (long)source->image.plane[0].stride;
            fail_msg("%s: %s at byte %ld, row %ld column %ld of plane 0: %d, not %d", level_names[i],
                     err.text, offset, offset / stride, offset % stride, got.memory[at],
                     expected->memory[at]);
        }
        test_image_free(&got);
    }
}

static void check_case(struct fixture *f, const struct image_shape *shape,
                       const struct blur_arguments *arguments, enum content content) {
    struct test_image source = test_image_make(shape);
    struct test_image expected = test_image_make(shape);
    test_image_fill(&source, content, &f->random);
    struct chain chain = make_chain(arguments, shape);
    reference_blur(&chain.step[0].blur, &source.image, &expected.image);
    compare_levels(f, &chain, &source, &expected, arguments);
    test_image_free(&source);
    test_image_free(&expected);
}

/* One model of those, or all with FULL=1. */
static void check_models(struct fixture *f, uint32_t width, uint32_t height,
                         const struct blur_arguments *arguments) {
    unsigned first = full() ? 0 : (unsigned)(test_random(&f->random) % MODELS);
    for (unsigned m = first; m < (full() ? MODELS : first + 1); m++) {
        struct image_shape shape = models[m];
        shape.width = width;
        shape.height = height;
        uint64_t dice = test_random(&f->random) % (2 * CONTENT_COUNT);
        check_case(f, &shape, arguments, dice < CONTENT_COUNT ? (enum content)dice : CONTENT_NOISE);
    }
}

static void test_every_sigma(void **state) {
    for (unsigned s = 0; s < SIGMAS; s++) {
        for (unsigned size = 0; size < SIZES; size++) {
            for (int edge = 0; edge < EDGES; edge++) {
                struct blur_arguments arguments = {.sigma = sigmas[s], .edge = edge};
                check_models(*state, sizes[size][0], sizes[size][1], &arguments);
            }
        }
    }
}

/* Every model meets every edge and both ways of filtering, on a picture wider than a block. */
static void test_every_model(void **state) {
    static const double few[] = {1, 5, 11, 40};
    for (unsigned m = 0; m < MODELS; m++) {
        for (unsigned i = 0; i < 4 * (unsigned)EDGES; i++) {
            struct fixture *f = *state;
            struct image_shape shape = models[m];
            shape.width = 66 + (uint32_t)(test_random(&f->random) % 100);
            shape.height = 20 + (uint32_t)(test_random(&f->random) % 30);
            struct blur_arguments arguments = {.sigma = few[i / EDGES], .edge = (int)(i % EDGES)};
            check_case(f, &shape, &arguments, CONTENT_NOISE);
        }
    }
}

static void test_every_kernel_size(void **state) {
    for (int kernel_size = 3; kernel_size <= 99; kernel_size += kernel_size < 15 ? 2 : 28) {
        for (unsigned s = 0; s < SIGMAS; s += 3) {
            for (int edge = 0; edge < EDGES; edge++) {
                struct fixture *f = *state;
                struct blur_arguments arguments = {sigmas[s], kernel_size, edge};
                const uint32_t *size = sizes[test_random(&f->random) % SIZES];
                check_models(f, size[0], size[1], &arguments);
            }
        }
    }
}

static void test_extreme_contents(void **state) {
    for (unsigned s = 0; s < SIGMAS; s++) {
        for (unsigned content = 0; content < CONTENT_COUNT; content++) {
            struct blur_arguments arguments = {.sigma = sigmas[s], .edge = (int)(content % EDGES)};
            struct image_shape shape = models[s % MODELS];
            shape.width = 97;
            shape.height = 41;
            check_case(*state, &shape, &arguments, (enum content)content);
        }
    }
}

/* A picture of one colour does not change, except with black outside. */
static void test_constants_stay(void **state) {
    struct fixture *f = *state;
    for (unsigned i = 0; i < SIGMAS * (unsigned)MODELS * 2; i++) {
        struct image_shape shape = models[i % MODELS];
        shape.width = 70;
        shape.height = 33;
        struct blur_arguments arguments = {.sigma = sigmas[i / MODELS % SIGMAS],
                                           .edge = (int)(i % EDGE_ZERO)};
        struct test_image source = test_image_make(&shape);
        unsigned max = shape.depth == 8 ? 255 : 65535;
        /* not 0: where alpha is 0 the colour goes */
        test_image_set(&source, i % 3 == 0 ? max : 1 + (unsigned)(test_random(&f->random) % max));
        struct chain chain = make_chain(&arguments, &shape);
        struct test_image same = test_image_make(&shape);
        memcpy(same.memory, source.memory, same.size);
        compare_levels(f, &chain, &source, &same, &arguments);
        test_image_free(&source);
        test_image_free(&same);
    }
}

/* Colours whose quotient lies between two samples, and alphas near the smallest float, for which levels
 * divide otherwise than elsewhere. */
static void test_odd_quotients(void **state) {
    struct fixture *f = *state;
    const struct image_shape shape = {.model = PIXEL_RGBA, .depth = 8, .width = 97, .height = 41};
    for (unsigned i = 0; i < 40; i++) {
        const bool tiny = i % 2;
        struct blur_arguments arguments = {.sigma = tiny ? 0.3 + i * 0.02 : 0.5 * i + 0.5,
                                           .kernel_size = tiny ? 15 : 0};
        struct test_image source = test_image_make(&shape);
        struct test_image expected = test_image_make(&shape);
        const struct plane *plane = &source.image.plane[0];
        for (size_t at = 0; at < (size_t)shape.width * shape.height; at++) {
            uint8_t *pixel = plane->data + at / shape.width * plane->stride + at % shape.width * 4;
            memset(pixel, at % 2 ? 255 : 0, 4);
            pixel[3] = tiny ? at % 331 == 0 : 255;
        }
        struct chain chain = make_chain(&arguments, &shape);
        reference_blur(&chain.step[0].blur, &source.image, &expected.image);
        compare_levels(f, &chain, &source, &expected, &arguments);
        test_image_free(&source);
        test_image_free(&expected);
    }
}

/* A chain of any length runs its steps one after the other. */
static void test_chain_of_steps(void **state) {
    struct image_shape shape = models[2];
    shape.width = 75;
    shape.height = 44;
    for (unsigned steps = 2; steps <= CHAIN_STEPS_MAX; steps++) {
        struct fixture *f = *state;
        struct test_image source = test_image_make(&shape);
        test_image_fill(&source, CONTENT_NOISE, &f->random);
        struct test_image now = test_image_make(&shape);
        memcpy(now.memory, source.memory, now.size);
        struct chain chain = {0};
        struct blur_arguments arguments;
        for (unsigned i = 0; i < steps; i++) {
            arguments = (struct blur_arguments){.sigma = sigmas[(i * 5 + steps) % SIGMAS]};
            assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_OK);
            struct test_image next = test_image_make(&shape);
            reference_blur(&chain.step[i].blur, &now.image, &next.image);
            test_image_free(&now);
            now = next;
        }
        compare_levels(f, &chain, &source, &now, &arguments);
        test_image_free(&source);
        test_image_free(&now);
    }
}

/* Runs that the wrapper refuses, so that backends need not check them. */
static enum status run_chain(struct lane *lane, const struct chain *chain, const struct image *source,
                             const struct image *target) {
    return lane_run(lane, &(struct chain_run){.chain = chain, .source = source, .target = target}, NULL,
                    NULL);
}

static void test_refusals(void **state) {
    struct fixture *f = *state;
    struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = 9, .height = 9};
    struct image_shape wider = {.model = PIXEL_GRAY, .depth = 8, .width = 10, .height = 9};
    struct test_image a = test_image_make(&shape);
    struct test_image b = test_image_make(&shape);
    struct test_image c = test_image_make(&wider);
    struct blur_arguments arguments = {.sigma = 1};
    struct chain good = make_chain(&arguments, &shape);
    struct lane *lane = f->lane[0];
    assert_int_equal(run_chain(lane, &good, &a.image, &b.image), ST_OK);
    assert_int_equal(run_chain(lane, &good, &a.image, &a.image), ST_INTERNAL);
    assert_int_equal(run_chain(lane, &good, &a.image, &c.image), ST_INTERNAL);
    struct image bare = a.image;
    bare.plane[0].data = NULL;
    assert_int_equal(run_chain(lane, &good, &bare, &b.image), ST_INTERNAL);
    struct chain bad = good;
    bad.count = 0;
    assert_int_equal(run_chain(lane, &bad, &a.image, &b.image), ST_INTERNAL);
    bad.count = CHAIN_STEPS_MAX + 1;
    assert_int_equal(run_chain(lane, &bad, &a.image, &b.image), ST_INTERNAL);
    bad = good;
    bad.step[0].blur.axis[0].radius = BLUR_RADIUS_MAX + 1;
    assert_int_equal(run_chain(lane, &bad, &a.image, &b.image), ST_INTERNAL);
    bad = good;
    bad.step[0].blur.axis[0].weight[0]++;
    assert_int_equal(run_chain(lane, &bad, &a.image, &b.image), ST_INTERNAL);
    test_image_free(&a);
    test_image_free(&b);
    test_image_free(&c);
}

static void test_level_names(void **state) {
    struct fixture *f = *state;
    struct backend *backend;
    struct error err = {0};
    assert_int_equal(cpu_backend_open("mmx", &backend, &err), ST_ARGUMENT);
    assert_null(backend);
    assert_int_equal(cpu_backend_open("auto", &backend, &err), ST_OK);
    backend_close(backend);
    backend_close(NULL);
    lane_destroy(NULL);
    assert_string_equal(f->backend[0]->name, "cpu/plain");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_level_names),       cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_every_model),       cmocka_unit_test(test_every_sigma),
        cmocka_unit_test(test_every_kernel_size), cmocka_unit_test(test_extreme_contents),
        cmocka_unit_test(test_constants_stay),    cmocka_unit_test(test_chain_of_steps),
        cmocka_unit_test(test_odd_quotients),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
