/* SPDX-License-Identifier: MIT
 * Every CPU level gives the reference's bytes for every filter, in the picture and around it, alone, in
 * chains and under masks. FULL=1 tries every model with every size, SEED=n repeats a run. */
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

enum { TEXT_MAX = 8192 };

static const uint32_t sizes[][2] = {{1, 1},  {1, 7},  {7, 1},    {2, 2},   {3, 5},
                                    {17, 6}, {23, 9}, {130, 11}, {67, 18}, {5, 70}};

static const char *const edges[] = {"clamp", "mirror", "wrap", "zero", "frame"};

static const char *const kernels[] = {
    "kernel=1",
    "kernel=-3 divisor=-2 bias=7.25",
    "kernel=0,0,0;0,0,0;0,0,0 bias=9",
    "kernel=0,0,0;0,0,2;0,0,0",
    "kernel=0,-1,0;-1,5,-1;0,-1,0",
    "kernel=1,2,1;2,4,2;1,2,1",
    "kernel=1,-2,3,4,5",
    "kernel=1;2;-3;4;5;1;1",
    "kernel=1,2,3;4,5,6;7,8,9;-1,0,1;2,2,2",
    "kernel=0.3,-0.7,0.11;0.5,1.9,-0.25;0.01,-0.02,0.4 divisor=0.7",
    "kernel=0.25,0.5,0.25;0.5,1,0.5;0.25,0.5,0.25",
    "kernel=0.3,0.1,0.7,0.2,0.9;0.6,0.2,1.4,0.4,1.8;-0.3,-0.1,-0.7,-0.2,-0.9",
    "preset=edge",
    "preset=emboss bias=128",
    "preset=sobel-x divisor=4 bias=127.5",
    "preset=sobel-y",
    "preset=laplacian divisor=-3 bias=-20.5",
    "preset=box",
    "preset=box size=15",
    "preset=box size=5 divisor=20",
};

static const char *const sharpens[] = {
    "sigma=0.1 amount=1",
    "sigma=1 amount=0",
    "sigma=1.5 amount=2.5",
    "sigma=3 amount=0.3 threshold=20",
    "sigma=5 amount=10 threshold=0.5",
    "sigma=12 amount=1.7 threshold=255",
};

static const char *const pixelates[] = {"block=1", "block=2",  "block=3",  "block=4",
                                        "block=7", "block=16", "block=64", "block=4096"};

static const struct image_shape planar[] = {
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* One model at random, or all with FULL=1; half of them under a mask. */
static void check_models(struct levels *levels, const char *text, const uint32_t size[2]) {
    bool full = getenv("FULL") != NULL;
    uint64_t dice = test_random(&levels->random);
    for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
        if (full || model == dice % SIMPLE_MODELS) {
            struct image_shape shape = simple_shape(model, size[0], size[1]);
            check_reference(levels, text, &shape, (dice >> 8) % 2);
        }
    }
}

/* Every model on one size, wider than a block of any instruction set. */
static void check_every_model(struct levels *levels, const char *text) {
    for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
        struct image_shape shape = simple_shape(model, 133, 12);
        check_reference(levels, text, &shape, false);
    }
}

static void test_convolve(void **state) {
    for (unsigned k = 0; k < COUNT(kernels); k++) {
        for (unsigned e = 0; e < COUNT(edges); e++) {
            char text[TEXT_MAX];
            snprintf(text, sizeof text, "convolve:%s edge=%s", kernels[k], edges[e]);
            for (unsigned i = 0; i < COUNT(sizes); i++) {
                check_models(*state, text, sizes[i]);
            }
        }
        char text[TEXT_MAX];
        snprintf(text, sizeof text, "convolve:%s edge=%s", kernels[k], edges[k % COUNT(edges)]);
        check_every_model(*state, text);
    }
}

/* "kernel=" and numbers, whole ones or not. */
static void random_kernel(struct levels *levels, char text[TEXT_MAX]) {
    unsigned width = 1 + 2 * (unsigned)(test_random(&levels->random) % 8);
    unsigned height = 1 + 2 * (unsigned)(test_random(&levels->random) % 8);
    double unit = test_random(&levels->random) % 2 ? 1 : 0.0137;
    int at = snprintf(text, TEXT_MAX,
                      "convolve:bias=3 edge=%s kernel=", edges[test_random(&levels->random) % COUNT(edges)]);
    for (unsigned i = 0; i < width * height; i++) {
        const char *end = i + 1 == width * height ? "" : (i + 1) % width ? "," : ";";
        double value = (double)(int)(test_random(&levels->random) % 41) - 20;
        at += snprintf(text + at, TEXT_MAX - (size_t)at, "%.9g%s", value * unit, end);
    }
}

