/* SPDX-License-Identifier: MIT
 * Components of a map are those of a flood fill, whatever the map; words join to lines, and lines to blocks;
 * and what an engine writes is not believed. */
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

enum { SIDE_MAX = 200 };

static struct candidates found, expected;
static struct boxes boxes;
static uint64_t state = 1;
static uint8_t peak_least = 1;

static uint32_t next(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

/* ---- components ---- */

static void find(const uint8_t *map, uint32_t width, uint32_t height, uint8_t least) {
    const size_t bytes = components_bytes(width);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, bytes + IMAGE_ALIGNMENT);
    assert_non_null(memory);
    memset(memory, 0xa5, bytes + IMAGE_ALIGNMENT);
    components_find(map, width, width, height, (struct components_bounds){least, peak_least}, memory, &found);
    for (unsigned i = 0; i < IMAGE_ALIGNMENT; i++) {
        assert_int_equal(memory[bytes + i], 0xa5);
    }
    free(memory);
}

/* Takes the pixels that touch (x, y) out of the map. */
static void flood(uint8_t *map, int width, int height, int x, int y, uint8_t least, struct candidate *to) {
    if (x < 0 || y < 0 || x >= width || y >= height || map[y * width + x] < least) {
        return;
    }
    const int32_t peak = map[y * width + x];
    map[y * width + x] = 0;
    to->x = x < to->x ? (uint16_t)x : to->x;
    to->y = y < to->y ? (uint16_t)y : to->y;
    to->sum[COMPONENT_PEAK] = peak > to->sum[COMPONENT_PEAK] ? peak : to->sum[COMPONENT_PEAK];
    to->sum[COMPONENT_RIGHT] = x + 1 > to->sum[COMPONENT_RIGHT] ? x + 1 : to->sum[COMPONENT_RIGHT];
    to->sum[COMPONENT_BOTTOM] = y + 1 > to->sum[COMPONENT_BOTTOM] ? y + 1 : to->sum[COMPONENT_BOTTOM];
    to->sum[COMPONENT_PIXELS]++;
    for (int i = 0; i < 9; i++) {
        flood(map, width, height, x + i % 3 - 1, y + i / 3 - 1, least, to);
    }
}

static int compare(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    int order = one->y != other->y ? one->y - other->y : one->x - other->x;
    return order != 0 ? order : memcmp(one->sum, other->sum, sizeof one->sum);
}

static void check_map(const uint8_t *map, uint32_t width, uint32_t height, uint8_t least) {
    uint8_t rest[SIDE_MAX * SIDE_MAX];
    memcpy(rest, map, (size_t)width * height);
    memset(&expected, 0, sizeof expected);
    for (uint32_t i = 0; i < width * height; i++) {
        if (rest[i] >= least) {
            struct candidate *to = &expected.candidate[expected.count++];
            to->x = to->y = UINT16_MAX;
            flood(rest, (int)width, (int)height, (int)(i % width), (int)(i / width), least, to);
        }
    }
    uint32_t high = 0;
    for (uint32_t i = 0; i < expected.count; i++) {
        if (expected.candidate[i].sum[COMPONENT_PEAK] >= peak_least) {
            expected.candidate[high++] = expected.candidate[i];
        }
    }
    memset(expected.candidate + high, 0, (expected.count - high) * sizeof expected.candidate[0]);
    expected.count = high;
    qsort(expected.candidate, expected.count, sizeof expected.candidate[0], compare);
    find(map, width, height, least);
    assert_int_equal(found.count, expected.count);
    assert_memory_equal(&found, &expected, sizeof found);
}

