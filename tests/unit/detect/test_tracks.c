/* SPDX-License-Identifier: MIT
 * What is hidden in a window of frames covers all that was found in them. */
#include "detect/held/tracks.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { ROOM = 4096, UNIT = TRACKS_UNIT };

static struct tracks tracks;
static struct track_box found[ROOM];
static uint32_t count;

static int set_up(void **state) {
    (void)state;
    count = 0;
    return 0;
}

static struct track_box *put(int left, int top, int width, int height, bool round) {
    found[count] = (struct track_box){.left = left * UNIT,
                                      .top = top * UNIT,
                                      .right = (left + width) * UNIT,
                                      .bottom = (top + height) * UNIT,
                                      .round = round};
    return &found[count++];
}

static bool hold(uint32_t most) {
    struct error err;
    return tracks_hold(&tracks, found, count, most, &err) == ST_OK;
}

static bool is_inside(const struct track_box *box, double x, double y) {
    const double a = (box->right - box->left) / 2.0, b = (box->bottom - box->top) / 2.0;
    const double u = (x - box->left) / a - 1, v = (y - box->top) / b - 1, rounding = 1e-9;
    return box->round ? u * u + v * v <= 1 + rounding : fabs(u) <= 1 + rounding && fabs(v) <= 1 + rounding;
}

/* Whether each point of the border of what was found lies in one and the same box that is hidden. */
static bool is_within(const struct track_box *inner, const struct track_box *outer) {
    enum { POINTS = 64 };
    const double a = (inner->right - inner->left) / 2.0, b = (inner->bottom - inner->top) / 2.0;
    bool within = true;
    for (unsigned i = 0; i < POINTS && within; i++) {
        const double angle = i * 2 * 3.141592653589793 / POINTS, grow = inner->round ? 1 : 2;
        const double u = fmax(fmin(grow * cos(angle), 1), -1), v = fmax(fmin(grow * sin(angle), 1), -1);
        within = is_inside(outer, inner->left + a * (1 + u), inner->top + b * (1 + v));
    }
    return within;
}

static void check_covered(void) {
    for (uint32_t i = 0; i < count; i++) {
        bool covered = false;
        for (uint32_t k = 0; k < tracks.held && !covered; k++) {
            covered = is_within(&found[i], &tracks.box[k]);
        }
        assert_true(covered);
    }
}

static void test_one_box_for_what_stays(void **state) {
    (void)state;
    for (int i = 0; i < 11; i++) {
        put(100 + i % 3, 50 - i % 2, 40, 60 + i % 2, false);
    }
    assert_true(hold(TRACKS_MAX) && tracks.held == 1);
    const struct track_box *box = &tracks.box[0];
    assert_true(box->left == 100 * UNIT && box->right == 142 * UNIT && box->top == 49 * UNIT &&
                box->bottom == 110 * UNIT);
    check_covered();
}

static void test_what_moves_keeps_its_boxes(void **state) {
    (void)state;
    for (int i = 0; i < 11; i++) {
        put(100 + 10 * i, 50, 40, 60, false);
    }
    assert_true(hold(TRACKS_MAX) && tracks.count == 1 && tracks.held == 11);
    check_covered();
}

/* Things of other kinds, or far from each other, have nothing to do with each other. */
static void test_tracks_are_apart(void **state) {
    (void)state;
    put(0, 0, 10, 10, false);
    put(0, 0, 10, 10, true);
    put(0, 0, 10, 10, false)->kind = 3;
    put(7, 0, 10, 10, false);
    assert_true(hold(TRACKS_MAX) && tracks.count == 4 && tracks.held == 4);
}

/* An ellipse that contains moved ones is larger than the one in the box around theirs. */
static void test_ellipses_within_one(void **state) {
    (void)state;
    put(100, 100, 80, 100, true);
    put(120, 100, 80, 100, true);
    put(110, 98, 84, 101, true);
    assert_true(hold(TRACKS_MAX) && tracks.held == 1 && tracks.box[0].round);
    check_covered();
    struct track_box around = tracks.track[0].around;
    around.round = true;
    assert_false(is_within(&found[0], &around));
}

