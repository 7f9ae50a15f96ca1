/* SPDX-License-Identifier: MIT
 * Every CPU level gives the reference's bytes, which are near double precision. FULL=1: all sizes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/filters/filter_levels.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

enum { TEXT_MAX = 256 };

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const uint32_t sizes[][2] = {{1, 1}, {1, 7}, {7, 1}, {2, 2}, {63, 3}, {64, 2}, {65, 3}, {131, 5}};

/* Under a mask these keep every colour model. */
static const char *const keeping[] = {
    "brightness=1",
    "brightness=0",
    "brightness=1.7",
    "brightness=10 contrast=10 saturation=10",
    "contrast=0.3 brightness=1.2",
    "saturation=2.5",
    "saturation=0",
    "saturation=0.4 negate=1",
    "gamma=2.2",
    "gamma=0.2",
    "gamma=5 contrast=1.5",
    "gamma=0.45 saturation=1.3 brightness=0.9",
    "negate=true",
};

static const char *const changing[] = {
    "grayscale=true",
    "grayscale=true gamma=1.8 contrast=1.4",
    "grayscale=true negate=true brightness=0.8",
    "sepia=1",
    "sepia=0.35 brightness=1.1",
    "grayscale=1 sepia=1 gamma=0.7",
    "duotone=2b1055,#ffd26f",
    "duotone=fff,000 contrast=1.2",
    "duotone=#102030,#405060 sepia=0.5 negate=1 gamma=3",
};

static const struct image_shape planar[] = {
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
};

static void check_text(struct levels *levels, const char *arguments, bool keeps) {
    bool full = getenv("FULL") != NULL;
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "adjust:%s", arguments);
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        uint64_t dice = test_random(&levels->random);
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            if (full || i + 1 == COUNT(sizes) || model == dice % SIMPLE_MODELS) {
                struct image_shape shape = simple_shape(model, sizes[i][0], sizes[i][1]);
                check_reference(levels, text, &shape, keeps && (dice >> 8) % 2);
            }
        }
    }
}

static void test_levels(void **state) {
    for (unsigned i = 0; i < COUNT(keeping); i++) {
        check_text(*state, keeping[i], true);
    }
    for (unsigned i = 0; i < COUNT(changing); i++) {
        check_text(*state, changing[i], false);
    }
}

static void test_planes(void **state) {
    static const char *const texts[] = {"adjust:negate=true", "adjust:grayscale=true",
                                        "adjust:grayscale=true brightness=1.5 contrast=0.7 negate=1",
                                        "blur:sigma=2|adjust:grayscale=true|sharpen"};
    for (unsigned t = 0; t < COUNT(texts); t++) {
        for (unsigned m = 0; m < COUNT(planar); m++) {
            for (unsigned i = 0; i < COUNT(sizes); i++) {
                struct image_shape shape = planar[m];
                shape.width = sizes[i][0];
                shape.height = sizes[i][1];
                check_reference(*state, texts[t], &shape, t == 0 && (m + i) % 2);
            }
        }
    }
}

/* Steps before and behind one that changes the colour model. */
static void test_chains(void **state) {
    static const char *const texts[] = {"pixelate:block=3|adjust:sepia=1|blur:sigma=2",
                                        "adjust:grayscale=1|adjust:duotone=f00,00f|adjust:grayscale=1",
                                        "blur:sigma=1|adjust:gamma=2|sharpen|adjust:grayscale=true"};
    for (unsigned t = 0; t < COUNT(texts); t++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 67, 9);
            check_reference(*state, texts[t], &shape, false);
        }
    }
}

/* ---- definitions ---- */

static double luma_of(const double v[3]) {
    return 0.299 * v[0] + 0.587 * v[1] + 0.114 * v[2];
}

static void tone(const struct adjust_arguments *adjust, double v[3]) {
    static const double sepia[3][3] = {{0.393, 0.769, 0.189}, {0.349, 0.686, 0.168}, {0.272, 0.534, 0.131}};
    const double was[3] = {v[0], v[1], v[2]};
    for (unsigned c = 0; c < 3; c++) {
        double brown = sepia[c][0] * was[0] + sepia[c][1] * was[1] + sepia[c][2] * was[2];
        v[c] = was[c] + adjust->sepia * (brown - was[c]);
    }
    double luma = luma_of(v);
    for (unsigned c = 0; c < 3 && adjust->duotone.given; c++) {
        v[c] = (adjust->duotone.shadow[c] * (1 - luma) + adjust->duotone.highlight[c] * luma) / 255;
    }
}

