/* SPDX-License-Identifier: MIT
 * Filters give the same bytes on any number of threads, in any number of bands: the reference's. SEED=n
 * repeats a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/filters/filter_levels.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 150; /* many pictures */

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { PARTS = 7 };

static const uint32_t sizes[][2] = {{1, 1}, {3, 2}, {7, 40}, {70, 33}, {19, 150}};

static const char *const simple[] = {
    "blur:sigma=0.8",
    "blur:sigma=3 edge=mirror",
    "blur:sigma=9 edge=zero",
    "blur:sigma=30 edge=wrap",
    "blur:sigma=30 edge=mirror",
    "blur:sigma=120",
    "blur:sigma=20 kernel_size=99 edge=zero",
    "sharpen:sigma=1.5 amount=2",
    "sharpen:sigma=12 amount=0.7 edge=mirror",
    "convolve:kernel=0,-1,0;-1,5,-1;0,-1,0 edge=frame",
    "convolve:preset=box size=15 edge=wrap",
    "convolve:kernel=1,2,3;4,5,6;7,8,9;-1,0,1;2,2,2 edge=zero",
    "dilate:radius=2 edge=mirror",
    "erode:radius=9",
    "median:radius=2",
    "median:radius=5 edge=wrap",
    "pixelate:block=1",
    "pixelate:block=7",
    "pixelate:block=64",
    "stats:",
    "blur:sigma=6|pixelate:block=4|sharpen:sigma=2 amount=1",
    "blur:sigma=9|adjust:gamma=2 saturation=1.5",
    "pixelate:block=2|blur:sigma=2|adjust:negate=1|sharpen:sigma=1|adjust:contrast=0.4|median:radius=1",
    "adjust:negate=1|blur:sigma=30 edge=wrap|adjust:brightness=1.2|adjust:contrast=0.7",
};

static const char *const planar[] = {"blur:sigma=1",
                                     "blur:sigma=4 edge=zero",
                                     "blur:sigma=25 edge=wrap",
                                     "blur:sigma=80",
                                     "pixelate:block=16",
                                     "median:radius=4",
                                     "blur:sigma=9|pixelate:block=4",
                                     "blur:sigma=3|adjust:brightness=1.5|blur:sigma=9|adjust:negate=1"};

static const struct image_shape planes[] = {
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
};

/* On as many threads as parts, where a pass over the whole picture is cut into that many. */
static uint64_t check_parts(struct levels *levels, const char *text, const struct image_shape *shape,
                            unsigned parts, bool masked) {
    struct image image;
    image_layout(&image, shape);
    uint32_t samples = shape->width * shape->height * image.plane[0].channels;
    levels->helpers = helpers_start(parts - 1, samples / parts ? samples / parts : 1, false);
    check_reference(levels, text, shape, masked);
    uint64_t helped = helpers_stop(levels->helpers);
    levels->helpers = NULL;
    return helped;
}

static void test_simple(void **state) {
    struct levels *levels = *state;
    uint64_t helped = 0;
    for (unsigned t = 0; t < COUNT(simple); t++) {
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            for (unsigned parts = 1; parts <= PARTS; parts++) {
                uint64_t dice = test_random(&levels->random);
                struct image_shape shape = simple_shape(dice % SIMPLE_MODELS, sizes[i][0], sizes[i][1]);
                helped += check_parts(levels, simple[t], &shape, parts, (dice >> 8) % 2);
            }
        }
    }
    printf("%llu parts on other threads\n", (unsigned long long)helped);
    assert_true(helped > 0);
}

static void test_planar(void **state) {
    struct levels *levels = *state;
    for (unsigned t = 0; t < COUNT(planar); t++) {
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            for (unsigned parts = 1; parts <= PARTS; parts++) {
                uint64_t dice = test_random(&levels->random);
                struct image_shape shape = planes[dice % COUNT(planes)];
                shape.width = sizes[i][0];
                shape.height = sizes[i][1];
                check_parts(levels, planar[t], &shape, parts, (dice >> 8) % 2);
            }
        }
    }
}