/* Too many boxes become one rectangle for each track; too many tracks are refused. */
static void test_crowds(void **state) {
    (void)state;
    for (int i = 0; i < 10; i++) {
        put(5 * i, 0, 20, 20, true);
        put(5 * i, 500, 20, 20, false);
    }
    assert_true(hold(19) && tracks.count == 2 && tracks.held == 2);
    assert_false(tracks.box[0].round);
    check_covered();
    assert_true(hold(20) && tracks.held == 20);
    assert_true(hold(2));
    assert_false(hold(1));
    count = 0;
    for (int i = 0; i < TRACKS_MAX; i++) {
        put(20 * i, 0, 10, 10, false);
    }
    assert_true(hold(TRACKS_MAX) && tracks.held == TRACKS_MAX);
    put(20 * TRACKS_MAX, 0, 10, 10, false);
    assert_false(hold(TRACKS_MAX));
    count = 0;
    assert_true(hold(0) && tracks.held == 0);
}

static uint64_t seed = 7;

static int between(int least, int most) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return least + (int)((seed >> 33) % (uint64_t)(most - least + 1));
}

/* Things that tremble, move, appear and vanish, over cuts too. */
static void test_random_boxes_are_covered(void **state) {
    (void)state;
    unsigned joined = 0;
    for (int round = 0; round < 300; round++) {
        const int things = between(1, 12), frames = between(1, 11);
        count = 0;
        for (int thing = 0; thing < things; thing++) {
            int left = between(-50, 1900), top = between(-50, 1000), width = between(2, 300),
                height = between(2, 300);
            const int speed = between(0, 2) * width / 12;
            const bool ellipse = between(0, 1);
            for (int frame = 0; frame < frames; frame++) {
                left += between(-speed, speed);
                top += between(-speed, speed);
                if (between(0, 3) > 0) {
                    put(left, top, width + between(0, width / 10), height + between(0, height / 10), ellipse)
                        ->kind = (uint8_t)(thing % 3);
                    found[count - 1].left -= between(0, UNIT - 1);
                }
            }
        }
        const uint32_t most = between(0, 1) ? TRACKS_MAX : count > 12 ? 12 : count;
        if (hold(most)) {
            assert_true(tracks.held <= most);
            check_covered();
            joined += count - tracks.held;
        }
    }
    assert_true(joined > 1000);
}

/* Rounded outwards, also as an ellipse. */
static void test_boxes_of_pixels(void **state) {
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const double number[4] = {between(-1000, 100000) / 64.1, between(-1000, 100000) / 63.7,
                                  between(1, 9000) / 63.3, between(1, 9000) / 61.9};
        const bool round = i % 2;
        struct track_box box = tracks_box(number, 5, round);
        assert_true(box.kind == 5 && box.round == round);
        for (unsigned k = 0; k < 64; k++) {
            const double angle = k * 3.141592653589793 / 32, grow = round ? 1 : 2;
            const double u = fmax(fmin(grow * cos(angle), 1), -1), v = fmax(fmin(grow * sin(angle), 1), -1);
            assert_true(is_inside(&box, UNIT * (number[0] + number[2] / 2 * (1 + u)),
                                  UNIT * (number[1] + number[3] / 2 * (1 + v))));
        }
        assert_true(box.left >= UNIT * number[0] - 3 - number[2] / number[3]);
    }
    const double far[4] = {-1e12, 0, 2e12, 1};
    assert_true(tracks_box(far, 0, false).right == TRACKS_SIDE_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_one_box_for_what_stays, set_up),
        cmocka_unit_test_setup(test_what_moves_keeps_its_boxes, set_up),
        cmocka_unit_test_setup(test_tracks_are_apart, set_up),
        cmocka_unit_test_setup(test_ellipses_within_one, set_up),
        cmocka_unit_test_setup(test_crowds, set_up),
        cmocka_unit_test_setup(test_random_boxes_are_covered, set_up),
        cmocka_unit_test(test_boxes_of_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
