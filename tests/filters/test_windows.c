/* SPDX-License-Identifier: MIT
 * Under a mask only a part of the picture is filtered. The bytes are those of the whole picture, filtered and
 * then blended, at every CPU level, alone and with helpers. SEED=n repeats a run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/sanitizers.h"
#include "cpu/blend.h"
#include "filters/window.h"
#include "tests/filters/filter_levels.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { ROUNDS = SANITIZED ? 2 : 20 };

/* Half of the side that a plane keeps must not cut tiles, and the radius of a median must be even, for the
 * texts that planes take: those before the first that needs RGB. */
static const char *const texts[] = {
    "blur:sigma=0.7",
    "blur:sigma=3 edge=wrap",
    "blur:sigma=4 edge=mirror",
    "blur:sigma=5",
    "blur:sigma=9 edge=zero",
    "blur:sigma=17 edge=mirror",
    "blur:sigma=33",
    "blur:sigma=70 edge=wrap",
    "blur:sigma=2 kernel_size=9 edge=mirror",
    "pixelate:block=4",
    "pixelate:block=20",
    "pixelate:block=64",
    "median:radius=4",
    "median:radius=8 edge=wrap",
    "redact",
    "adjust:negate=true",
    "blur:sigma=6|pixelate:block=12|blur:sigma=4|pixelate:block=8",
    "adjust:gamma=2 contrast=1.5",
    "pixelate:block=7|pixelate:block=5|pixelate:block=4096",
    "median:radius=3 edge=zero",
    "dilate:radius=5 edge=mirror",
    "erode:radius=2 edge=wrap|dilate:radius=9",
    "sharpen:sigma=1.5 amount=2",
    "sharpen:sigma=12 amount=1.5 threshold=3 edge=mirror",
    "sharpen:sigma=5 amount=10",
    "sharpen:sigma=20 amount=10",
    "convolve:preset=box size=9 edge=wrap",
    "convolve:kernel=1,-2,3,4,5,1,9 edge=frame",
    "convolve:kernel=1;2;-3;4;5;1;1 edge=zero",
    "sharpen:sigma=5|adjust:brightness=1.3|blur:sigma=8 edge=mirror|median:radius=2",
};
enum { PLANAR_TEXTS = 17 };

static uint32_t below(struct levels *levels, uint32_t most) {
    return (uint32_t)(test_random(&levels->random) % most);
}

/* Draws a patch of full, faint or random coverage, at a border of the picture as often as not. */
static void draw_patch(struct levels *levels, const struct image *mask) {
    uint32_t width = 1 + below(levels, mask->width < 40 ? mask->width : 40);
    uint32_t height = 1 + below(levels, mask->height < 40 ? mask->height : 40);
    uint32_t free_x = mask->width - width, free_y = mask->height - height;
    uint32_t left = below(levels, 4), top = below(levels, 4), look = below(levels, 4);
    left = left == 0 ? 0 : left == 1 ? free_x : below(levels, free_x + 1);
    top = top == 0 ? 0 : top == 1 ? free_y : below(levels, free_y + 1);
    for (uint32_t y = top; y < top + height; y++) {
        for (uint32_t x = left; x < left + width; x++) {
            unsigned any = below(levels, 256);
            test_put(mask, 0, x, y, 0, look == 0 ? 1 : look == 1 ? any : 255);
        }
    }
}

/* None, one or two patches; sometimes exchanged with what they leave. */
static struct test_image make_patches(struct levels *levels, const struct image_shape *shape) {
    struct test_image made = test_image_make(&(struct image_shape){
        .model = PIXEL_GRAY, .depth = 8, .width = shape->width, .height = shape->height});
    test_image_set(&made, 0);
    uint32_t patches = below(levels, 12);
    patches = patches == 0 ? 0 : patches < 9 ? 1 : 2;
    bool inverted = below(levels, 12) == 0;
    for (uint32_t i = 0; i < patches; i++) {
        draw_patch(levels, &made.image);
    }
    for (uint32_t y = 0; y < shape->height && inverted; y++) {
        for (uint32_t x = 0; x < shape->width; x++) {
            test_put(&made.image, 0, x, y, 0, 255 - test_sample(&made.image, 0, x, y, 0));
        }
    }
    return made;
}

static void check_window(struct levels *levels, const char *text, const struct image_shape *shape) {
    struct chain chain = make_chain(text, shape);
    struct test_image source = make_noise(levels, shape);
    struct test_image mask = make_patches(levels, shape);
    struct test_image whole = level_result(levels, text, &source, NULL);
    assert_int_equal(blend(NULL, 0, &source.image, &whole.image, &mask.image, NULL), ST_OK);
    compare_levels(levels, text, &chain, &source, &mask, &whole);
    test_image_free(&source);
    test_image_free(&mask);
    test_image_free(&whole);
}

