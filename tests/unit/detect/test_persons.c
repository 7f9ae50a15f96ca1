/* SPDX-License-Identifier: MIT
 * Persons are boxes of anchors, of which the best of those that overlap stays; and what an engine writes is
 * not believed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "detect/anchors.h"
#include "detect/detectors.h"
#include "detect/persons/persons.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct candidates found;
static struct boxes boxes;
static const struct boxes_frame frame = {
    .searched_width = 640, .searched_height = 480, .width = 640, .height = 480};

/* An anchor at its own place. */
static struct candidate *add(int x, int y, int number, int score) {
    struct candidate *to = &found.candidate[found.count++];
    *to = (struct candidate){.x = (uint16_t)x, .y = (uint16_t)y, .sum = {score, number, 128, 128, 128, 128}};
    return to;
}

static enum status read_boxes(const struct boxes_frame *of) {
    struct error err = {0};
    return persons_find(NULL, &found, of, &boxes, &err);
}

static void expect_box(unsigned index, double left, double top, double right, double bottom) {
    const struct box *box = &boxes.box[index];
    const double of[] = {box->x, box->y, box->x + box->width, box->y + box->height},
                 wanted[] = {left, top, right, bottom};
    assert_true(index < boxes.count);
    for (unsigned i = 0; i < COUNT(wanted); i++) {
        if (fabs(of[i] - wanted[i]) > 0.01) {
            fail_msg("edge %u of box %u is %f, not %f", i, index, of[i], wanted[i]);
        }
    }
}

static void test_places(void **state) {
    (void)state;
    found.count = 0;
    add(10, 5, 0, 160);
    add(20, 10, 2, 150);
    add(10, 5, 7, 144);
    assert_int_equal(read_boxes(&frame), ST_OK);
    assert_int_equal(boxes.count, 3);
    expect_box(0, 155 - 15, 75 - 15, 155 + 15, 75 + 15);
    expect_box(1, 315 - 21.213, 155 - 42.426, 315 + 21.213, 155 + 42.426);
    expect_box(2, 315 - 30.309, 155 - 90.937, 315 + 30.309, 155 + 90.937);
    assert_true(fabs(boxes.box[0].score - 1 / (1 + exp(-2))) < 1e-9 && boxes.box[0].class == 0);
    const struct boxes_frame twice = {
        .searched_width = 640, .searched_height = 480, .width = 1280, .height = 240};
    found.count = 0;
    struct candidate *moved = add(10, 5, 0, 160);
    moved->sum[ANCHOR_PLACE] += 20, moved->sum[ANCHOR_PLACE + 1] -= 10; /* y and x */
    moved->sum[ANCHOR_PLACE + 2] += 50, moved->sum[ANCHOR_PLACE + 3] -= 25;
    assert_int_equal(read_boxes(&twice), ST_OK);
    const double x = 155 - 3, y = 75 + 6, width = 30 * exp(-0.5), height = 30 * exp(1);
    expect_box(0, 2 * x - width, y / 2 - height / 4, 2 * x + width, y / 2 + height / 4);
}

static void test_edges(void **state) {
    (void)state;
    found.count = 0;
    add(0, 10, 1, 160);  /* its middle is left of the picture */
    add(19, 16, 8, 160); /* and this one's is below */
    add(20, 14, 3, 160);
    add(1, 1, 1, 160);
    assert_int_equal(read_boxes(&frame), ST_OK);
    assert_int_equal(boxes.count, 2);
    expect_box(0, 0, 0, 11 + 42.426, 11 + 21.213);
    expect_box(1, 635 - 52.5, 443 - 52.5, 640, 480);
}

static void test_suppression(void **state) {
    (void)state;
    found.count = 0;
    add(10, 5, 3, 140);
    add(10, 5, 8, 150); /* overlaps by 0.7 */
    add(10, 5, 6, 145); /* by less */
    assert_int_equal(read_boxes(&frame), ST_OK);
    assert_int_equal(boxes.count, 2);
    assert_true(boxes.box[0].score > boxes.box[1].score);
    assert_true(fabs(boxes.box[0].height - 125.499) < 0.01);
}

static void test_limits(void **state) {
    (void)state;
    static const struct boxes_frame large = {
        .searched_width = 16000, .searched_height = 8000, .width = 16000, .height = 8000};
    for (unsigned more = 0; more < 2; more++) {
        found.count = 0;
        for (unsigned i = 0; i < BOXES_MAX + more; i++) {
            add(2 + 3 * (int)(i % 256), 2 + 3 * (int)(i / 256), 0, 200);
        }
        assert_int_equal(read_boxes(&large), more ? ST_LIMIT : ST_OK);
        assert_int_equal(more ? BOXES_MAX : boxes.count, BOXES_MAX);
    }
    found.count = CANDIDATES_MAX + 1;
    assert_int_equal(read_boxes(&large), ST_LIMIT);
}

static void test_made_up_anchors(void **state) {
    (void)state;
    static const int32_t wrong[] = {-1, 256, INT32_MIN, INT32_MAX};
    for (unsigned sum = 0; sum < ANCHOR_SUMS; sum++) {
        for (unsigned i = 0; i < COUNT(wrong); i++) {
            found.count = 0;
            add(10, 5, 0, 160)->sum[sum] = wrong[i];
            assert_int_equal(read_boxes(&frame), ST_CORRUPT);
        }
    }
    found.count = 0;
    add(10, 5, PERSON_ANCHORS, 160);
    assert_int_equal(read_boxes(&frame), ST_CORRUPT);
}

static void test_table(void **state) {
    (void)state;
    struct error err = {0};
    const struct network *network = detector_persons.network;
    assert_int_equal(network_check(network, &err), ST_OK);
    assert_int_equal(network_cell(network, 0), PERSON_CELL);
    assert_int_equal(network_cell(network, 1), 2 * PERSON_CELL);
    assert_int_equal(detector_outputs(&detector_persons), 3);
    assert_int_equal(persons_least(NULL, 0.5), 128);
    assert_int_equal(persons_least(NULL, 0), 1);
    assert_int_equal(persons_least(NULL, 1), INT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places),          cmocka_unit_test(test_edges),
        cmocka_unit_test(test_suppression),     cmocka_unit_test(test_limits),
        cmocka_unit_test(test_made_up_anchors), cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