/* A band for each row. */
static void test_least_grain(void **state) {
    struct levels *levels = *state;
    levels->helpers = helpers_start(2, 1, false);
    for (unsigned t = 0; t < COUNT(simple); t++) {
        struct image_shape shape = simple_shape(t, 41, 67);
        check_reference(levels, simple[t], &shape, t % 2);
    }
    for (unsigned t = 0; t < COUNT(planar); t++) {
        struct image_shape shape = planes[t % COUNT(planes)];
        shape.width = 133;
        shape.height = 50;
        check_reference(levels, planar[t], &shape, t % 2);
    }
    helpers_stop(levels->helpers);
    levels->helpers = NULL;
}

/* While the source is being made. */
static void test_following(void **state) {
    struct levels *levels = *state;
    levels->follows = true;
    for (unsigned parts = 2; parts <= PARTS; parts += 5) {
        for (unsigned t = 0; t < COUNT(simple); t++) {
            struct image_shape shape = simple_shape(t, 40, 30 + 23 * parts);
            check_parts(levels, simple[t], &shape, parts, t % 2);
        }
        for (unsigned t = 0; t < COUNT(planar) * COUNT(planes); t++) {
            struct image_shape shape = planes[t % COUNT(planes)];
            shape.width = 50;
            shape.height = 30 + 23 * parts;
            check_parts(levels, planar[t / COUNT(planes)], &shape, parts, false);
        }
    }
    levels->follows = false;
}

/* Alone, in strips from the source to the target. */
static void test_strips(void **state) {
    struct levels *levels = *state;
    static const char *const texts[] = {"blur:sigma=1",
                                        "blur:sigma=5 edge=zero",
                                        "blur:sigma=40",
                                        "sharpen:sigma=3 amount=1",
                                        "pixelate:block=16|blur:sigma=12",
                                        "blur:sigma=2 edge=mirror"};
    for (unsigned follows = 0; follows < 2; follows++) {
        levels->follows = follows;
        for (unsigned t = 0; t < COUNT(texts); t++) {
            unsigned told = levels->told;
            struct image_shape shape = planes[t % COUNT(planes)];
            shape.width = 701;
            shape.height = 803;
            if (!strstr(texts[t], "sharpen")) {
                check_reference(levels, texts[t], &shape, false);
                assert_true(levels->told >= told + 2 * 3); /* at two levels at least */
            }
            shape = simple_shape(t, 351, 803);
            check_reference(levels, texts[t], &shape, false);
        }
    }
    assert_true(levels->told > 0);
    unsigned told = levels->told;
    struct image_shape shape = simple_shape(0, 701, 803);
    check_reference(levels, texts[0], &shape, true);
    assert_int_equal(levels->told, told); /* the mask is put on afterwards */
    levels->follows = false;
}

static enum status break_off(void *context, const struct progress *progress, struct error *err) {
    const uint32_t *rows = context;
    progress_tell(progress, *rows);
    return (fail)(err, ST_CORRUPT, "it ends with row %u", (unsigned)*rows);
}

/* A source that fails in the middle fails the run, and no thread works on the pictures afterwards. */
static void test_source_that_fails(void **state) {
    struct levels *levels = *state;
    struct image_shape shape = simple_shape(2, 60, 90);
    levels->helpers = helpers_start(3, 1, false);
    for (unsigned t = 0; t < COUNT(simple); t++) {
        for (uint32_t rows = 0; rows <= shape.height; rows += 15) {
            struct chain chain = make_chain(simple[t], &shape);
            struct image_shape wanted = chain_result(&chain, &shape);
            struct test_image source = make_noise(levels, &shape), target = test_image_make(&wanted);
            struct chain_run run = {.chain = &chain,
                                    .source = &source.image,
                                    .target = &target.image,
                                    .crew = helpers_crew(levels->helpers),
                                    .producer = &(struct producer){break_off, &rows}};
            struct error err = {0};
            helpers_await(levels->helpers);
            assert_int_equal(lane_run(levels->lane[0], &run, NULL, &err), ST_CORRUPT);
            assert_non_null(strstr(err.text, "it ends with row"));
            test_image_free(&source);
            test_image_free(&target);
        }
    }
    helpers_stop(levels->helpers);
    levels->helpers = NULL;
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simple),      cmocka_unit_test(test_planar),
        cmocka_unit_test(test_least_grain), cmocka_unit_test(test_following),
        cmocka_unit_test(test_strips),      cmocka_unit_test(test_source_that_fails),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