static void test_components_are_those_of_a_flood_fill(void **unused) {
    (void)unused;
    uint8_t map[SIDE_MAX * SIDE_MAX];
    static const uint8_t least[] = {1, 2, 100, 127, 128, 129, 200, 255};
    for (unsigned round = 0; round < 400; round++) {
        const uint32_t width = 1 + next() % (round % 4 == 0 ? 9 : 60), height = 1 + next() % 50;
        const uint32_t dense = 1 + next() % 9;
        const uint8_t from = least[round % COUNT(least)];
        peak_least = round % 3 == 0 ? (uint8_t)(from + next() % (256u - from)) : 1;
        for (uint32_t i = 0; i < width * height; i++) {
            const uint8_t low = (uint8_t)(next() % from), high = (uint8_t)(from + next() % (256u - from));
            map[i] = next() % 10 < dense ? high : low;
        }
        check_map(map, width, height, from);
    }
}

/* Shapes that meet late: a comb, and a spiral. */
static void test_components_that_meet_late(void **unused) {
    (void)unused;
    peak_least = 1;
    uint8_t map[41 * 41] = {0};
    for (int y = 0; y < 41; y++) {
        for (int x = 0; x < 41; x += 2) {
            map[y * 41 + x] = y == 40 ? 0 : 200;
        }
    }
    memset(map + 40 * 41, 201, 41);
    check_map(map, 41, 41, 128);
    assert_int_equal(found.count, 1);
    memset(map, 0, sizeof map);
    for (int ring = 0; ring < 10; ring++) {
        for (int i = 2 * ring; i <= 40 - 2 * ring; i++) {
            map[2 * ring * 41 + i] = map[(40 - 2 * ring) * 41 + i] = 255;
            map[i * 41 + 2 * ring] = map[i * 41 + 40 - 2 * ring] = 255;
        }
    }
    check_map(map, 41, 41, 128);
    assert_int_equal(found.count, 10);
}

static void test_more_components_than_fit(void **unused) {
    (void)unused;
    uint8_t *map = calloc(512, 512);
    assert_non_null(map);
    for (uint32_t i = 0; i < 512 * 512; i++) {
        map[i] = i / 512 % 2 == 0 && i % 2 == 0 ? 255 : 0;
    }
    find(map, 512, 512, 1);
    assert_int_equal(found.count, 256 * 256);
    for (unsigned i = 0; i < CANDIDATES_MAX; i++) {
        assert_int_equal(found.candidate[i].sum[COMPONENT_PEAK], 0);
    }
    free(map);
}

/* ---- lines ---- */

static const struct boxes_frame frame = {
    .searched_width = 1000, .searched_height = 800, .width = 1000, .height = 800};

/* A word whose inner part is given in the picture. */
static void add(int x, int y, int width, int height) {
    found.candidate[found.count++] = (struct candidate){.x = (uint16_t)(x + TEXT_BORDER),
                                                        .y = (uint16_t)(y + TEXT_BORDER),
                                                        .sum = {[COMPONENT_PEAK] = 160,
                                                                [COMPONENT_RIGHT] = x + width + TEXT_BORDER,
                                                                [COMPONENT_BOTTOM] = y + height + TEXT_BORDER,
                                                                [COMPONENT_PIXELS] = width * height}};
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
    add(1005, 100, 5, 5); /* beyond the edge, even when it has grown */
    found.candidate[0].x += 10, found.candidate[0].sum[COMPONENT_RIGHT] += 10;
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
    add(100, 100, 400, 300);
    found.candidate[0].sum[COMPONENT_PIXELS] = 400 * 12;
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
    found.count = CANDIDATES_MAX + 1;
    assert_int_equal(read_boxes(&frame, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "more than 8192 places of the picture look like text"));
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
        cmocka_unit_test(test_components_are_those_of_a_flood_fill),
        cmocka_unit_test(test_components_that_meet_late),
        cmocka_unit_test(test_more_components_than_fit),
        cmocka_unit_test(test_words_join_to_lines_and_blocks),
        cmocka_unit_test(test_blocks_tell_nothing_of_a_word),
        cmocka_unit_test(test_edges_and_scales),
        cmocka_unit_test(test_things_are_no_lines),
        cmocka_unit_test(test_thresholds),
        cmocka_unit_test(test_candidates_of_a_broken_engine),
        cmocka_unit_test(test_more_lines_than_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