/* Each operation in the order of docs/filters.md, on colours from 0 to 1. */
static void define(const struct adjust_arguments *adjust, double v[3]) {
    for (unsigned c = 0; c < 3; c++) {
        v[c] = pow(v[c], 1 / adjust->gamma) * adjust->brightness;
        v[c] = (v[c] - 0.5) * adjust->contrast + 0.5;
    }
    double luma = luma_of(v);
    for (unsigned c = 0; c < 3; c++) {
        v[c] = luma + adjust->saturation * (v[c] - luma);
    }
    luma = luma_of(v);
    for (unsigned c = 0; c < 3 && adjust->grayscale; c++) {
        v[c] = luma;
    }
    tone(adjust, v);
    for (unsigned c = 0; c < 3; c++) {
        v[c] = adjust->negate ? 1 - v[c] : v[c];
    }
}

static struct adjust_arguments arguments_of(const char *text) {
    struct adjust_arguments adjust = {0};
    char copy[TEXT_MAX], *rest = copy;
    snprintf(copy, sizeof copy, "%s", text);
    arguments_default(filter_adjust.arguments, &adjust);
    for (char *part = strtok_r(rest, " ", &rest); part; part = strtok_r(rest, " ", &rest)) {
        char *value = strchr(part, '=');
        *value++ = '\0';
        const struct argument *row = argument_find(filter_adjust.arguments, part);
        assert_int_equal(argument_parse(row, value, &adjust, NULL), ST_OK);
    }
    return adjust;
}

/* The largest difference between the picture and the definitions. */
static double worst_of(const struct adjust_arguments *adjust, const struct image *source,
                       const struct image *got) {
    double white = source->depth == 16 ? 65535 : 255, worst = 0;
    unsigned colours = source->plane[0].channels >= 3 ? 3 : 1;
    unsigned made = got->plane[0].channels >= 3 ? 3 : 1;
    for (uint32_t i = 0; i < source->width * source->height; i++) {
        uint32_t x = i % source->width, y = i / source->width;
        double v[3];
        for (unsigned c = 0; c < 3; c++) {
            v[c] = test_sample(source, 0, x, y, colours == 3 ? c : 0) / white;
        }
        define(adjust, v);
        v[0] = made == 1 ? luma_of(v) : v[0];
        for (unsigned c = 0; c < made; c++) {
            double wanted = white * fmin(fmax(v[c], 0), 1);
            worst = fmax(worst, fabs(wanted - test_sample(got, 0, x, y, c)));
        }
        if (image_pixel_has_alpha(source->model)) {
            assert_int_equal(test_sample(got, 0, x, y, made), test_sample(source, 0, x, y, colours));
        }
    }
    return worst;
}

static void check_definition(struct levels *levels, const char *arguments, double worst[2]) {
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "adjust:%s", arguments);
    const struct adjust_arguments adjust = arguments_of(arguments);
    for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
        struct image_shape shape = simple_shape(model, 257, 64);
        struct test_image source = make_noise(levels, &shape);
        struct test_image got = level_result(levels, text, &source, NULL);
        double *most = &worst[shape.depth == 16];
        *most = fmax(*most, worst_of(&adjust, &source.image, &got.image));
        test_image_free(&source);
        test_image_free(&got);
    }
}

static void test_definitions(void **state) {
    for (unsigned i = 0; i < COUNT(keeping) + COUNT(changing); i++) {
        const char *text = i < COUNT(keeping) ? keeping[i] : changing[i - COUNT(keeping)];
        double worst[2] = {0, 0};
        check_definition(*state, text, worst);
        printf("%-45s off by %.3f of 255, %.3f of 65535\n", text, worst[0], worst[1]);
        assert_true(worst[0] < 0.51);
        assert_true(worst[1] < 32);
    }
}

