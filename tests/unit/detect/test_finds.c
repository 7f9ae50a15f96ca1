/* SPDX-License-Identifier: MIT
 * What was found in a frame of another size. */
#include "detect/held/finds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static uint64_t seed = 11;

static int between(int least, int most) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    return least + (int)((seed >> 33) % (uint64_t)(most - least + 1));
}

static struct finds *make(uint32_t width, uint32_t height) {
    struct finds *finds = calloc(1, sizeof *finds + sizeof finds->box[0]);
    assert_non_null(finds);
    *finds = (struct finds){width, height, 1};
    return finds;
}

static void test_the_same_size(void **state) {
    (void)state;
    struct finds *finds = make(640, 480);
    struct track_box box;
    finds->box[0] = (struct track_box){-7, 3, 99, 55, 2, true, 0};
    finds_scale(finds, 640, 480, &box);
    assert_memory_equal(&box, &finds->box[0], sizeof box);
    free(finds);
}

/* Each edge lies where it was, in parts of the frame, or further outwards by less than a unit. */
static void check_edge(int32_t edge, int32_t scaled, uint32_t from, uint32_t to, int outwards) {
    const int64_t moved = ((int64_t)scaled * from - (int64_t)edge * to) * outwards;
    assert_true(moved >= 0 && moved < from);
}

static void test_boxes_grow_outwards(void **state) {
    (void)state;
    for (int i = 0; i < 5000; i++) {
        const uint32_t width = (uint32_t)between(100, 5000), height = (uint32_t)between(100, 5000);
        const uint32_t other_width = (uint32_t)between(100, 5000),
                       other_height = (uint32_t)between(100, 5000);
        struct finds *finds = make(width, height);
        struct track_box *own = &finds->box[0], box;
        own->left = between(-20000, 80000);
        own->top = between(-20000, 80000);
        own->right = own->left + between(1, 9000);
        own->bottom = own->top + between(1, 9000);
        own->round = i % 2;
        finds_scale(finds, other_width, other_height, &box);
        if (width != other_width || height != other_height) {
            check_edge(own->left, box.left, width, other_width, -1);
            check_edge(own->right, box.right, width, other_width, 1);
            check_edge(own->top, box.top, height, other_height, -1);
            check_edge(own->bottom, box.bottom, height, other_height, 1);
            assert_true(!box.round && box.left < box.right && box.top < box.bottom);
        }
        free(finds);
    }
}

/* What lies far off any picture is cut, without an overflow. */
static void test_far_edges(void **state) {
    (void)state;
    struct finds *finds = make(1, 1);
    struct track_box box;
    finds->box[0] = (struct track_box){-TRACKS_SIDE_MAX, 0, TRACKS_SIDE_MAX, 16, 0, false, 0};
    finds_scale(finds, 65535, 65535, &box);
    assert_true(box.left == -TRACKS_SIDE_MAX && box.right == TRACKS_SIDE_MAX && box.bottom == 16 * 65535);
    free(finds);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_size),
        cmocka_unit_test(test_boxes_grow_outwards),
        cmocka_unit_test(test_far_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
