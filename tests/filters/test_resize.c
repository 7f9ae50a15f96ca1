/* SPDX-License-Identifier: MIT
 * The resize against its definition in double precision, and the levels against each other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "tests/filters/filter_levels.h"
#include "tests/filters/reference/reference_resize.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 150; /* many pictures */

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static const char *const kernels[] = {"lanczos3", "mitchell", "cubic", "linear", "nearest", "area"};

/* Limits for the difference to the exact value: perfect rounding has 0.5. */
static const double limit8 = 0.51, limit16 = 4;

/* Compares a resize with the definition, and all levels with each other. */
static void check(struct levels *levels, const char *text, const struct image_shape *shape,
                  enum content content) {
    struct chain chain = make_chain(text, shape);
    struct test_image source;
    if (content == CONTENT_NOISE) {
        source = make_noise(levels, shape);
    } else {
        source = test_image_make(shape);
        test_image_fill(&source, content, &levels->random);
    }
    struct test_image got = level_result(levels, text, &source, NULL);
    double error = reference_resize_error(&chain.step[0].resize, &source.image, &got.image);
    if (error > (shape->depth == 8 ? limit8 : limit16)) {
        fail_msg("%s: model %d, %u bits, chroma %u %u, %ux%u: off by %g", text, (int)shape->model,
                 shape->depth, shape->chroma_shift_x, shape->chroma_shift_y, shape->width, shape->height,
                 error);
    }
    compare_levels(levels, text, &chain, &source, NULL, &got);
    test_image_free(&source);
    test_image_free(&got);
}

static void check_with(struct levels *levels, const char *kernel, const char *rest,
                       const struct image_shape *shape) {
    char text[160];
    snprintf(text, sizeof text, "resize:kernel=%s enlarge=1 %s", kernel, rest);
    check(levels, text, shape, CONTENT_NOISE);
}

/* Sizes of the source, and of a box. */
static const struct {
    uint32_t width, height;
    const char *box;
} sizes[] = {
    {1, 1, "width=1 height=1 fit=fill"},      {1, 1, "width=7 height=3 fit=fill"},
    {1, 41, "width=3 height=17 fit=fill"},    {67, 1, "width=31 height=2 fit=fill"},
    {97, 61, "width=1 height=1 fit=fill"},    {97, 61, "width=1 height=50 fit=fill"},
    {97, 61, "width=50 height=1 fit=fill"},   {97, 61, "width=97 height=61 fit=fill"},
    {97, 61, "width=89 height=53 fit=fill"},  {97, 61, "width=31 height=17 fit=fill"},
    {97, 61, "width=101 height=64 fit=fill"}, {17, 13, "width=83 height=79 fit=fill"},
    {64, 48, "width=32 height=24"},           {64, 48, "width=128 height=96"},
    {331, 7, "width=13 height=113 fit=fill"}, {5, 230, "width=40 height=3 fit=fill"},
};

static void test_kernels(void **state) {
    for (unsigned k = 0; k < COUNT(kernels); k++) {
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            unsigned model = (i + k) % SIMPLE_MODELS; /* both are at most one apart of all pairs */
            struct image_shape shape = simple_shape(model, sizes[i].width, sizes[i].height);
            check_with(*state, kernels[k], sizes[i].box, &shape);
        }
    }
}

static void test_models(void **state) {
    for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
        struct image_shape shape = simple_shape(model, 210, 45);
        check_with(*state, kernels[model % COUNT(kernels)], "width=61", &shape);
        check_with(*state, "lanczos3", "width=61", &shape);
        check_with(*state, "lanczos3", "width=260 height=60 fit=contain background=#fe810240", &shape);
        check_with(*state, "cubic", "width=90 height=90 fit=cover gravity=0.2,0.9", &shape);
    }
}

static const char *const fits[] = {
    "width=40 height=40 fit=contain",
    "width=40 height=40 fit=contain gravity=northwest background=#80c0ff",
    "width=40 height=24 fit=cover",
    "width=17 height=40 fit=cover gravity=southeast",
    "width=16 height=16 fit=cover gravity=0.25,0.75",
    "width=40 height=40 fit=inside",
    "width=40 height=40 fit=outside",
    "height=21",
    "scale=0.37",
    "scale=1.7",
};

static void test_fits(void **state) {
    for (unsigned i = 0; i < COUNT(fits); i++) {
        struct image_shape shape = simple_shape(i % SIMPLE_MODELS, 71, 43);
        check_with(*state, kernels[i % COUNT(kernels)], fits[i], &shape);
        shape.width = 23;
        check_with(*state, kernels[(i + 1) % COUNT(kernels)], fits[i], &shape);
    }
}

