/* SPDX-License-Identifier: MIT
 * The filters that order samples give the bytes of sorted windows, at every CPU level. FULL=1 tries every
 * radius and model with every size, SEED=n repeats a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/filters/filter_levels.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 150; /* many pictures */

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { TEXT_MAX = 64 };

static const uint32_t sizes[][2] = {{1, 1},  {1, 7},  {7, 1},   {2, 2},   {3, 5},
                                    {17, 6}, {23, 9}, {61, 11}, {37, 53}, {5, 70}};

static const unsigned radii[] = {1, 2, 3, 4, 7, 12, 16, 25};

static const char *const edges[] = {"clamp", "mirror", "wrap", "zero"};

static const struct image_shape planes[] = {
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
};

static void check(struct levels *levels, const char *filter, unsigned radius, unsigned edge,
                  const struct image_shape *shape, bool masked) {
    char text[TEXT_MAX];
    snprintf(text, sizeof text, "%s:radius=%u edge=%s", filter, radius, edges[edge % COUNT(edges)]);
    check_reference(levels, text, shape, masked);
}

/* One model and edge at random, or all with FULL=1; half of them under a mask. */
static void check_sizes(struct levels *levels, const char *filter, unsigned radius) {
    bool full = getenv("FULL") != NULL;
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        uint64_t dice = test_random(&levels->random);
        unsigned cases = SIMPLE_MODELS * COUNT(edges), chosen = (unsigned)(dice % cases);
        for (unsigned c = 0; c < cases; c++) {
            if (full || c == chosen) {
                struct image_shape shape = simple_shape(c % SIMPLE_MODELS, sizes[i][0], sizes[i][1]);
                check(levels, filter, radius, c / SIMPLE_MODELS, &shape, (dice >> 16) % 2);
            }
        }
    }
}

static void check_filter(struct levels *levels, const char *filter) {
    for (unsigned i = 0; i < COUNT(radii); i++) {
        check_sizes(levels, filter, radii[i]);
    }
    for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
        struct image_shape shape = simple_shape(model, 133, 12);
        check(levels, filter, 1 + model % 3, model, &shape, false);
    }
}

/* Pictures of several tiles, with radii that need little time for the reference. */
static void check_tiles(struct levels *levels, const char *filter, uint32_t width, uint32_t height) {
    for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
        struct image_shape shape = simple_shape(model, width, 7);
        check(levels, filter, 2, model, &shape, false);
        shape = simple_shape(model, 5, height);
        check(levels, filter, 3, model, &shape, false);
    }
}

static void test_dilate(void **state) {
    check_filter(*state, "dilate");
    check_tiles(*state, "dilate", 4111, 523);
}

static void test_erode(void **state) {
    check_filter(*state, "erode");
    check_tiles(*state, "erode", 4111, 523);
}

static void test_median(void **state) {
    check_filter(*state, "median");
    check_tiles(*state, "median", 1111, 523);
}

/* Every plane has its own radius. */
static void test_planes(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < COUNT(radii); i++) {
        for (unsigned p = 0; p < COUNT(planes) && radii[i] % 4 == 0; p++) {
            for (unsigned e = 0; e < COUNT(edges); e++) {
                struct image_shape shape = planes[p];
                shape.width = 1 + (uint32_t)(test_random(&levels->random) % 40);
                shape.height = 1 + (uint32_t)(test_random(&levels->random) % 40);
                check(levels, "median", radii[i], e, &shape, (i + e) % 2);
            }
        }
    }
    struct image_shape large = planes[0];
    large.width = 601;
    large.height = 551;
    check(levels, "median", 2, 0, &large, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_dilate), cmocka_unit_test(test_erode),
                                       cmocka_unit_test(test_median), cmocka_unit_test(test_planes)};
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
