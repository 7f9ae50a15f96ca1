/* SPDX-License-Identifier: MIT
 * Facts about the filters that hold without the reference: textbook pictures, filters that change nothing,
 * filters that keep sums. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "filters/stats/stats.h"
#include "tests/filters/filter_levels.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static unsigned most(const struct image_shape *shape) {
    return shape->depth == 8 ? 255 : 65535;
}

static struct test_image copy_of(const struct test_image *image) {
    struct image_shape shape = image_shape(&image->image);
    struct test_image copy = test_image_make(&shape);
    memcpy(copy.memory, image->memory, copy.size);
    return copy;
}

/* ---- textbook pictures ---- */

/* A grey picture drawn with '#' for white and '.' for black. */
static struct test_image drawn(const char *const *rows, unsigned count, unsigned depth) {
    struct image_shape shape = {
        .model = PIXEL_GRAY, .depth = (uint8_t)depth, .width = (uint32_t)strlen(rows[0]), .height = count};
    struct test_image made = test_image_make(&shape);
    for (uint32_t y = 0; y < shape.height; y++) {
        for (uint32_t x = 0; x < shape.width; x++) {
            test_put(&made.image, 0, x, y, 0, rows[y][x] == '#' ? most(&shape) : 0);
        }
    }
    return made;
}

struct textbook {
    const char *chain;
    unsigned rows;
    const char *before[9];
    const char *after[9];
};

static const struct textbook textbooks[] = {
    {"convolve:preset=edge edge=frame",
     9,
     {".........", ".........", "..#####..", "..#####..", "..#####..", "..#####..", "..#####..", ".........",
      "........."},
     {".........", ".........", "..#####..", "..#...#..", "..#...#..", "..#...#..", "..#####..", ".........",
      "........."}},
    /* it touches the border: all of it is frame */
    {"convolve:preset=edge edge=frame",
     7,
     {"####...", "####...", "####...", "####...", ".......", ".......", "......."},
     {".......", "...#...", "...#...", ".###...", ".......", ".......", "......."}},
    {"convolve:preset=edge edge=zero",
     5,
     {"#####", "#####", "#####", "#####", "#####"},
     {"#####", "#...#", "#...#", "#...#", "#####"}},
    {"convolve:preset=edge", 3, {"###", "###", "###"}, {"...", "...", "..."}},
    {"convolve:preset=laplacian divisor=-1",
     4,
     {".....", ".##..", ".##..", "....."},
     {".....", ".##..", ".##..", "....."}},
    /* correlation with the matrix as written: pixels move from the right to the left */
    {"convolve:kernel=0,0,0;0,0,1;0,0,0 edge=zero", 3, {"...#", ".#..", "#..."}, {"..#.", "#...", "...."}},
    {"convolve:kernel=0,0,0;0,0,1;0,0,0 edge=wrap", 3, {"...#", ".#..", "#..."}, {"..#.", "#...", "...#"}},
    {"convolve:kernel=0,0,1;0,0,0;0,0,0 edge=mirror", 3, {"...#", ".#..", "#..."}, {"#...", "..#.", "#..."}},
    {"convolve:kernel=1;0;0 edge=clamp", 3, {"#..", ".#.", "..#"}, {"#..", "#..", ".#."}},
    {"convolve:preset=sobel-x", 3, {"..##", "..##", "..##"}, {".##.", ".##.", ".##."}},
    {"convolve:preset=sobel-x", 3, {"##..", "##..", "##.."}, {"....", "....", "...."}},
    {"convolve:preset=sobel-y", 4, {"...", "...", "###", "###"}, {"...", "###", "###", "..."}},
    {"pixelate:block=2", 3, {"##...", "##...", "....#"}, {"##...", "##...", "....#"}},
};

static void test_textbook(void **state) {
    for (unsigned i = 0; i < COUNT(textbooks); i++) {
        const struct textbook *book = &textbooks[i];
        for (unsigned depth = 8; depth <= 16; depth += 8) {
            struct test_image before = drawn(book->before, book->rows, depth);
            struct test_image after = drawn(book->after, book->rows, depth);
            struct image_shape shape = image_shape(&before.image);
            struct chain chain = make_chain(book->chain, &shape);
            compare_levels(*state, book->chain, &chain, &before, NULL, &after);
            test_image_free(&before);
            test_image_free(&after);
        }
    }
}

/* ---- no change ---- */

static const char *const identities[] = {
    "pixelate:block=1",
    "convolve:kernel=1",
    "convolve:kernel=0,0,0;0,1,0;0,0,0 edge=mirror",
    "convolve:kernel=0,0,0;0,-4,0;0,0,0 divisor=-4 edge=wrap",
    "convolve:kernel=0,0,0,0,0,0,0,0.5,0,0,0,0,0,0,0",
    "sharpen:amount=0 sigma=3",
    "sharpen:threshold=255 amount=10 sigma=2",
};

