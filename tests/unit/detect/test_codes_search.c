/* SPDX-License-Identifier: MIT
 * What looks like a code, in pictures of random modules and stripes, and what does not. */
#include "detect/codes/codes.h"
#include "detect/codes/cpu/codes_search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { WIDTH = 640, HEIGHT = 480 };

static struct candidates candidates;
static struct boxes boxes;
static uint8_t *memory;
static struct codes_pyramid pyramid;
static uint32_t seed;

/* A code 128. */
static const char linear[] = "##.#..#....##.###.#...#...##.#...#...#...##.##...#.###.#...##.#...##.###...#.##"
                             ".##..##..#.###.####.#...###."
                             "##.##...#..#..##.####.##.##...###.#.##";

static uint32_t random_bits(void) {
    seed = seed * 1664525 + 1013904223;
    return seed >> 16;
}

static int set_up(void **state) {
    (void)state;
    memory = aligned_alloc(64, (codes_search_bytes(WIDTH, HEIGHT) + 63) & ~(size_t)63);
    assert_non_null(memory);
    codes_search_place(&pyramid, WIDTH, HEIGHT, memory);
    assert_int_equal(pyramid.count, 4);
    assert_int_equal(pyramid.level[0].width, WIDTH);
    assert_int_equal(pyramid.level[3].height, HEIGHT / 8);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    free(memory);
    return 0;
}

/* A page that is a little darker on the right. */
static void paint_page(void) {
    for (uint32_t y = 0; y < HEIGHT; y++) {
        for (uint32_t x = 0; x < WIDTH; x++) {
            pyramid.level[0].grey[y * WIDTH + x] = (uint8_t)(240 - x / 32);
        }
    }
}

/* Modules of `size` pixels at a place of so many modules, each dark or light at random, or the stripes of a
 * linear code. (cos, sin) is the turn, in 256ths. */
static void paint_code(int left, int top, int columns, int rows, int size, bool stripes, int cos, int sin) {
    static uint8_t dark[160 * 64];
    assert_true(columns <= 160 && rows <= 64);
    for (int i = 0; i < columns * rows; i++) {
        dark[i] = stripes ? linear[i % columns] == '#' : (uint8_t)(random_bits() & 1);
    }
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            const int across = ((x - left) * cos + (y - top) * sin) / 256;
            const int down = ((y - top) * cos - (x - left) * sin) / 256;
            if (across >= 0 && down >= 0 && across < columns * size && down < rows * size) {
                pyramid.level[0].grey[y * WIDTH + x] = dark[down / size * columns + across / size] ? 20 : 230;
            }
        }
    }
}

static unsigned search(const struct codes_symbols *symbols) {
    static const struct codes_symbols none;
    static const struct boxes_frame frame = {
        .searched_width = WIDTH, .searched_height = HEIGHT, .width = WIDTH, .height = HEIGHT};
    struct error err = {0};
    assert_int_equal(
        codes_search_run(&pyramid, symbols ? symbols : &none, codes_least(0.5), 0, &candidates, &err), ST_OK);
    assert_int_equal(codes_find(NULL, &candidates, &frame, &boxes, &err), ST_OK);
    return boxes.count;
}

/* Whether a box has the rectangle, and hardly more. */
static bool hides(double left, double top, double right, double bottom) {
    for (unsigned i = 0; i < boxes.count; i++) {
        const struct box *box = &boxes.box[i];
        if (box->x <= left + 5 && box->y <= top + 5 && box->x + box->width >= right - 5 &&
            box->y + box->height >= bottom - 5 && box->width < right - left + 200 &&
            box->height < bottom - top + 200) {
            return true;
        }
    }
    return false;
}

static void test_modules(void **state) {
    (void)state;
    for (int size = 3; size <= 10; size++) {
        seed = (uint32_t)size;
        paint_page();
        paint_code(60, 50, 33, 33, size, false, 256, 0);
        assert_int_equal(search(NULL), 1);
        assert_true(hides(60, 50, 60 + 33 * size, 50 + 33 * size));
    }
}

static void test_stripes(void **state) {
    (void)state;
    for (int size = 3; size <= 4; size++) {
        paint_page();
        paint_code(30, 60, (int)sizeof linear - 1, 120 / size, size, true, 256, 0);
        assert_true(search(NULL) > 0);
        assert_true(hides(34, 64, 26 + 145 * size, 56 + 120 / size * size));
    }
}