/* Sides are long against the window of most filters, and short against that of some. */
static struct image_shape any_shape(struct levels *levels) {
    return simple_shape(below(levels, SIMPLE_MODELS), 1 + below(levels, 420), 1 + below(levels, 260));
}

static void check_all(struct levels *levels, unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        for (unsigned t = 0; t < COUNT(texts); t++) {
            struct image_shape shape = any_shape(levels);
            check_window(levels, texts[t], &shape);
        }
        for (unsigned t = 0; t < PLANAR_TEXTS; t++) {
            struct image_shape shape = any_shape(levels);
            shape.model = PIXEL_YCBCR;
            shape.depth = 8;
            shape.chroma_shift_x = (uint8_t)below(levels, 3);
            shape.chroma_shift_y = (uint8_t)below(levels, 3);
            check_window(levels, texts[t], &shape);
        }
    }
}

static void test_alone(void **state) {
    check_all(*state, ROUNDS);
}

static void test_helped(void **state) {
    struct levels *levels = *state;
    levels->helpers = helpers_start(3, 1, false);
    check_all(levels, (ROUNDS + 3) / 4);
    assert_true(helpers_stop(levels->helpers) > 0);
    levels->helpers = NULL;
}

/* Steps that move pixels run over the whole picture, behind those under the mask. */
static void test_moved(void **state) {
    struct levels *levels = *state;
    static const char *const masked[] = {"blur:sigma=5", "median:radius=2|pixelate:block=8"};
    static const char *const moved[] = {"rotate", "crop:x=30% y=20%|rotate:flip=both"};
    for (unsigned i = 0; i < 5 * ROUNDS; i++) {
        struct image_shape shape = any_shape(levels);
        char text[128];
        snprintf(text, sizeof text, "%s|%s", masked[i % 2], moved[i / 2 % 2]);
        struct chain chain = make_chain(text, &shape);
        struct test_image source = make_noise(levels, &shape), mask = make_patches(levels, &shape);
        struct test_image whole = level_result(levels, masked[i % 2], &source, NULL);
        assert_int_equal(blend(NULL, 0, &source.image, &whole.image, &mask.image, NULL), ST_OK);
        struct test_image result = level_result(levels, moved[i / 2 % 2], &whole, NULL);
        compare_levels(levels, text, &chain, &source, &mask, &result);
        test_image_free(&source);
        test_image_free(&mask);
        test_image_free(&whole);
        test_image_free(&result);
    }
}

/* Memory is lent for the whole picture: the part must not need more. A mirrored blur keeps a period, which
 * can be long in a small picture and short in a large one. */
static void test_a_part_takes_no_more_memory(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < 20 * ROUNDS * COUNT(texts); i++) {
        const uint32_t wide = i % 2 ? 1500 : 90, high = i % 3 ? 1500 : 90;
        struct image_shape shape =
            simple_shape(below(levels, SIMPLE_MODELS), 1 + below(levels, wide), 1 + below(levels, high));
        const uint32_t x = below(levels, 2) * below(levels, shape.width);
        const uint32_t y = below(levels, 2) * below(levels, shape.height);
        const char *text = texts[i % COUNT(texts)];
        struct chain chain = make_chain(text, &shape);
        const struct crop_plan window = window_of(&chain, &shape, &(struct crop_plan){x, y, 1, 1});
        struct image_shape part = shape;
        part.width = window.width;
        part.height = window.height;
        for (unsigned l = 0; l < LEVELS_MAX; l++) {
            const struct backend *backend = levels->backend[l];
            if (backend && backend_run_bytes(backend, &chain, &part, 1) >
                               backend_run_bytes(backend, &chain, &shape, 1)) {
                fail_msg("%s: %ux%u of %ux%u", text, part.width, part.height, shape.width, shape.height);
            }
        }
    }
}

static bool is_within(const struct crop_plan *part, uint32_t x, uint32_t y) {
    return x - part->x < part->width && y - part->y < part->height;
}

/* Black inside of the window, and white or black outside. */
static struct test_image framed(struct levels *levels, const char *text, const struct image_shape *shape,
                                const struct crop_plan *window, unsigned outside) {
    struct test_image source = test_image_make(shape);
    for (uint32_t y = 0; y < shape->height; y++) {
        for (uint32_t x = 0; x < shape->width; x++) {
            test_put(&source.image, 0, x, y, 0, is_within(window, x, y) ? 0 : outside);
        }
    }
    struct test_image result = level_result(levels, text, &source, NULL);
    test_image_free(&source);
    return result;
}