/* Transparent pixels lose their colour where alpha is filtered, so they have none here. */
static void clear_transparent(struct test_image *image) {
    struct image_shape shape = image_shape(&image->image);
    unsigned last = image_pixel_channels(shape.model) - 1;
    for (uint32_t y = 0; y < shape.height && image_pixel_has_alpha(shape.model); y++) {
        for (uint32_t x = 0; x < shape.width; x++) {
            for (unsigned c = 0; c < last && test_sample(&image->image, 0, x, y, last) == 0; c++) {
                test_put(&image->image, 0, x, y, c, 0);
            }
        }
    }
}

static void test_identities(void **state) {
    for (unsigned i = 0; i < COUNT(identities); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 37, 11);
            struct test_image source = make_noise(*state, &shape);
            clear_transparent(&source);
            struct test_image same = copy_of(&source);
            struct chain chain = make_chain(identities[i], &shape);
            compare_levels(*state, identities[i], &chain, &source, NULL, &same);
            test_image_free(&source);
            test_image_free(&same);
        }
    }
}

static const char *const averages[] = {
    "blur:sigma=2",
    "blur:sigma=9 edge=wrap",
    "pixelate:block=5",
    "convolve:preset=box edge=mirror",
    "sharpen",
    "convolve:preset=box size=5",
    "convolve:kernel=1,2,3;4,5,6;-7,8,9",
};

static void test_constants_stay(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < COUNT(averages); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 29, 14);
            struct test_image source = test_image_make(&shape);
            /* not 0: where alpha is 0 the colour goes */
            test_image_set(&source, 1 + (unsigned)(test_random(&levels->random) % most(&shape)));
            struct test_image same = copy_of(&source);
            struct chain chain = make_chain(averages[i], &shape);
            compare_levels(levels, averages[i], &chain, &source, NULL, &same);
            test_image_free(&source);
            test_image_free(&same);
        }
    }
}

static void test_masks(void **state) {
    static const char *const text = "blur:sigma=1.5|convolve:preset=edge|pixelate:block=3";
    for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
        struct image_shape shape = simple_shape(model, 27, 15);
        struct test_image source = make_noise(*state, &shape);
        struct test_image same = copy_of(&source);
        struct test_image mask = make_mask(*state, &shape);
        struct test_image plain = level_result(*state, text, &source, NULL);
        struct chain chain = make_chain(text, &shape);
        test_image_set(&mask, 255);
        compare_levels(*state, text, &chain, &source, &mask, &plain);
        test_image_set(&mask, 0);
        compare_levels(*state, text, &chain, &source, &mask, &same);
        test_image_free(&source);
        test_image_free(&same);
        test_image_free(&mask);
        test_image_free(&plain);
    }
}

/* Where all is transparent the blurred colour is 0, and the difference the colour itself: colours of at least
 * the threshold are sharpened. */
static void test_threshold(void **state) {
    static const struct {
        const char *chain;
        unsigned expected;
    } cases[] = {{"sharpen:amount=2 threshold=20", 60},
                 {"sharpen:amount=2 threshold=20.01", 20},
                 {"sharpen:amount=2", 60}};
    for (unsigned i = 0; i < COUNT(cases); i++) {
        struct image_shape shape = {.model = PIXEL_GRAY_ALPHA, .depth = 8, .width = 5, .height = 2};
        struct test_image source = test_image_make(&shape);
        struct test_image expected = test_image_make(&shape);
        for (uint32_t at = 0; at < shape.width * shape.height; at++) {
            uint32_t x = at % shape.width, y = at / shape.width;
            test_put(&source.image, 0, x, y, 0, 20);
            test_put(&source.image, 0, x, y, 1, 0);
            test_put(&expected.image, 0, x, y, 0, cases[i].expected);
            test_put(&expected.image, 0, x, y, 1, 0);
        }
        struct chain chain = make_chain(cases[i].chain, &shape);
        compare_levels(*state, cases[i].chain, &chain, &source, NULL, &expected);
        test_image_free(&source);
        test_image_free(&expected);
    }
}

/* ---- sums ---- */

static uint64_t sum_of(const struct test_image *image) {
    uint64_t sum = 0;
    for (uint32_t y = 0; y < image->image.height; y++) {
        for (uint32_t x = 0; x < image->image.width; x++) {
            sum += test_sample(&image->image, 0, x, y, 0);
        }
    }
    return sum;
}

/* Without a division nothing is rounded: a box counts each sample of a torus as often as it has weights. */
static void test_wrap_keeps_sums(void **state) {
    struct levels *levels = *state;
    static const struct {
        const char *chain;
        unsigned weights;
    } boxes[] = {{"convolve:preset=box divisor=1 edge=wrap", 9},
                 {"convolve:preset=box size=5 divisor=1 edge=wrap", 25},
                 {"convolve:kernel=1,1,1,1,1,1,0 divisor=1 edge=wrap", 6}};
    for (unsigned i = 0; i < COUNT(boxes); i++) {
        struct image_shape shape = simple_shape(0, 31, 6 + i);
        struct test_image source = test_image_make(&shape);
        for (uint32_t y = 0; y < shape.height; y++) {
            for (uint32_t x = 0; x < shape.width; x++) {
                unsigned value = (unsigned)(test_random(&levels->random) % (255 / boxes[i].weights + 1));
                test_put(&source.image, 0, x, y, 0, value);
            }
        }
        struct test_image got = level_result(levels, boxes[i].chain, &source, NULL);
        assert_int_equal(sum_of(&got), sum_of(&source) * boxes[i].weights);
        test_image_free(&source);
        test_image_free(&got);
    }
}

