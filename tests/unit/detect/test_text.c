/* SPDX-License-Identifier: MIT
 * Words join to lines, and lines to blocks; and what an engine writes is not believed. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/image.h"
#include "detect/components.h"
#include "detect/text/text.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

static struct candidates found;
static struct boxes boxes;
/* ---- lines ---- */

static const struct boxes_frame frame = {
    .searched_width = 1000, .searched_height = 800, .width = 1000, .height = 800};

/* A line whose inner part, given in the picture, goes from its upper left to its lower right corner, so many
 * pixels high. */
static void add_fall(int x, int y, int width, int height, int thick) {
    struct moments sum = {0};
    for (int i = 0; i < width; i++) {
        for (int j = 0; j < thick; j++) {
            const int column = x + TEXT_BORDER + i,
                      row = y + TEXT_BORDER + j + (width > 1 ? i * (height - thick) / (width - 1) : 0);
            moments_add_run(&sum, (uint32_t)column, (uint32_t)column + 1, (uint32_t)row);
        }
    }
    struct candidate *to = &found.candidate[found.count++];
    *to = (struct candidate){.x = (uint16_t)(x + TEXT_BORDER),
                             .y = (uint16_t)(y + TEXT_BORDER),
                             .sum = {[COMPONENT_PEAK] = 160,
                                     [COMPONENT_RIGHT] = x + width + TEXT_BORDER,
                                     [COMPONENT_BOTTOM] = y + height + TEXT_BORDER,
                                     [COMPONENT_PIXELS] = width * thick}};
    memcpy(&to->sum[COMPONENT_MOMENTS], &sum, sizeof sum);
}

/* A word whose inner part is given in the picture. */
static void add(int x, int y, int width, int height) {
    add_fall(x, y, width, height, height);
}

static enum status read_boxes(const struct boxes_frame *of, struct error *err) {
    *err = (struct error){0};
    return text_find(NULL, &found, of, &boxes, err);
}

static void expect_box(unsigned index, double x, double y, double right, double bottom) {
    const struct box *box = &boxes.box[index];
    assert_true(index < boxes.count);
    assert_true(box->x == x && box->y == y && box->x + box->width == right && box->y + box->height == bottom);
}

static void test_words_join_to_lines_and_blocks(void **unused) {
    (void)unused;
    struct error err;
    found.count = 0;
    add(100, 100, 60, 8), add(175, 101, 40, 8), add(400, 100, 60, 8); /* a gap of 15, and one far away */
    add(100, 125, 90, 8);                                             /* the line below */
    assert_int_equal(read_boxes(&frame, &err), ST_OK);
    assert_int_equal(boxes.count, 3);
    expect_box(0, 93, 93, 222, 116);
    expect_box(1, 393, 93, 467, 115);
    expect_box(2, 93, 118, 197, 140);
    assert_true(fabs(boxes.box[0].score - 1 / (1 + exp(-2))) < 1e-9);
    found.count = 0;
    add(100, 100, 60, 8), add(175, 101, 40, 8), add(400, 100, 60, 8), add(100, 125, 90, 8);
    const struct boxes_frame hides = {1000, 800, 1000, 800, true};
    assert_int_equal(read_boxes(&hides, &err), ST_OK);
    assert_int_equal(boxes.count, 2);
    expect_box(0, 0, 64, 256, 160); /* the sides are multiples of 128, the others of 32 */
    expect_box(1, 384, 64, 512, 128);
}

/* Neither how long a word is nor how high tells its block, as long as it stays within the multiples. */
static void test_blocks_tell_nothing_of_a_word(void **unused) {
    (void)unused;
    struct error err;
    const struct boxes_frame hides = {1000, 790, 1000, 790, true};
    for (int longer = 0; longer < 60; longer += 20) {
        found.count = 0;
        add(150, 106, 30 + longer, 8 + longer / 20);
        assert_int_equal(read_boxes(&hides, &err), ST_OK);
        expect_box(0, 128, 96, 256, 128);
    }
    found.count = 0;
    add(900, 770, 95, 15);
    assert_int_equal(read_boxes(&hides, &err), ST_OK);
    expect_box(0, 768, 736, 1000, 790); /* not beyond the picture */
}

static void test_edges_and_scales(void **unused) {
    (void)unused;
    struct error err;
    const struct boxes_frame half = {1000, 800, 2000, 1600, false};
    found.count = 0;
    add(-10, -12, 30, 10), add(990, 795, 20, 10);
    assert_int_equal(read_boxes(&half, &err), ST_OK);
    assert_int_equal(boxes.count, 2);
    expect_box(0, 0, 0, 2 * 28, 2 * 6);
    expect_box(1, 2 * 982, 2 * 787, 2000, 1600);
    found.count = 0;
    add(1015, 100, 5, 5); /* beyond the edge, even when it has grown */
    assert_int_equal(read_boxes(&frame, &err), ST_OK);
    assert_int_equal(boxes.count, 0);
}