/* All 65536 samples through the curve alone. */
static void test_curve(void **state) {
    static const double gammas[] = {0.2, 0.3, 0.45, 0.7, 1.3, 1.8, 2.2, 3, 5};
    struct image_shape shape = {.model = PIXEL_GRAY, .depth = 16, .width = 256, .height = 256};
    struct test_image source = test_image_make(&shape);
    for (uint32_t i = 0; i < 65536; i++) {
        test_put(&source.image, 0, i % 256, i / 256, 0, i);
    }
    for (unsigned g = 0; g < COUNT(gammas); g++) {
        char text[TEXT_MAX];
        snprintf(text, sizeof text, "adjust:gamma=%g", gammas[g]);
        struct test_image got = level_result(*state, text, &source, NULL);
        double worst = 0;
        unsigned before = 0;
        for (uint32_t i = 0; i < 65536; i++) {
            unsigned sample = test_sample(&got.image, 0, i % 256, i / 256, 0);
            worst = fmax(worst, fabs(65535 * pow(i / 65535.0, 1 / gammas[g]) - sample));
            assert_true(sample >= before);
            before = sample;
        }
        printf("gamma %g: off by %.2f of 65535\n", gammas[g], worst);
        assert_true(worst < 9);
        assert_int_equal(test_sample(&got.image, 0, 0, 0, 0), 0);
        assert_int_equal(test_sample(&got.image, 0, 255, 255, 0), 65535);
        test_image_free(&got);
    }
    test_image_free(&source);
}

/* Grey pixels stay grey unless they are toned, also where the matrix has large factors. */
static void test_grey_stays(void **state) {
    for (unsigned depth = 8; depth <= 16; depth += 8) {
        struct image_shape shape = {
            .model = PIXEL_RGB, .depth = (uint8_t)depth, .width = 256, .height = depth == 8 ? 1 : 256};
        struct test_image source = test_image_make(&shape);
        for (uint32_t i = 0; i < shape.width * shape.height * 3; i++) {
            test_put(&source.image, 0, i / 3 % 256, i / 768, i % 3, i / 3);
        }
        for (unsigned t = 0; t < COUNT(keeping); t++) {
            char text[TEXT_MAX];
            snprintf(text, sizeof text, "adjust:%s", keeping[t]);
            struct test_image got = level_result(*state, text, &source, NULL);
            for (uint32_t i = 0; i < shape.width * shape.height; i++) {
                unsigned r = test_sample(&got.image, 0, i % 256, i / 256, 0);
                for (unsigned c = 1; c < 3; c++) {
                    unsigned other = test_sample(&got.image, 0, i % 256, i / 256, c);
                    assert_true(other + 1 >= r && r + 1 >= other);
                }
            }
            test_image_free(&got);
        }
        test_image_free(&source);
    }
}

static struct chain chain_of(const struct adjust_arguments *adjust, const struct image_shape *shape) {
    struct chain chain = {0};
    assert_int_equal(chain_append(&chain, &filter_adjust, adjust, shape, NULL), ST_OK);
    assert_int_equal(chain_check(&chain, shape, NULL), ST_OK);
    return chain;
}

static void test_models(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum pixel_model source, result, kept;
    } cases[] = {
        {"gamma=2", PIXEL_RGB, PIXEL_RGB, PIXEL_RGB},
        {"grayscale=1", PIXEL_RGB, PIXEL_GRAY, PIXEL_RGB},
        {"grayscale=1", PIXEL_RGBA, PIXEL_GRAY_ALPHA, PIXEL_RGBA},
        {"grayscale=1", PIXEL_GRAY_ALPHA, PIXEL_GRAY_ALPHA, PIXEL_GRAY_ALPHA},
        {"grayscale=1", PIXEL_YCBCR, PIXEL_GRAY, PIXEL_YCBCR},
        {"negate=1", PIXEL_YCBCR, PIXEL_YCBCR, PIXEL_YCBCR},
        {"grayscale=1 sepia=1", PIXEL_RGB, PIXEL_RGB, PIXEL_RGB},
        {"sepia=0.5", PIXEL_GRAY, PIXEL_RGB, PIXEL_GRAY},
        {"duotone=123,456", PIXEL_GRAY_ALPHA, PIXEL_RGBA, PIXEL_GRAY_ALPHA},
        {"saturation=0", PIXEL_RGB, PIXEL_RGB, PIXEL_RGB},
    };
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct image_shape shape = {.model = cases[i].source, .depth = 8, .width = 5, .height = 3};
        shape.chroma_shift_x = shape.chroma_shift_y = cases[i].source == PIXEL_YCBCR;
        struct adjust_arguments adjust = arguments_of(cases[i].text);
        struct chain chain = chain_of(&adjust, &shape);
        assert_int_equal(chain_result(&chain, &shape).model, cases[i].result);
        adjust.keep_model = true;
        chain = chain_of(&adjust, &shape);
        struct image_shape kept = chain_result(&chain, &shape);
        assert_int_equal(kept.model, cases[i].kept);
        assert_true(image_same_shape(&kept, &shape));
    }
}

