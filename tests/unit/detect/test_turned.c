/* SPDX-License-Identifier: MIT
 * Rectangles that are drawn turned into a map come back as polygons, grown as lines grow. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/image.h"
#include "detect/components.h"
#include "detect/text/text.h"
#include "detect/text/turned.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

enum { SIDE = 600, MAP = SIDE + 2 * TEXT_BORDER };

static const double degree = 3.14159265358979323846 / 180;
static const struct boxes_frame plain = {SIDE, SIDE, SIDE, SIDE, false};

static uint8_t map[MAP * MAP];
static struct candidates found;
static struct boxes boxes;

/* A rectangle about a point of the picture. */
struct drawn {
    double x, y, length, thickness, angle;
};

static void draw(const struct drawn *drawn) {
    const double c = cos(drawn->angle * degree), s = sin(drawn->angle * degree);
    for (int i = 0; i < MAP * MAP; i++) {
        const double x = i % MAP + 0.5 - TEXT_BORDER - drawn->x,
                     y = (double)(i / MAP) + 0.5 - TEXT_BORDER - drawn->y;
        if (fabs(x * c + y * s) < drawn->length / 2 && fabs(y * c - x * s) < drawn->thickness / 2) {
            map[i] = 200;
        }
    }
}

/* The only line of the map, which is then empty again. */
static const struct box *read_line(const struct boxes_frame *frame) {
    struct error err = {0};
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, components_bytes(MAP));
    const struct components_bounds bounds = {TEXT_PIXEL_LEAST, TEXT_PIXEL_LEAST, 0};
    found.count = 0;
    assert_int_equal(components_find(map, MAP, MAP, MAP, bounds, 0, memory, &found, &err), ST_OK);
    assert_int_equal(text_find(NULL, &found, frame, &boxes, &err), ST_OK);
    assert_int_equal(boxes.count, 1);
    memset(map, 0, sizeof map);
    free(memory);
    return &boxes.box[0];
}

static double angle_of(const struct box *box) {
    return atan2(box->corner[1][1] - box->corner[0][1], box->corner[1][0] - box->corner[0][0]) / degree;
}

/* Whether the corners are those of the rectangle, which has grown, up to `slack` pixels. */
static void expect(const struct box *box, const struct drawn *drawn, double slack) {
    static const int sign[BOXES_CORNERS][2] = {{-1, -1}, {1, -1}, {1, 1}, {-1, 1}};
    const double by = LINES_GROWTH * drawn->thickness / 16 + LINES_GROWTH_LEAST;
    const double c = cos(drawn->angle * degree), s = sin(drawn->angle * degree);
    assert_true(box->turned);
    for (unsigned i = 0; i < BOXES_CORNERS; i++) {
        const double a = sign[i][0] * (drawn->length / 2 + by), b = sign[i][1] * (drawn->thickness / 2 + by);
        const double x = drawn->x + a * c - b * s, y = drawn->y + a * s + b * c;
        if (hypot(box->corner[i][0] - x, box->corner[i][1] - y) > slack) {
            print_error("corner %u of angle %g: %.1f,%.1f, not %.1f,%.1f\n", i, drawn->angle,
                        box->corner[i][0], box->corner[i][1], x, y);
            fail();
        }
    }
}

static void test_angles(void **unused) {
    (void)unused;
    for (int angle = -89; angle <= 90; angle++) {
        const struct drawn drawn = {301.3, 298.6, 160, 11, angle};
        draw(&drawn);
        const struct box *box = read_line(&plain);
        assert_true(fabs(angle_of(box) - angle) < 0.5);
        expect(box, &drawn, 2);
    }
    for (int angle = -60; angle <= 60; angle += 5) {
        const struct drawn drawn = {300, 300, 60, 20, angle};
        draw(&drawn);
        const struct box *box = read_line(&plain);
        assert_true(fabs(angle_of(box) - angle) < 2);
        expect(box, &drawn, 3);
    }
}

/* To the pixel. */
static void test_upright(void **unused) {
    (void)unused;
    for (int height = 4; height <= 48; height += 4) {
        const struct drawn drawn = {300, 300, 2 * height + 100, height, 0};
        draw(&drawn);
        const struct box *box = read_line(&plain);
        expect(box, &drawn, 1e-6);
        assert_true(fabs(box->corner[0][0] - box->x) < 1 && fabs(box->corner[0][1] - box->y) < 1);
        assert_true(fabs(box->corner[2][0] - box->x - box->width) < 1 &&
                    fabs(box->corner[2][1] - box->y - box->height) < 1);
    }
}

