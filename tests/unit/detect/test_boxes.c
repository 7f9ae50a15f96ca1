/* SPDX-License-Identifier: MIT
 * Boxes of several searches of one picture. */
#include "detect/boxes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { WIDTH = 100 };

static struct boxes boxes, more;

static int set_up(void **state) {
    (void)state;
    boxes.count = more.count = 0;
    return 0;
}

static void put(struct boxes *list, double x, double side, double score) {
    list->box[list->count++] = (struct box){.x = x, .y = 5, .width = side, .height = side, .score = score};
}

static void test_overlap(void **state) {
    (void)state;
    const struct box a = {.x = 0, .y = 0, .width = 4, .height = 2},
                     b = {.x = 2, .y = 0, .width = 4, .height = 2},
                     apart = {.x = 4, .y = 0, .width = 4, .height = 2};
    assert_true(boxes_overlap(&a, &a) == 1 && boxes_overlap(&a, &apart) == 0);
    assert_true(boxes_overlap(&a, &b) == 4.0 / 12 && boxes_overlap(&b, &a) == 4.0 / 12);
}

/* What is on the left comes to the right, and the landmarks of the left are again the first ones. */
static void test_mirror(void **state) {
    (void)state;
    put(&boxes, 10, 20, 0.5);
    const double landmarks[BOXES_LANDMARKS][2] = {{14, 8}, {22, 9}, {18, 12}, {15, 16}, {21, 17}},
                 expected[BOXES_LANDMARKS][2] = {{78, 9}, {86, 8}, {82, 12}, {79, 17}, {85, 16}};
    memcpy(boxes.box[0].landmarks, landmarks, sizeof landmarks);
    const struct box before = boxes.box[0];
    boxes_mirror(&boxes, WIDTH);
    assert_true(boxes.box[0].x == 70 && boxes.box[0].y == 5 && boxes.box[0].width == 20);
    assert_memory_equal(boxes.box[0].landmarks, expected, sizeof expected);
    boxes_mirror(&boxes, WIDTH);
    assert_memory_equal(&boxes.box[0], &before, sizeof before);
}

/* No box of the first search gets lost, whatever the score of the other one. */
static void test_nothing_gets_lost(void **state) {
    (void)state;
    struct error err;
    put(&boxes, 0, 20, 0.9);
    put(&boxes, 40, 20, 0.4);
    put(&more, 1, 20, 0.95); /* nearly the first one */
    put(&more, 70, 20, 0.6);
    put(&more, 7, 20, 0.5); /* overlaps the first one, but does not equal it */
    assert_int_equal(boxes_join(&boxes, &more, &err), ST_OK);
    const double places[] = {0, 70, 7, 40};
    assert_int_equal(boxes.count, 4);
    for (unsigned i = 0; i < boxes.count; i++) {
        assert_true(boxes.box[i].x == places[i]);
        assert_true(i == 0 || boxes.box[i].score <= boxes.box[i - 1].score);
    }
}

/* The box with the highest score stays, and what it overlaps much goes. */
static void test_the_better_one(void **state) {
    (void)state;
    struct error err;
    put(&boxes, 0, 20, 0.9);
    put(&boxes, 40, 20, 0.4);
    put(&boxes, 43, 20, 0.3);
    put(&more, 42, 20, 0.5);
    put(&more, 1, 20, 0.8);
    put(&more, 7, 20, 0.7);
    assert_int_equal(boxes_join_better(&boxes, &more, &err), ST_OK);
    const double places[] = {0, 7, 42};
    assert_int_equal(boxes.count, 3);
    for (unsigned i = 0; i < boxes.count; i++) {
        assert_true(boxes.box[i].x == places[i]);
    }
}

/* Those that do not fit are not dropped: the request fails. */
static void test_too_many(void **state) {
    (void)state;
    struct error err;
    for (unsigned i = 0; i < BOXES_MAX; i++) {
        put(&boxes, 10 * i, 5, 0.5);
    }
    put(&more, 0, 5, 0.7);
    assert_int_equal(boxes_join(&boxes, &more, &err), ST_OK);
    put(&more, 10 * BOXES_MAX, 5, 0.7);
    assert_int_equal(boxes_join(&boxes, &more, &err), ST_LIMIT);
    assert_int_equal(boxes_join_better(&boxes, &more, &err), ST_LIMIT);
    assert_int_equal(boxes.count, BOXES_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_overlap, set_up),
        cmocka_unit_test_setup(test_mirror, set_up),
        cmocka_unit_test_setup(test_nothing_gets_lost, set_up),
        cmocka_unit_test_setup(test_the_better_one, set_up),
        cmocka_unit_test_setup(test_too_many, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
