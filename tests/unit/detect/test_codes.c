/* SPDX-License-Identifier: MIT
 * From a reader's bytes to symbols, and from candidates to boxes of codes. */
#include "detect/codes/codes.h"
#include "detect/codes/symbols.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct candidates candidates;
static struct boxes boxes;
static const struct boxes_frame frame = {
    .searched_width = 400, .searched_height = 300, .width = 800, .height = 300};

static void test_symbols(void **state) {
    static const struct codes_symbol sent[2] = {{{{1, 2}, {30, 2}, {30, 40}, {1, 40}}},
                                                {{{-5, INT32_MIN}, {INT32_MAX, 9}, {100, 50}, {101, 51}}}};
    static struct codes_symbols symbols;
    struct error err = {0};
    (void)state;
    const struct bytes bytes = {(const uint8_t *)sent, sizeof sent};
    assert_int_equal(codes_symbols_parse(bytes, 100, 50, &symbols, &err), ST_OK);
    assert_int_equal(symbols.count, 2);
    assert_memory_equal(&symbols.symbol[0], &sent[0], sizeof sent[0]);
    const int32_t clamped[4][2] = {{0, 0}, {100, 9}, {100, 50}, {100, 50}};
    assert_memory_equal(symbols.symbol[1].corner, clamped, sizeof clamped);
    assert_int_equal(codes_symbols_parse((struct bytes){NULL, 0}, 100, 50, &symbols, &err), ST_OK);
    assert_int_equal(symbols.count, 0);
}

static void test_wrong_symbols(void **state) {
    static struct codes_symbol many[CODES_SYMBOLS_MAX + 1];
    static struct codes_symbols symbols;
    struct error err = {0};
    (void)state;
    for (size_t size = 1; size < sizeof many[0]; size++) {
        assert_int_equal(codes_symbols_parse((struct bytes){(void *)many, size}, 9, 9, &symbols, &err),
                         ST_DEVICE);
        assert_int_equal(symbols.count, 0);
    }
    assert_int_equal(codes_symbols_parse((struct bytes){(void *)many, sizeof many}, 9, 9, &symbols, &err),
                     ST_DEVICE);
    assert_int_equal(
        codes_symbols_parse((struct bytes){(void *)many, sizeof many - sizeof many[0]}, 9, 9, &symbols, &err),
        ST_OK);
    assert_int_equal(symbols.count, CODES_SYMBOLS_MAX);
}

static void add(int32_t score, int32_t left, int32_t top, int32_t right, int32_t bottom) {
    candidates.candidate[candidates.count++] =
        (struct candidate){.sum = {score, left, top, right, top, right, bottom, left, bottom}};
}

static enum status find(struct error *err) {
    return codes_find(NULL, &candidates, &frame, &boxes, err);
}

static void check_box(const struct box *box, double x, double y, double width, double height) {
    assert_true(box->x == x && box->y == y && box->width == width && box->height == height);
}

/* Nothing of what was found is left out because another box has most of it. */
static void test_most_of_another(void **state) {
    struct error err = {0};
    (void)state;
    for (int32_t share = 1; share <= 99; share++) {
        candidates.count = 0;
        add(512, 100, 20, 100 + share, 120);
        add(CODES_SURE, 100, 20, 200, 120);
        assert_int_equal(find(&err), ST_OK);
        assert_true(boxes.count >= 1);
        check_box(&boxes.box[0], 200, 20, 200, 100);
    }
}

static void test_boxes(void **state) {
    struct error err = {0};
    (void)state;
    candidates.count = 0;
    add(256, 10, 20, 60, 80);
    add(512, 200, 20, 260, 80);
    add(0, 20, 30, 80, 95);              /* half of it lies in the first */
    add(CODES_SURE, -40, 250, 900, 999); /* beyond the picture */
    assert_int_equal(find(&err), ST_OK);
    assert_int_equal(boxes.count, 3);
    check_box(&boxes.box[0], 0, 250, 800, 50);
    check_box(&boxes.box[1], 400, 20, 120, 60);
    check_box(&boxes.box[2], 20, 20, 140, 75); /* stretched across by two */
    assert_true(boxes.box[0].score > 0.999 && boxes.box[0].score <= 1);
    assert_true(boxes.box[2].score > 0.7 && boxes.box[2].score < 0.75);
}

/* A box that joins two makes them one. */
static void test_bridge(void **state) {
    struct error err = {0};
    (void)state;
    candidates.count = 0;
    add(1, 0, 0, 40, 40);
    add(1, 60, 0, 100, 40);
    add(1, 10, 0, 90, 40);
    assert_int_equal(find(&err), ST_OK);
    assert_int_equal(boxes.count, 1);
    check_box(&boxes.box[0], 0, 0, 200, 40);
}

/* Corners of a code that is turned, and those of a point, which still is a box. */
static void test_turned(void **state) {
    struct error err = {0};
    (void)state;
    candidates.candidate[0] = (struct candidate){.sum = {1, 50, 10, 90, 50, 50, 90, 10, 50}};
    candidates.candidate[1] = (struct candidate){.sum = {1, 400, 300, 400, 300, 400, 300, 400, 300}};
    candidates.count = 2;
    assert_int_equal(find(&err), ST_OK);
    assert_int_equal(boxes.count, 2);
    check_box(&boxes.box[0], 20, 10, 160, 80);
    check_box(&boxes.box[1], 799, 299, 1, 1);
}

static void test_too_many(void **state) {
    struct error err = {0};
    (void)state;
    candidates.count = 0;
    for (int i = 0; i <= BOXES_MAX; i++) {
        add(1, i % 40 * 10, i / 40 * 10, i % 40 * 10 + 5, i / 40 * 10 + 5);
    }
    assert_int_equal(find(&err), ST_LIMIT);
    candidates.count = BOXES_MAX;
    assert_int_equal(find(&err), ST_OK);
    assert_int_equal(boxes.count, BOXES_MAX);
    candidates.count = CANDIDATES_MAX + 1;
    assert_int_equal(find(&err), ST_LIMIT);
}

static void test_thresholds(void **state) {
    (void)state;
    assert_int_equal(codes_least(0.5), 1);
    assert_int_equal(codes_least(0), -CODES_SURE);
    assert_int_equal(codes_least(1), INT32_MAX);
    assert_true(codes_least(0.9) > 500 && codes_least(0.9) < 600);
    assert_true(codes_least(0.1) < -500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols),  cmocka_unit_test(test_wrong_symbols),
        cmocka_unit_test(test_boxes),    cmocka_unit_test(test_most_of_another),
        cmocka_unit_test(test_bridge),   cmocka_unit_test(test_turned),
        cmocka_unit_test(test_too_many), cmocka_unit_test(test_thresholds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