/* A thing is thick; a line that is turned only has a high rectangle. */
static void test_things_are_no_lines(void **unused) {
    (void)unused;
    struct error err;
    found.count = 0;
    add(100, 100, 200, 101);
    assert_int_equal(read_boxes(&frame, &err), ST_OK);
    assert_int_equal(boxes.count, 0);
    found.count = 0;
    add_fall(100, 100, 400, 300, 12);
    assert_int_equal(read_boxes(&frame, &err), ST_OK);
    assert_int_equal(boxes.count, 1);
    expect_box(0, 83, 83, 517, 417);
}

static void test_thresholds(void **unused) {
    (void)unused;
    assert_int_equal(text_least(NULL, 0), 1);
    assert_int_equal(text_least(NULL, 0.5), 128);
    assert_int_equal(text_least(NULL, 0.2), 106);
    assert_int_equal(text_least(NULL, 1e-9), 1);
    assert_int_equal(text_least(NULL, 1), INT32_MAX);
    assert_int_equal(text_least(NULL, 0.9999), INT32_MAX);
}

/* ---- what is refused ---- */

static void test_candidates_of_a_broken_engine(void **unused) {
    (void)unused;
    struct error err;
    static const struct {
        int sum;
        int32_t value;
    } wrong[] = {{COMPONENT_RIGHT, 0},         {COMPONENT_RIGHT, INT32_MIN}, {COMPONENT_RIGHT, 1097},
                 {COMPONENT_RIGHT, INT32_MAX}, {COMPONENT_BOTTOM, -1},       {COMPONENT_BOTTOM, INT32_MAX},
                 {COMPONENT_PIXELS, 0},        {COMPONENT_PIXELS, -1},       {COMPONENT_PIXELS, 241},
                 {COMPONENT_PEAK, 0},          {COMPONENT_PEAK, 256},        {COMPONENT_PEAK, INT32_MIN}};
    for (unsigned i = 0; i < COUNT(wrong); i++) {
        found.count = 0;
        add(100, 100, 30, 8);
        found.candidate[0].sum[wrong[i].sum] = wrong[i].value;
        assert_int_equal(read_boxes(&frame, &err), ST_CORRUPT);
    }
    for (int i = COMPONENT_MOMENTS; i < COMPONENT_SUMS; i++) { /* of a pixel they are exact */
        for (int low = 0; low < 2; low++) {
            found.count = 0;
            add(100, 100, 1, 1);
            found.candidate[0].sum[i] += low ? -1 : 1;
            assert_int_equal(read_boxes(&frame, &err), ST_CORRUPT);
        }
    }
    found.count = CANDIDATES_MAX + 1;
    assert_int_equal(read_boxes(&frame, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "more than 8192 places of the picture look like text"));
}

/* Components share no pixels, so all together have no more than the map. */
static void test_more_pixels_than_the_map(void **unused) {
    (void)unused;
    struct error err;
    for (unsigned count = 1; count < 3; count++) {
        found.count = 0;
        for (unsigned i = 0; i < count; i++) {
            add(0, 0, 1000, 800);
        }
        assert_int_equal(read_boxes(&frame, &err), count == 1 ? ST_OK : ST_CORRUPT);
    }
}

/* Cells that are too far from each other to join. All have to be hidden, or none leaves. */
static void test_more_lines_than_fit(void **unused) {
    (void)unused;
    struct error err;
    const struct boxes_frame large = {8000, 8000, 8000, 8000, false};
    for (unsigned more = 0; more < 2; more++) {
        found.count = 0;
        for (unsigned i = 0; i < BOXES_MAX + more; i++) {
            add((int)(i % 50) * 150, (int)(i / 50) * 100, 20, 8);
        }
        assert_int_equal(read_boxes(&large, &err), more ? ST_LIMIT : ST_OK);
        assert_int_equal(boxes.count, more ? 0 : BOXES_MAX);
    }
    assert_non_null(strstr(err.text, "the picture has more than 1024 lines of text"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words_join_to_lines_and_blocks),
        cmocka_unit_test(test_blocks_tell_nothing_of_a_word),
        cmocka_unit_test(test_edges_and_scales),
        cmocka_unit_test(test_things_are_no_lines),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_candidates_of_a_broken_engine),
        cmocka_unit_test(test_more_pixels_than_the_map),
        cmocka_unit_test(test_more_lines_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
