/* SPDX-License-Identifier: MIT
 * Anchors with a high enough score become candidates, each by its number; the places of a cell stand behind
 * all of its scores. */
#include "detect/anchors.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { WIDTH = 5, HEIGHT = 3, STRIDE = WIDTH * 16 + 7 };

static const struct network network = {.outputs = 2, .anchors = {3, 5}};
static struct candidates found;
static uint8_t cells[HEIGHT * STRIDE];

static struct anchors_cells all(uint32_t width) {
    return (struct anchors_cells){cells, STRIDE, width, HEIGHT};
}

static void expect(const struct candidate *candidate, int x, int y, int score, int number, int place) {
    assert_true(candidate->x == x && candidate->y == y && candidate->sum[ANCHOR_SCORE] == score &&
                candidate->sum[ANCHOR_NUMBER] == number);
    for (int i = 0; i < CANDIDATES_SUMS - ANCHOR_PLACE; i++) {
        assert_int_equal(candidate->sum[ANCHOR_PLACE + i], i < 4 ? place + i : 0);
    }
}

static void test_cells(void **state) {
    (void)state;
    const struct anchors_cells few = all(WIDTH), more = all(3);
    assert_int_equal(network_cell_bytes(&network, 0), 16);
    assert_int_equal(network_cell_bytes(&network, 1), 28);
    memset(cells, 0, sizeof cells);
    found.count = 0;
    uint8_t *cell = cells + 2 * STRIDE + 4 * 16;
    cell[0] = 100, cell[2] = 101, cell[3] = 255; /* the last one belongs to no anchor */
    for (unsigned i = 0; i < 12; i++) {
        cell[4 + i] = (uint8_t)(10 + i);
    }
    anchors_find(&network, 0, &few, 101, &found);
    assert_int_equal(found.count, 1);
    expect(&found.candidate[0], 4, 2, 101, 2, 18);
    memset(cells, 0, sizeof cells);
    cell = cells + 28;
    cell[4] = 200, cell[24] = 1, cell[25] = 2, cell[26] = 3, cell[27] = 4;
    anchors_find(&network, 1, &more, 200, &found);
    assert_int_equal(found.count, 2);
    expect(&found.candidate[1], 1, 0, 200, 3 + 4, 1);
    anchors_find(&network, 1, &more, INT32_MAX, &found);
    assert_int_equal(found.count, 2);
}

/* More than there is room for are counted. */
static void test_many(void **state) {
    (void)state;
    const struct anchors_cells few = all(WIDTH);
    memset(cells, 255, sizeof cells);
    found.count = CANDIDATES_MAX - 1;
    anchors_find(&network, 0, &few, 1, &found);
    assert_int_equal(found.count, CANDIDATES_MAX - 1 + WIDTH * HEIGHT * 3);
    assert_int_equal(found.candidate[CANDIDATES_MAX - 1].sum[ANCHOR_SCORE], 255);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cells),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