/* With regions the grey of a colour picture is written to all channels, and the tone of a grey one is grey.
 */
static void test_kept_models(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < COUNT(changing); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS + COUNT(planar); model++) {
            bool planes = model >= SIMPLE_MODELS;
            struct image_shape shape = planes ? planar[model - SIMPLE_MODELS] : simple_shape(model, 71, 6);
            shape.width = 71;
            shape.height = 6;
            struct adjust_arguments adjust = arguments_of(changing[i]);
            adjust.keep_model = true;
            if (planes && !filter_adjust.planar(&adjust, &shape)) {
                continue;
            }
            struct chain chain = chain_of(&adjust, &shape);
            check_chain(levels, changing[i], &chain, &shape, true);
        }
    }
}

/* A picture of another colour model cannot be mixed with the source. */
static void test_mask_is_refused(void **state) {
    struct levels *levels = *state;
    struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 20, .height = 10};
    struct adjust_arguments adjust = arguments_of("grayscale=1");
    struct chain chain = chain_of(&adjust, &shape);
    assert_false(chain_takes_mask(&chain, &shape));
    struct image_shape result = chain_result(&chain, &shape);
    struct test_image source = make_noise(levels, &shape), mask = make_mask(levels, &shape);
    struct test_image target = test_image_make(&result);
    struct chain_run run = {
        .chain = &chain, .source = &source.image, .target = &target.image, .mask = &mask.image};
    assert_int_equal(lane_run(levels->lane[0], &run, NULL, NULL), ST_INTERNAL);
    test_image_free(&source);
    test_image_free(&mask);
    test_image_free(&target);
    adjust.keep_model = true;
    chain = chain_of(&adjust, &shape);
    assert_true(chain_takes_mask(&chain, &shape));
}

static void test_planar(void **state) {
    (void)state;
    static const char *const exact[] = {"grayscale=1", "negate=1", "brightness=1", "grayscale=1 contrast=2"};
    static const char *const others[] = {
        "brightness=1.1", "gamma=2",   "grayscale=1 gamma=2", "sepia=1", "grayscale=1 duotone=000,fff",
        "saturation=2",   "contrast=3"};
    for (unsigned i = 0; i < COUNT(exact); i++) {
        struct adjust_arguments adjust = arguments_of(exact[i]);
        assert_true(filter_adjust.planar(&adjust, &planar[0]));
    }
    for (unsigned i = 0; i < COUNT(others); i++) {
        struct adjust_arguments adjust = arguments_of(others[i]);
        assert_false(filter_adjust.planar(&adjust, &planar[0]));
    }
}

/* Plans from elsewhere are refused before a backend reads them. */
static void test_valid(void **state) {
    (void)state;
    struct image_shape shape = {.model = PIXEL_RGB, .depth = 16, .width = 4, .height = 4};
    struct adjust_arguments adjust = arguments_of("gamma=2");
    const struct adjust_plan good = chain_of(&adjust, &shape).step[0].adjust;
    assert_true(filter_adjust.valid(&good, &shape));
    struct adjust_plan bad = good;
    bad.model = PIXEL_RGBA;
    assert_false(filter_adjust.valid(&bad, &shape));
    bad.model = 200;
    assert_false(filter_adjust.valid(&bad, &shape));
    bad = good;
    bad.curved = 2;
    assert_false(filter_adjust.valid(&bad, &shape));
    bad = good;
    bad.matrix[2][3] = NAN;
    assert_false(filter_adjust.valid(&bad, &shape));
    bad = good;
    bad.curve[255] = INFINITY;
    assert_false(filter_adjust.valid(&bad, &shape));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),          cmocka_unit_test(test_planes),
        cmocka_unit_test(test_chains),          cmocka_unit_test(test_definitions),
        cmocka_unit_test(test_curve),           cmocka_unit_test(test_grey_stays),
        cmocka_unit_test(test_models),          cmocka_unit_test(test_kept_models),
        cmocka_unit_test(test_mask_is_refused), cmocka_unit_test(test_planar),
        cmocka_unit_test(test_valid),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