static void expect_upright(const struct box *box) {
    const double right = box->x + box->width, bottom = box->y + box->height;
    const double wanted[BOXES_CORNERS][2] = {
        {box->x, box->y}, {right, box->y}, {right, bottom}, {box->x, bottom}};
    assert_true(box->turned);
    assert_memory_equal(box->corner, wanted, sizeof wanted);
}

/* A letter, whose direction would be one by chance. */
static void test_hardly_longer_than_thick(void **unused) {
    (void)unused;
    for (int angle = -80; angle <= 90; angle += 10) {
        const struct drawn drawn = {300, 300, 19, 10, angle};
        draw(&drawn);
        expect_upright(read_line(&plain));
    }
    const struct drawn longer = {300, 300, 21, 10, 30};
    draw(&longer);
    assert_true(fabs(angle_of(read_line(&plain)) - 30) < 2);
}

/* Words of different lengths with gaps between them, which moments alone take for one of another length. */
static void test_words_of_a_line(void **unused) {
    (void)unused;
    static const double from[] = {-150, -80, 20, 125}, to[] = {-90, 10, 115, 150};
    for (int angle = -5; angle <= 5; angle += 5) { /* of steeper ones each word is a line */
        const struct drawn drawn = {300, 300, 300, 12, angle};
        for (unsigned i = 0; i < sizeof from / sizeof *from; i++) {
            const double at = (from[i] + to[i]) / 2;
            const struct drawn word = {300 + at * cos(angle * degree), 300 + at * sin(angle * degree),
                                       to[i] - from[i], 12, angle};
            draw(&word);
        }
        expect(read_line(&plain), &drawn, 2);
    }
}

static void test_scales_and_conceals(void **unused) {
    (void)unused;
    const struct drawn drawn = {300, 300, 160, 11, 20};
    const struct boxes_frame large = {SIDE, SIDE, 3 * SIDE, 2 * SIDE, false},
                             hides = {SIDE, SIDE, SIDE, SIDE, true};
    draw(&drawn);
    struct box box = *read_line(&large);
    for (unsigned i = 0; i < BOXES_CORNERS; i++) {
        box.corner[i][0] /= 3;
        box.corner[i][1] /= 2;
    }
    expect(&box, &drawn, 2);
    draw(&drawn);
    assert_false(read_line(&hides)->turned); /* it would tell how long the words are */
}

/* A word that goes on beyond the edge, and in the mirror. */
static void test_edges(void **unused) {
    (void)unused;
    const struct drawn drawn = {0, 300, 200, 12, 0};
    draw(&drawn);
    const struct box *box = read_line(&plain);
    assert_true(fabs(angle_of(box)) < 1e-6 && fabs(box->corner[0][0] + 9.5) < 1e-6 && box->x == 0);
    for (unsigned edge = 0; edge < 2; edge++) { /* in the mirror only: whatever, but finite */
        const struct drawn beside = {edge ? -6 : 300, edge ? 300 : -6, edge ? 6 : 200, edge ? 200 : 6, 0};
        draw(&beside);
        box = read_line(&plain);
        for (unsigned i = 0; i < BOXES_CORNERS; i++) {
            assert_true(fabs(box->corner[i][0]) < 2 * SIDE && fabs(box->corner[i][1]) < 2 * SIDE);
        }
    }
}

static void test_made_up_sums(void **unused) {
    (void)unused;
    struct line line = {.left = 5, .right = 65535, .bottom = 1, .inner_right = 65535, .pixels = 1};
    for (unsigned round = 0; round < 200; round++) {
        double corner[BOXES_CORNERS][2];
        for (unsigned i = 0; i < LINES_SUMS; i++) {
            line.moments[i] = (round + i) % 3 == 0   ? INT32_MIN
                              : (round + i) % 3 == 1 ? INT32_MAX
                                                     : (int32_t)round;
        }
        turned_corners(&line, TEXT_BORDER, corner);
        for (unsigned i = 0; i < BOXES_CORNERS; i++) {
            assert_true(isfinite(corner[i][0]) && isfinite(corner[i][1]));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_angles),
        cmocka_unit_test(test_upright),
        cmocka_unit_test(test_hardly_longer_than_thick),
        cmocka_unit_test(test_words_of_a_line),
        cmocka_unit_test(test_scales_and_conceals),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_made_up_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