/* Two passes are the matrix itself, where all is whole. */
static void test_separable_is_direct(void **state) {
    static const char *const texts[] = {
        "convolve:preset=box size=7 edge=mirror",
        "convolve:kernel=1,2,1;2,4,2;1,2,1 edge=wrap",
        "convolve:preset=sobel-x bias=100",
        "convolve:kernel=6,-3,9,12,0;-4,2,-6,-8,0;2,-1,3,4,0 edge=zero divisor=7",
        "convolve:preset=box size=15 edge=frame",
    };
    for (unsigned i = 0; i < COUNT(texts); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 43, 21);
            if (shape.depth == 16 && image_pixel_has_alpha(shape.model)) {
                continue; /* sums above 2^24 */
            }
            struct test_image source = make_noise(*state, &shape);
            struct test_image expected = level_result(*state, texts[i], &source, NULL);
            struct chain chain = make_chain(texts[i], &shape);
            assert_int_equal(chain.step[0].convolve.separable, 1);
            chain.step[0].convolve.separable = 0;
            compare_levels(*state, texts[i], &chain, &source, NULL, &expected);
            test_image_free(&source);
            test_image_free(&expected);
        }
    }
}

/* ---- stats ---- */

static void test_known_stats(void **state) {
    static const unsigned samples[2][6] = {{0, 1, 2, 253, 254, 255}, {0, 255, 256, 65279, 65280, 65535}};
    static const uint64_t sums[2] = {765, 196605};
    static const uint64_t squares[2] = {0 + 1 + 4 + 64009 + 64516 + 65025, 0 + 65025ull + 65536ull +
                                                                               4261347841ull + 4261478400ull +
                                                                               4294836225ull};
    for (unsigned wide = 0; wide < 2; wide++) {
        struct image_shape shape = {.model = PIXEL_GRAY, .depth = wide ? 16 : 8, .width = 3, .height = 2};
        struct test_image source = test_image_make(&shape);
        for (uint32_t i = 0; i < 6; i++) {
            test_put(&source.image, 0, i % 3, i / 3, 0, samples[wide][i]);
        }
        struct test_image got = level_result(*state, "stats", &source, NULL);
        const struct stats *stats = (const struct stats *)(const void *)got.image.plane[0].data;
        const struct stats_channel *gray = &stats->channel[0];
        assert_int_equal(stats->pixels, 6);
        assert_int_equal(gray->sum, sums[wide]);
        assert_int_equal(gray->squares, squares[wide]);
        assert_int_equal(gray->minimum, 0);
        assert_int_equal(gray->maximum, most(&shape));
        for (uint32_t bin = 0; bin < STATS_BINS; bin++) {
            unsigned expected = 0;
            for (uint32_t i = 0; i < 6; i++) {
                expected += (wide ? samples[wide][i] >> 8 : samples[wide][i]) == bin;
            }
            assert_int_equal(gray->histogram[bin], expected);
        }
        test_image_free(&source);
        test_image_free(&got);
    }
}

/* Coverage of 128 counts, 127 does not; without any pixel all values are 0. */
static void test_masked_stats(void **state) {
    struct image_shape shape = simple_shape(2, 4, 1);
    struct test_image source = test_image_make(&shape);
    struct test_image mask = make_mask(*state, &shape);
    for (uint32_t x = 0; x < shape.width; x++) {
        for (unsigned c = 0; c < 3; c++) {
            test_put(&source.image, 0, x, 0, c, 10 * x + c + 1);
        }
        test_put(&mask.image, 0, x, 0, 0, x % 2 ? 128 : 127);
    }
    struct test_image got = level_result(*state, "stats", &source, &mask);
    const struct stats *stats = (const struct stats *)(const void *)got.image.plane[0].data;
    assert_int_equal(stats->pixels, 2);
    for (unsigned c = 0; c < 3; c++) {
        assert_int_equal(stats->channel[c].minimum, 11 + c);
        assert_int_equal(stats->channel[c].maximum, 31 + c);
        assert_int_equal(stats->channel[c].sum, 42 + 2 * c);
    }
    assert_int_equal(stats->channel[3].maximum, 0);
    test_image_free(&got);
    test_image_set(&mask, 127);
    got = level_result(*state, "stats", &source, &mask);
    static const struct stats nothing;
    assert_memory_equal(got.image.plane[0].data, &nothing, sizeof nothing);
    test_image_free(&got);
    test_image_free(&source);
    test_image_free(&mask);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_textbook),
        cmocka_unit_test(test_identities),
        cmocka_unit_test(test_constants_stay),
        cmocka_unit_test(test_masks),
        cmocka_unit_test(test_threshold),
        cmocka_unit_test(test_wrap_keeps_sums),
        cmocka_unit_test(test_separable_is_direct),
        cmocka_unit_test(test_known_stats),
        cmocka_unit_test(test_masked_stats),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