/* What lies outside of the window shows nowhere in what is covered, however bright it is. */
static void test_nothing_outside_counts(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < (ROUNDS + 1) / 2 * COUNT(texts); i++) {
        const struct image_shape shape = {
            .model = PIXEL_GRAY, .depth = 16, .width = 200 + below(levels, 300), .height = 400};
        const struct crop_plan covered = {below(levels, 190), below(levels, 390), 1 + below(levels, 9), 3};
        const char *text = texts[i % COUNT(texts)];
        struct chain chain = make_chain(text, &shape);
        struct crop_plan window = window_of(&chain, &shape, &covered);
        struct test_image dark = framed(levels, text, &shape, &window, 0);
        struct test_image bright = framed(levels, text, &shape, &window, 65535);
        for (uint32_t y = covered.y; y < covered.y + covered.height; y++) {
            for (uint32_t x = covered.x; x < covered.x + covered.width; x++) {
                if (test_sample(&dark.image, 0, x, y, 0) != test_sample(&bright.image, 0, x, y, 0)) {
                    fail_msg("%s, %ux%u: (%u, %u) sees beyond %u,%u,%u,%u", text, shape.width, shape.height,
                             x, y, window.x, window.y, window.width, window.height);
                }
            }
        }
        test_image_free(&dark);
        test_image_free(&bright);
    }
}

struct fact {
    const char *text;
    struct crop_plan covered, window;
};

static const struct fact facts[] = {
    {"adjust:negate=true", {600, 401, 200, 24}, {576, 401, 256, 24}},
    {"pixelate:block=8", {600, 401, 200, 24}, {576, 400, 256, 32}},
    {"pixelate:block=24", {600, 401, 200, 24}, {576, 384, 256, 48}},
    {"pixelate:block=4096", {600, 401, 200, 24}, {0, 0, 1920, 1080}},
    {"median:radius=3", {600, 401, 200, 24}, {576, 398, 256, 30}},
    {"median:radius=3 edge=wrap", {600, 401, 200, 24}, {576, 398, 256, 30}},
    {"median:radius=3 edge=wrap", {600, 2, 200, 24}, {576, 0, 256, 1080}},
    {"median:radius=3", {1919, 1079, 1, 1}, {1856, 1076, 64, 4}},
    {"blur:sigma=1", {600, 401, 200, 24}, {576, 397, 256, 32}},
    {"pixelate:block=9|pixelate:block=10", {600, 401, 200, 24}, {0, 360, 832, 72}},
};

static void test_windows(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 1920, .height = 1080};
    for (unsigned i = 0; i < COUNT(facts); i++) {
        const struct fact *fact = &facts[i];
        struct chain chain = make_chain(fact->text, &shape);
        struct crop_plan window = window_of(&chain, &shape, &fact->covered);
        if (memcmp(&window, &fact->window, sizeof window) != 0) {
            fail_msg("%s: %u,%u,%u,%u", fact->text, window.x, window.y, window.width, window.height);
        }
    }
}

static double run_ms(struct levels *levels, const char *text, const struct test_image *source,
                     const struct test_image *mask) {
    struct timespec begin, end;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    struct test_image made = level_result(levels, text, source, mask);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    test_image_free(&made);
    return 1e3 * (double)(end.tv_sec - begin.tv_sec) + 1e-6 * (double)(end.tv_nsec - begin.tv_nsec);
}

/* That little of the picture takes little time; it is a hundredth here. */
static void test_little_is_quick(void **state) {
    struct levels *levels = *state;
    static const char *const slow[] = {"median:radius=20", "sharpen:sigma=3|sharpen:sigma=3"};
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 1000, .height = 1000};
    struct test_image source = make_noise(levels, &shape);
    struct test_image mask = test_image_make(
        &(struct image_shape){.model = PIXEL_GRAY, .depth = 8, .width = 1000, .height = 1000});
    test_image_set(&mask, 0);
    test_put(&mask.image, 0, 500, 500, 0, 255);
    for (unsigned i = 0; i < COUNT(slow); i++) {
        double whole = run_ms(levels, slow[i], &source, NULL), part = run_ms(levels, slow[i], &source, &mask);
        if (part * 4 > whole) {
            fail_msg("%s: %.2f ms for a pixel, %.2f for the picture", slow[i], part, whole);
        }
    }
    test_image_free(&source);
    test_image_free(&mask);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_windows),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_helped),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_little_is_quick),
        cmocka_unit_test(test_a_part_takes_no_more_memory),
        cmocka_unit_test(test_nothing_outside_counts),
    };
    return cmocka_run_group_tests(tests, levels_setup, levels_teardown);
}
