/* SPDX-License-Identifier: MIT
 * Sums over runs are those of a loop, also where coordinates are as large as they may be, and rectangles have
 * the spread of rectangles. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "detect/moments.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

enum { SIDE_MAX = 65535 };

static uint64_t state = 1;

static uint32_t below(uint32_t limit) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33) % limit;
}

static void add_pixel(struct moments *sum, uint64_t x, uint64_t y) {
    sum->x += x;
    sum->y += y;
    sum->xx += x * x;
    sum->xy += x * y;
    sum->yy += y * y;
}

static void test_runs(void **unused) {
    (void)unused;
    for (unsigned round = 0; round < 300; round++) {
        const uint32_t from = round % 3 == 0 ? 0 : below(SIDE_MAX);
        const uint32_t to = round % 5 == 0 ? SIDE_MAX : from + 1 + below(SIDE_MAX - from);
        const uint32_t y = round % 7 == 0 ? SIDE_MAX - 1 : below(SIDE_MAX);
        struct moments sum = {1, 2, 3, 4, 5}, wanted = sum;
        moments_add_run(&sum, from, to, y);
        for (uint32_t x = from; x < to; x++) {
            add_pixel(&wanted, x, y);
        }
        assert_memory_equal(&sum, &wanted, sizeof sum);
    }
}

/* A map of the largest sides, all of which is one component: its sums are those of two halves. */
static void test_largest_map(void **unused) {
    (void)unused;
    struct moments all = {0}, half[2] = {{0}, {0}};
    for (uint32_t y = 0; y < SIDE_MAX; y++) {
        moments_add_run(&all, 0, SIDE_MAX, y);
        moments_add_run(&half[0], 0, 30000, y);
        moments_add_run(&half[1], 30000, SIDE_MAX, y);
    }
    moments_add(&half[0], &half[1]);
    assert_memory_equal(&half[0], &all, sizeof all);
    assert_true(all.xx == all.yy && all.xx < (UINT64_C(1) << 63) && all.xy < all.xx);
    const struct moments_spread spread = moments_spread(&all, (uint32_t)SIDE_MAX * SIDE_MAX);
    assert_true(fabs(spread.x - SIDE_MAX / 2.0) < 1e-9 && fabs(spread.y - SIDE_MAX / 2.0) < 1e-9);
    assert_true(fabs(sqrt(12 * spread.xx) - SIDE_MAX) < 1e-6 && fabs(spread.xy) < 1e-6);
}

/* To the last digits, also far from the origin. */
static void test_rectangles(void **unused) {
    (void)unused;
    for (unsigned round = 0; round < 200; round++) {
        const uint32_t width = 1 + below(200), height = 1 + below(100), left = below(SIDE_MAX - 200),
                       top = below(SIDE_MAX - 100);
        struct moments sum = {0};
        for (uint32_t y = top; y < top + height; y++) {
            moments_add_run(&sum, left, left + width, y);
        }
        const struct moments_spread spread = moments_spread(&sum, width * height);
        assert_true(fabs(spread.x - (left + width / 2.0)) < 1e-9 &&
                    fabs(spread.y - (top + height / 2.0)) < 1e-9);
        assert_true(fabs(sqrt(12 * spread.xx) - width) < 1e-9 && fabs(sqrt(12 * spread.yy) - height) < 1e-9);
        assert_true(fabs(spread.xy) < 1e-9);
    }
}

/* The sign is that of the screen, on which y goes down. */
static void test_diagonals(void **unused) {
    (void)unused;
    struct moments down = {0}, up = {0};
    for (uint32_t i = 0; i < 100; i++) {
        moments_add_run(&down, 60000 + i, 60001 + i, 5000 + i);
        moments_add_run(&up, 60000 + i, 60001 + i, 5100 - i);
    }
    const struct moments_spread falls = moments_spread(&down, 100), rises = moments_spread(&up, 100);
    assert_true(fabs(falls.xy - (100 * 100 - 1) / 12.0) < 1e-9 && fabs(rises.xy + falls.xy) < 1e-9);
    assert_true(fabs(falls.xx - 100 * 100 / 12.0) < 1e-9 && fabs(falls.yy - falls.xx) < 1e-9);
}

static void test_made_up_sums(void **unused) {
    (void)unused;
    for (unsigned round = 0; round < 1000; round++) {
        struct moments sum;
        uint32_t words[sizeof sum / sizeof(uint32_t)];
        for (unsigned i = 0; i < sizeof words / sizeof *words; i++) {
            words[i] = round % 2 ? UINT32_MAX : below(UINT32_MAX);
        }
        memcpy(&sum, words, sizeof sum);
        const struct moments_spread spread = moments_spread(&sum, 1 + below(100));
        assert_true(isfinite(spread.x) && isfinite(spread.y) && isfinite(spread.xx) && isfinite(spread.xy) &&
                    isfinite(spread.yy));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),         cmocka_unit_test(test_largest_map),
        cmocka_unit_test(test_rectangles),   cmocka_unit_test(test_diagonals),
        cmocka_unit_test(test_made_up_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
