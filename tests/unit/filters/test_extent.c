/* SPDX-License-Identifier: MIT
 * Tests how far the stages of a blur reach, and that the samples they keep are bounded by the size of the
 * picture. tests/filters/test_blur.c compares the bytes with those of the plain extension. */
#include "filters/blur/extent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const uint32_t sizes[] = {1,  2,  3,   4,   5,   7,   8,   9,    16,   17,
                                 31, 64, 100, 127, 128, 129, 999, 1000, 4096, 32768};
static const double sigmas[] = {0.1, 1.5, 5, 9, 20, 60, 130, 500};

enum { SIZES = sizeof sizes / sizeof *sizes, SIGMAS = sizeof sigmas / sizeof *sigmas };

typedef void visit(const struct extent *extent);

static void each_extent(visit *look) {
    for (unsigned s = 0; s < SIGMAS; s++) {
        for (int edge = EDGE_CLAMP; edge <= EDGE_ZERO; edge++) {
            const struct blur_arguments arguments = {.sigma = sigmas[s], .edge = edge};
            const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = 9, .height = 9};
            struct blur_plan plan;
            blur_plan_make(&plan, &arguments, &shape);
            for (unsigned i = 0; i < SIZES; i++) {
                struct extent extent;
                extent_init(&extent, &plan.axis[0], (enum edge)edge, sizes[i]);
                look(&extent);
            }
        }
    }
}

/* A stage keeps little more samples than the picture reduced to that size has, or at most twice the period of
 * the picture: 4 times the side. */
static void check_length(const struct extent *extent) {
    ptrdiff_t rows = extent->size;
    for (unsigned i = 1; i <= extent->stages; i++) {
        rows = (rows >> extent->stage[i - 1].shift) + 1;
        ptrdiff_t length = (ptrdiff_t)span_length(extent->span[i]);
        assert_true(length <= (extent_repeats(extent) ? 4 * extent->size : rows + 16));
    }
}

static void test_lengths(void **state) {
    (void)state;
    each_extent(check_length);
}

/* The sample of the picture, or the end of what is constant, that stands for a position before stage i. */
static ptrdiff_t sample_of(const struct extent *extent, unsigned i, ptrdiff_t at) {
    for (unsigned k = i; k-- > 0;) {
        at *= k < extent->stages ? 1 << extent->stage[k].shift : 1;
    }
    return extent_source(extent, at);
}

/* A position and the one that is kept for it have the same sample in their middle, and so on both sides. */
static void check_kept(const struct extent *extent) {
    for (unsigned i = 1; i <= extent->stages && extent_repeats(extent); i++) {
        for (ptrdiff_t at = -3000; at < 3000; at += 7) {
            ptrdiff_t kept = extent_kept(extent, i, at);
            assert_true(kept >= extent->span[i].lo && kept <= extent->span[i].hi);
            bool inside = at >= extent->span[i].lo && at <= extent->span[i].hi;
            struct span all = extent->span[i];
            if (inside) {
                assert_int_equal(kept, at);
            } else if (all.lo == 0) { /* one period; else nothing outside is ever read */
                assert_int_equal(sample_of(extent, i, kept), sample_of(extent, i, at));
                assert_int_equal(sample_of(extent, i, kept + 1), sample_of(extent, i, at + 1));
            }
        }
    }
}

static void test_kept(void **state) {
    (void)state;
    each_extent(check_kept);
}

/* Each stage has all samples that it reads. */
static void check_needed(const struct extent *extent) {
    for (unsigned i = 1; i < extent->stages && extent_repeats(extent); i++) {
        struct span needed = extent_needed(extent, i), has = extent->span[i];
        assert_true(has.lo == 0 || (needed.lo >= has.lo && needed.hi <= has.hi));
        assert_true(needed.lo <= 0 && needed.hi >= has.hi); /* a line has room for the kept samples */
    }
}

static void test_needed(void **state) {
    (void)state;
    each_extent(check_needed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