static void test_any_matrix(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < 60; i++) {
        char text[TEXT_MAX];
        random_kernel(levels, text);
        const uint32_t size[2] = {1 + (uint32_t)(test_random(&levels->random) % 90),
                                  1 + (uint32_t)(test_random(&levels->random) % 20)};
        check_models(levels, text, size);
    }
}

static void test_sharpen(void **state) {
    for (unsigned s = 0; s < COUNT(sharpens); s++) {
        for (unsigned e = 0; e <= EDGE_ZERO; e++) {
            char text[TEXT_MAX];
            snprintf(text, sizeof text, "sharpen:%s edge=%s", sharpens[s], edges[e]);
            for (unsigned i = 0; i < COUNT(sizes); i++) {
                check_models(*state, text, sizes[i]);
            }
            if (e == s % EDGE_ZERO) {
                check_every_model(*state, text);
            }
        }
    }
}

static void test_pixelate(void **state) {
    struct levels *levels = *state;
    for (unsigned p = 0; p < COUNT(pixelates); p++) {
        char text[TEXT_MAX];
        snprintf(text, sizeof text, "pixelate:%s", pixelates[p]);
        for (unsigned i = 0; i < COUNT(sizes); i++) {
            check_models(levels, text, sizes[i]);
        }
        check_every_model(levels, text);
        struct image_shape tall = simple_shape(p, 140, 133);
        check_reference(levels, text, &tall, false);
    }
}

static void test_planar(void **state) {
    static const char *const texts[] = {"pixelate:block=4", "pixelate:block=12", "pixelate:block=64",
                                        "blur:sigma=2", "blur:sigma=6|pixelate:block=8|blur:sigma=1"};
    for (unsigned t = 0; t < COUNT(texts); t++) {
        for (unsigned m = 0; m < COUNT(planar); m++) {
            for (unsigned i = 0; i < COUNT(sizes); i++) {
                struct image_shape shape = planar[m];
                shape.width = sizes[i][0];
                shape.height = sizes[i][1];
                check_reference(*state, texts[t], &shape, (t + m + i) % 2);
            }
        }
    }
}

static void test_stats(void **state) {
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, sizes[i][0], sizes[i][1]);
            check_reference(*state, "stats", &shape, false);
            check_reference(*state, "stats", &shape, true);
        }
    }
}

static const char *const chains[] = {
    "blur:sigma=1|sharpen:amount=2",
    "pixelate:block=3|convolve:preset=edge edge=frame",
    "sharpen:sigma=2|blur:sigma=5 edge=wrap|pixelate:block=2",
    "median:radius=3|erode:radius=2|dilate:radius=2 edge=mirror|blur:sigma=2",
    "convolve:preset=box|convolve:preset=box size=5 edge=mirror|convolve:preset=emboss",
    ("blur:sigma=1|sharpen|pixelate:block=2|convolve:preset=box|blur:sigma=0.5|sharpen:sigma=5|"
     "convolve:kernel=1,1,1;0,0,0;-1,-1,-1 bias=90|pixelate:block=5"),
};

static void test_chains(void **state) {
    for (unsigned i = 0; i < COUNT(chains); i++) {
        for (unsigned model = 0; model < SIMPLE_MODELS; model++) {
            struct image_shape shape = simple_shape(model, 39 + i, 17);
            check_reference(*state, chains[i], &shape, false);
            check_reference(*state, chains[i], &shape, true);
        }
    }
}

/* A chain is its steps, each run alone. */
static void test_chain_is_single_runs(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < COUNT(chains); i++) {
        struct image_shape shape = simple_shape(i, 71, 13);
        struct test_image source = make_noise(levels, &shape);
        struct test_image now = test_image_make(&shape);
        memcpy(now.memory, source.memory, now.size);
        struct chain chain = make_chain(chains[i], &shape);
        for (uint32_t s = 0; s < chain.count; s++) {
            struct chain single = {.count = 1, .step = {chain.step[s]}};
            struct test_image next = test_image_make(&shape);
            struct chain_run run = {.chain = &single, .source = &now.image, .target = &next.image};
            assert_int_equal(lane_run(levels->lane[0], &run, NULL, NULL), ST_OK);
            test_image_free(&now);
            now = next;
        }
        compare_levels(levels, chains[i], &chain, &source, NULL, &now);
        test_image_free(&source);
        test_image_free(&now);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_convolve), cmocka_unit_test(test_any_matrix),
        cmocka_unit_test(test_sharpen),  cmocka_unit_test(test_pixelate),
        cmocka_unit_test(test_planar),   cmocka_unit_test(test_stats),
        cmocka_unit_test(test_chains),   cmocka_unit_test(test_chain_is_single_runs),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