static void test_planar(void **state) {
    static const uint8_t shifts[][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}, {2, 0}, {2, 2}};
    static const uint32_t sides[][2] = {{1, 1}, {1, 30}, {31, 1}, {41, 23}, {80, 64}, {99, 67}};
    static const char *const texts[] = {"width=33", "height=40", "width=17 height=19 fit=fill",
                                        "width=24 height=16 fit=cover gravity=0.3,0.7",
                                        "width=50 height=50 fit=fill"};
    for (unsigned s = 0; s < COUNT(shifts); s++) {
        for (unsigned i = 0; i < COUNT(sides); i++) {
            struct image_shape shape = {.model = PIXEL_YCBCR,
                                        .depth = 8,
                                        .chroma_shift_x = shifts[s][0],
                                        .chroma_shift_y = shifts[s][1],
                                        .width = sides[i][0],
                                        .height = sides[i][1]};
            for (unsigned t = 0; t < COUNT(texts); t++) {
                check_with(*state, kernels[(s + i + t) % COUNT(kernels)], texts[t], &shape);
            }
        }
    }
}

/* The background of planes that are reduced: aligned on one axis, at the border of the canvas on the other.
 */
static void test_planar_background(void **state) {
    struct image_shape shape = {.model = PIXEL_YCBCR,
                                .depth = 8,
                                .chroma_shift_x = 1,
                                .chroma_shift_y = 1,
                                .width = 80,
                                .height = 40};
    check_with(*state, "lanczos3", "width=40 height=41 fit=contain gravity=north background=#c01080", &shape);
    check_with(*state, "lanczos3", "width=40 height=40 fit=contain background=#c01080", &shape);
    check_with(*state, "area", "width=41 height=20 fit=contain gravity=west background=#00ff00", &shape);
}

static void test_long(void **state) {
    struct image_shape row = simple_shape(0, 32768, 1), column = simple_shape(4, 1, 32768);
    for (unsigned k = 0; k < COUNT(kernels); k++) {
        check_with(*state, kernels[k], "width=3 height=1 fit=fill", &row);
        check_with(*state, kernels[k], "width=9001 height=1 fit=fill", &row);
        check_with(*state, kernels[k], "width=2 height=5 fit=fill", &column);
        check_with(*state, kernels[k], "width=1 height=4999 fit=fill", &column);
    }
    struct image_shape alpha = simple_shape(7, 32768, 2);
    check_with(*state, "lanczos3", "width=1 height=1 fit=fill", &alpha);
    struct image_shape dot = simple_shape(3, 3, 2);
    check_with(*state, "lanczos3", "width=32767 height=1 fit=fill", &dot);
}

static void test_contents(void **state) {
    for (enum content content = CONTENT_ZERO; content < CONTENT_COUNT; content++) {
        struct image_shape shape = simple_shape(content % 2 ? 2 : 6, 119, 83);
        check(*state, "resize:width=40", &shape, content);
        check(*state, "resize:width=180 enlarge=1 kernel=cubic", &shape, content);
    }
}

/* ---- facts ---- */

/* All samples, where `slack` more or less is allowed. */
static void expect_all(const struct test_image *image, unsigned value, unsigned slack, const char *text) {
    const struct plane *plane = &image->image.plane[0];
    for (uint32_t y = 0; y < plane->height; y++) {
        for (uint32_t x = 0; x < plane->width; x++) {
            for (unsigned c = 0; c < plane->channels; c++) {
                if (test_sample(&image->image, 0, x, y, c) + slack - value > 2 * slack) {
                    fail_msg("%s: %u at %u, %u, not %u", text, test_sample(&image->image, 0, x, y, c), x, y,
                             value);
                }
            }
        }
    }
}

static void test_constant_stays(void **state) {
    static const uint32_t sides[][4] = {
        {32768, 1, 1, 1}, {1, 32768, 1, 1}, {997, 13, 101, 7}, {13, 11, 301, 97}, {32768, 1, 1000, 3}};
    for (unsigned k = 0; k < COUNT(kernels); k++) {
        for (unsigned i = 0; i < COUNT(sides); i++) {
            for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
                struct image_shape shape = simple_shape(model, sides[i][0], sides[i][1]);
                struct test_image source = test_image_make(&shape);
                unsigned value = shape.depth == 8 ? 253 : i % 2 ? 65533 : 43691;
                test_image_set(&source, value);
                char text[128];
                snprintf(text, sizeof text, "resize:kernel=%s fit=fill enlarge=1 width=%u height=%u",
                         kernels[k], sides[i][2], sides[i][3]);
                struct test_image got = level_result(*state, text, &source, NULL);
                /* sums of 32768 floats, in blocks, are exact to 17 bits or so */
                expect_all(&got, value, shape.depth == 16 && i < 2, text);
                test_image_free(&source);
                test_image_free(&got);
            }
        }
    }
}

/* The mean position of the samples of row 0, as a part of its length. */
static double centre_of(const struct test_image *image) {
    const struct plane *plane = &image->image.plane[0];
    double sum = 0, moment = 0;
    for (uint32_t x = 0; x < plane->width; x++) {
        double value = test_sample(&image->image, 0, x, 0, 0);
        sum += value;
        moment += value * (x + 0.5);
    }
    return moment / sum / plane->width;
}

