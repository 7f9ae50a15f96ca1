/* SPDX-License-Identifier: MIT
 * The place of what is kept: against a search of all places. */
#include "server/search/focus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { WIDTH = 60, HEIGHT = 40, ROUNDS = 400 };

static const uint32_t sides[2] = {WIDTH, HEIGHT};
static struct boxes boxes;
static uint32_t random_state = 1;

static int random_below(int limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (int)(random_state >> 16) % limit;
}

static void put(double x, double y, double width, double height, double score) {
    boxes.box[boxes.count++] = (struct box){.x = x, .y = y, .width = width, .height = height, .score = score};
}

static double shared(double a, double a_size, double b, double b_size) {
    return fmax(fmin(a + a_size, b + b_size) - fmax(a, b), 0);
}

static double worth_at(double x, double y, const double size[2]) {
    double sum = 0;
    for (unsigned i = 0; i < boxes.count; i++) {
        const struct box *box = &boxes.box[i];
        const double area = box->width * box->height;
        const double share =
            shared(box->x, box->width, x, size[0]) * shared(box->y, box->height, y, size[1]) / area;
        sum += box->score * area * share * share;
    }
    return sum;
}

/* Sides are whole, so that a best place is, too, before it is centred. */
static void test_best(void **state) {
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const double size[2] = {1 + random_below(WIDTH), round % 3 ? HEIGHT : 1 + random_below(HEIGHT)};
        double begin[2], most = 0;
        boxes.count = 0;
        for (int i = random_below(7); i >= 0; i--) {
            put(random_below(WIDTH - 4), random_below(HEIGHT - 4), 1 + random_below(20), 1 + random_below(20),
                (1 + random_below(9)) / 10.0);
        }
        for (int x = 0; x <= WIDTH - size[0]; x++) {
            for (int y = 0; y <= HEIGHT - size[1]; y++) {
                most = fmax(most, worth_at(x, y, size));
            }
        }
        assert_true(focus_choose(&boxes, sides, size, begin));
        assert_true(begin[0] >= 0 && begin[0] + size[0] <= WIDTH);
        assert_true(begin[1] >= 0 && begin[1] + size[1] <= HEIGHT);
        assert_true(worth_at(begin[0], begin[1], size) >= most * (1 - 1e-6));
    }
}

static void check_place(const double size[2], double x, double y) {
    double begin[2];
    assert_true(focus_choose(&boxes, sides, size, begin));
    assert_true(fabs(begin[0] - x) < 1e-6 && fabs(begin[1] - y) < 1e-6);
}

static void test_middle(void **state) {
    (void)state;
    boxes.count = 0;
    put(40, 10, 10, 10, 0.9);
    check_place((const double[2]){20, HEIGHT}, 35, 0); /* around it */
    check_place((const double[2]){20, 20}, 35, 5);
    check_place((const double[2]){4, 4}, 43, 13); /* within it */
    check_place((const double[2]){40, HEIGHT}, 20, 0);
    put(2, 2, 5, 5, 0.9); /* too far away for both */
    check_place((const double[2]){20, HEIGHT}, 35, 0);
    check_place((const double[2]){48, HEIGHT}, 2, 0); /* both, nearer to the larger one */
    boxes.count = 0;
    put(0, 10, 6, 6, 0.5);
    put(14, 10, 6, 6, 0.5);
    check_place((const double[2]){10, HEIGHT}, 0, 0); /* one whole box, not two halves */
}

static void test_none_and_many(void **state) {
    (void)state;
    const double size[2] = {10, 10};
    double begin[2] = {3, 4};
    boxes.count = 0;
    assert_false(focus_choose(&boxes, sides, size, begin));
    assert_true(begin[0] == 3 && begin[1] == 4);
    for (unsigned i = 0; i < BOXES_MAX; i++) {
        put(i % 20, i / 20 % 30, 0.5, 0.5, 0.4);
    }
    boxes.box[BOXES_MAX - 1] = (struct box){.x = 50, .y = 30, .width = 10, .height = 10, .score = 1};
    check_place(size, 50, 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_best),
        cmocka_unit_test(test_middle),
        cmocka_unit_test(test_none_and_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
