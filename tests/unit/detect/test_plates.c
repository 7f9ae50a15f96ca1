/* SPDX-License-Identifier: MIT
 * Plates are what is found in the map, in whole; and what an engine writes is not believed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "detect/components.h"
#include "detect/detectors.h"
#include "detect/plates/plates.h"
#include "detect/text/text.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct candidates found;
static struct boxes boxes;

static const struct boxes_frame frame = {
    .searched_width = 1000, .searched_height = 800, .width = 1000, .height = 800};

/* A component of cells, which may lie beyond the edges of the picture: its cell (8, 8) has the first pixel.
 */
static struct candidate *add(int left, int top, int right, int bottom, int peak) {
    struct candidate *to = &found.candidate[found.count++];
    *to = (struct candidate){.x = (uint16_t)left,
                             .y = (uint16_t)top,
                             .sum = {[COMPONENT_PEAK] = peak,
                                     [COMPONENT_RIGHT] = right,
                                     [COMPONENT_BOTTOM] = bottom,
                                     [COMPONENT_PIXELS] = (right - left) * (bottom - top)}};
    return to;
}

static enum status read_boxes(const struct boxes_frame *of, struct error *err) {
    *err = (struct error){0};
    return plates_find(NULL, &found, of, &boxes, err);
}

static void expect_box(unsigned index, double x, double y, double right, double bottom) {
    const struct box *box = &boxes.box[index];
    assert_true(index < boxes.count);
    assert_true(box->x == x && box->y == y && box->x + box->width == right && box->y + box->height == bottom);
}

static void test_boxes(void **unused) {
    (void)unused;
    struct error err;
    found.count = 0;
    add(58, 58, 108, 68, 160), add(58, 69, 88, 79, 150); /* both lines of a plate */
    add(300, 58, 350, 68, 200);
    add(300, 100, 309, 101, 255); /* too small */
    assert_int_equal(read_boxes(&frame, &err), ST_OK);
    assert_int_equal(boxes.count, 2);
    expect_box(0, 582, 98, 686, 122);
    expect_box(1, 98, 98, 202, 144);
    assert_true(fabs(boxes.box[1].score - 1 / (1 + exp(-2))) < 1e-9);
    assert_true(boxes.box[0].class == 0 && !boxes.box[0].turned);
}

/* The map goes on beyond the picture; a plate may fill all of it. */
static void test_edges(void **unused) {
    (void)unused;
    struct error err;
    found.count = 0;
    add(0, 0, 512, 416, 200);
    assert_int_equal(read_boxes(&frame, &err), ST_OK);
    assert_int_equal(boxes.count, 1);
    expect_box(0, 0, 0, 1000, 800);
    found.count = 0;
    add(0, 0, 6, 400, 200), add(510, 0, 516, 400, 200); /* beyond the left and the right edge */
    assert_int_equal(read_boxes(&frame, &err), ST_OK);
    assert_int_equal(boxes.count, 0);
    const struct boxes_frame twice = {
        .searched_width = 1000, .searched_height = 800, .width = 2000, .height = 400};
    found.count = 0;
    add(58, 58, 108, 68, 160);
    assert_int_equal(read_boxes(&twice, &err), ST_OK);
    expect_box(0, 196, 49, 404, 61);
}

static void test_limits(void **unused) {
    (void)unused;
    struct error err;
    static const struct boxes_frame large = {
        .searched_width = 16000, .searched_height = 8000, .width = 16000, .height = 8000};
    for (unsigned more = 0; more < 2; more++) {
        found.count = 0;
        for (unsigned i = 0; i < BOXES_MAX + more; i++) {
            const int x = 20 + (int)(i % 64) * 100, y = 20 + (int)(i / 64) * 50;
            add(x, y, x + 20, y + 5, 200);
        }
        assert_int_equal(read_boxes(&large, &err), more ? ST_LIMIT : ST_OK);
        assert_int_equal(more ? BOXES_MAX : boxes.count, BOXES_MAX);
    }
    found.count = CANDIDATES_MAX + 1;
    assert_int_equal(read_boxes(&large, &err), ST_LIMIT);
}

static void test_made_up_components(void **unused) {
    (void)unused;
    struct error err;
    static const struct {
        unsigned sum;
        int32_t value;
    } wrong[] = {{COMPONENT_PEAK, 0},          {COMPONENT_PEAK, 256},   {COMPONENT_PEAK, -1},
                 {COMPONENT_RIGHT, 58},        {COMPONENT_RIGHT, 533},  {COMPONENT_RIGHT, INT32_MIN},
                 {COMPONENT_BOTTOM, 0},        {COMPONENT_BOTTOM, 433}, {COMPONENT_BOTTOM, INT32_MAX},
                 {COMPONENT_PIXELS, 0},        {COMPONENT_PIXELS, 501}, {COMPONENT_PIXELS, -1},
                 {COMPONENT_PIXELS, INT32_MIN}};
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        found.count = 0;
        add(58, 58, 108, 68, 160)->sum[wrong[i].sum] = wrong[i].value;
        assert_int_equal(read_boxes(&frame, &err), ST_CORRUPT);
        assert_int_equal(boxes.count, 0);
    }
    found.count = 0; /* more cells than there are */
    add(0, 0, 516, 416, 200), add(0, 0, 516, 416, 200);
    assert_int_equal(read_boxes(&frame, &err), ST_CORRUPT);
}

/* A byte reaches a threshold if its probability does. */
static void test_thresholds(void **unused) {
    (void)unused;
    assert_int_equal(plates_least(NULL, 0.5), 128);
    assert_int_equal(plates_least(NULL, 0), 1);
    assert_int_equal(plates_least(NULL, 1), INT32_MAX);
    assert_int_equal(plates_least(NULL, 0.0229), PLATES_PIXEL_LEAST);
}

/* Detectors of one network have one model, and everything alike that a search in one pass needs. */
static void test_what_is_shared(void **unused) {
    (void)unused;
    assert_int_equal(detectors_beside(DETECTOR_PLATES), 1 << DETECTOR_TEXT | 1 << DETECTOR_PLATES);
    assert_int_equal(detectors_beside(DETECTOR_CODES), 1 << DETECTOR_CODES);
    for (unsigned i = 0; i < DETECTORS; i++) {
        const struct detector *detector = detector_get(i), *first = detector_get(detector_model(i));
        if (detector->network) {
            assert_true(detector->unit == first->unit && detector->border == first->border &&
                        detector->longest == first->longest && detector->search == first->search &&
                        (detector->pixel_least > 0) == (first->pixel_least > 0) &&
                        detector->shared_ns == first->shared_ns);
            assert_true(detector == first || detector->output != first->output);
            assert_string_equal(detector->option, first->option);
            assert_string_equal(detector->magic, first->magic);
            assert_string_equal(detector->file, first->file);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boxes),      cmocka_unit_test(test_edges),
        cmocka_unit_test(test_limits),     cmocka_unit_test(test_made_up_components),
        cmocka_unit_test(test_thresholds), cmocka_unit_test(test_what_is_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