static void test_turned(void **state) {
    (void)state;
    seed = 7;
    paint_page();
    paint_code(150, 60, 60, 20, 5, true, 222, 128); /* 30 degrees */
    assert_true(search(NULL) > 0);
    assert_true(hides(105, 65, 405, 290));
    seed = 8;
    paint_page();
    paint_code(300, 60, 30, 30, 6, false, 181, 181); /* 45 degrees */
    assert_true(search(NULL) > 0);
    assert_true(hides(180, 65, 420, 310));
}

static void test_nothing(void **state) {
    uint8_t *grey = pyramid.level[0].grey;
    (void)state;
    paint_page();
    assert_int_equal(search(NULL), 0);
    memset(grey, 255, WIDTH * HEIGHT);
    assert_int_equal(search(NULL), 0);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) { /* noise */
        grey[i] = (uint8_t)(random_bits() % 64 + random_bits() % 64 + random_bits() % 64 + i % WIDTH / 16);
    }
    assert_int_equal(search(NULL), 0);
    for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) { /* stripes without an end, all of one width */
        grey[i] = i % WIDTH / 8 % 2 ? 220 : 30;
    }
    assert_int_equal(search(NULL), 0);
}

/* A reader that saw one line of stripes: the place grows to all of them. */
static void test_symbol_of_a_line(void **state) {
    static const struct codes_symbols line = {.count = 1,
                                              .symbol = {{{{44, 130}, {230, 130}, {230, 130}, {44, 130}}}}};
    (void)state;
    seed = 3;
    paint_page();
    paint_code(40, 60, 64, 50, 3, true, 256, 0);
    struct error err = {0};
    assert_int_equal(codes_search_run(&pyramid, &line, INT32_MAX, 0, &candidates, &err), ST_OK);
    assert_int_equal(candidates.count, 1);
    assert_int_equal(candidates.candidate[0].sum[CODES_SUM_SCORE], CODES_SURE);
    const struct boxes_frame frame = {
        .searched_width = WIDTH, .searched_height = HEIGHT, .width = WIDTH, .height = HEIGHT};
    assert_int_equal(codes_find(NULL, &candidates, &frame, &boxes, &err), ST_OK);
    assert_true(hides(44, 60, 228, 205));
}

static void test_deadline(void **state) {
    static const struct codes_symbols none;
    struct error err = {0};
    (void)state;
    assert_int_equal(codes_search_run(&pyramid, &none, 0, 1, &candidates, &err), ST_LIMIT);
}

/* The search pads a picture that is smaller than a level. */
static void test_small_pictures(void **state) {
    static const struct codes_symbols one = {.count = 1,
                                             .symbol[0].corner = {{0, 0}, {9, 0}, {9, 5}, {0, 5}}};
    static uint8_t room[1 << 20] __attribute__((aligned(8)));
    struct codes_pyramid small;
    struct error err = {0};
    (void)state;
    for (uint32_t side = 1; side <= 33; side++) {
        assert_in_range(codes_search_bytes(side, 100), 1, sizeof room);
        codes_search_place(&small, side, 100, room);
        assert_int_equal(small.count, 1);
        assert_int_equal(small.level[0].width, side <= 32 ? 32 : 36);
        memset(small.level[0].grey, 255, (size_t)small.level[0].width * small.level[0].height);
        assert_int_equal(codes_search_run(&small, &one, 0, 0, &candidates, &err), ST_OK);
        assert_int_equal(candidates.count, 1);
    }
}

/* What was read lies in its candidate, also where nothing looks like a code. */
static void test_symbol_is_never_cut(void **state) {
    static const struct codes_symbols one = {.count = 1,
                                             .symbol[0].corner = {{40, 30}, {140, 30}, {140, 90}, {40, 90}}};
    struct error err = {0};
    (void)state;
    paint_page();
    assert_int_equal(codes_search_run(&pyramid, &one, CODES_SURE + 1, 0, &candidates, &err), ST_OK);
    assert_int_equal(candidates.count, 1);
    const int32_t *corner = &candidates.candidate[0].sum[CODES_SUM_CORNERS];
    assert_true(corner[0] <= 40 && corner[1] <= 30 && corner[4] >= 140 && corner[5] >= 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modules),          cmocka_unit_test(test_stripes),
        cmocka_unit_test(test_turned),           cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_symbol_of_a_line), cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_small_pictures),   cmocka_unit_test(test_symbol_is_never_cut)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