/* A blob keeps its place: no kernel shifts by a part of a pixel. */
static void test_no_shift(void **state) {
    static const uint32_t widths[] = {20, 33, 57, 64, 100, 128, 211, 400};
    struct image_shape shape = simple_shape(4, 100, 1);
    struct test_image source = test_image_make(&shape);
    for (uint32_t x = 0; x < 100; x++) {
        double t = ((double)x + 0.5 - 37.3) / 8;
        test_put(&source.image, 0, x, 0, 0, t * t < 1 ? (unsigned)(60000 * (1 - t * t) * (1 - t * t)) : 0);
    }
    double centre = centre_of(&source);
    for (unsigned k = 0; k < COUNT(kernels); k++) {
        for (unsigned i = 0; i < COUNT(widths); i++) {
            char text[96];
            snprintf(text, sizeof text, "resize:kernel=%s width=%u height=1 fit=fill enlarge=1", kernels[k],
                     widths[i]);
            struct test_image got = level_result(*state, text, &source, NULL);
            double shift = (centre_of(&got) - centre) * 100;
            double limit = strcmp(kernels[k], "nearest") == 0 ? 0.6 : 0.05;
            if (shift > limit || shift < -limit) {
                fail_msg("%s: the blob moved by %g pixels", text, shift);
            }
            test_image_free(&got);
        }
    }
    test_image_free(&source);
}

/* Enlargement by whole numbers repeats pixels, with two kernels; the same size changes nothing. */
static void test_copies(void **state) {
    static const char *const texts[] = {"resize:kernel=nearest scale=3 enlarge=1",
                                        "resize:kernel=area scale=3 enlarge=1", "resize:scale=1",
                                        "resize:scale=1 kernel=cubic", "resize:width=500"};
    for (unsigned t = 0; t < COUNT(texts); t++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 29, 18);
            struct test_image source = make_noise(*state, &shape);
            struct test_image got = level_result(*state, texts[t], &source, NULL);
            unsigned factor = t < 2 ? 3 : 1;
            bool has_alpha = image_pixel_has_alpha(shape.model);
            unsigned channels = source.image.plane[0].channels;
            for (uint32_t i = 0; i < 29 * factor * 18 * factor; i++) {
                uint32_t x = i % (29 * factor), y = i / (29 * factor);
                bool clear =
                    has_alpha && test_sample(&source.image, 0, x / factor, y / factor, channels - 1) == 0;
                for (unsigned c = 0; c < channels && !clear; c++) {
                    assert_int_equal(test_sample(&got.image, 0, x, y, c),
                                     test_sample(&source.image, 0, x / factor, y / factor, c));
                }
            }
            test_image_free(&source);
            test_image_free(&got);
        }
    }
}

/* Several threads, rows that come while they work, and a deadline that has passed. */
static void check_bands(struct levels *levels, const char *text, const struct image_shape *shape) {
    struct test_image source = make_noise(levels, shape);
    struct test_image alone = level_result(levels, text, &source, NULL);
    struct chain chain = make_chain(text, shape);
    levels->helpers = helpers_start(3, 1000, false);
    compare_levels(levels, text, &chain, &source, NULL, &alone);
    levels->follows = true;
    compare_levels(levels, text, &chain, &source, NULL, &alone);
    helpers_stop(levels->helpers);
    levels->helpers = NULL;
    compare_levels(levels, text, &chain, &source, NULL, &alone);
    levels->follows = false;
    struct chain_run run = {
        .chain = &chain, .source = &source.image, .target = &alone.image, .deadline_ns = clock_ns() - 1};
    struct error err = {0};
    assert_int_equal(lane_run(levels->lane[0], &run, NULL, &err), ST_LIMIT);
    test_image_free(&source);
    test_image_free(&alone);
}

static void test_bands(void **state) {
    struct levels *levels = *state;
    static const char *const texts[] = {"resize:width=333", "resize:width=2000 enlarge=1",
                                        "resize:width=500 height=700 fit=contain background=#123456",
                                        "resize:width=300 height=700 fit=cover gravity=0.3,1|blur:sigma=2"};
    struct image_shape rgba = simple_shape(3, 1200, 900);
    struct image_shape planar = {.model = PIXEL_YCBCR,
                                 .depth = 8,
                                 .chroma_shift_x = 1,
                                 .chroma_shift_y = 1,
                                 .width = 1201,
                                 .height = 903};
    unsigned told = levels->told;
    for (unsigned t = 0; t < COUNT(texts); t++) {
        check_bands(levels, texts[t], &rgba);
        check_bands(levels, texts[t], &planar);
    }
    assert_true(levels->told > told);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kernels),
        cmocka_unit_test(test_models),
        cmocka_unit_test(test_fits),
        cmocka_unit_test(test_planar),
        cmocka_unit_test(test_planar_background),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_contents),
        cmocka_unit_test(test_constant_stays),
        cmocka_unit_test(test_no_shift),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_bands),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
