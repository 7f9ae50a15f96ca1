/* SPDX-License-Identifier: MIT
 * Components of a map are those of the reference, whatever the map, and come at a deadline. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/image.h"
#include "detect/text/text.h"
#include "tests/filters/reference/reference_components.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { SIDE_MAX = 512 };

static struct candidates found, expected;
static uint64_t state = 1;

static uint32_t next(void) {
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

/* In exactly the memory that is asked for. */
static enum status find(const uint8_t *map, uint32_t width, uint32_t height, struct components_bounds bounds,
                        int64_t deadline_ns) {
    struct error err = {0};
    const size_t bytes = components_bytes(width);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, bytes + IMAGE_ALIGNMENT);
    assert_non_null(memory);
    memset(memory, 0xa5, bytes + IMAGE_ALIGNMENT);
    found.count = 0;
    enum status status =
        components_find(map, width, width, height, bounds, deadline_ns, memory, &found, &err);
    for (unsigned i = 0; i < IMAGE_ALIGNMENT; i++) {
        assert_int_equal(memory[bytes + i], 0xa5);
    }
    free(memory);
    return status;
}

static void check_map(const uint8_t *map, uint32_t width, uint32_t height, struct components_bounds bounds) {
    static int32_t wide[SIDE_MAX * SIDE_MAX];
    for (uint32_t i = 0; i < width * height; i++) {
        wide[i] = map[i];
    }
    memset(&expected, 0, sizeof expected);
    reference_components(wide, width, height, bounds, &expected);
    assert_int_equal(find(map, width, height, bounds, 0), ST_OK);
    assert_int_equal(found.count, expected.count);
    assert_memory_equal(&found, &expected, sizeof found);
}

static void test_noise(void **unused) {
    (void)unused;
    uint8_t map[60 * 50];
    static const uint8_t least[] = {1, 2, 100, 127, 128, 129, 200, 255};
    for (unsigned round = 0; round < 400; round++) {
        const uint32_t width = 1 + next() % (round % 4 == 0 ? 9 : 60), height = 1 + next() % 50;
        const uint32_t dense = 1 + next() % 9;
        const uint8_t from = least[round % COUNT(least)];
        const uint8_t peak = round % 3 == 0 ? (uint8_t)(from + next() % (256u - from)) : from;
        for (uint32_t i = 0; i < width * height; i++) {
            const uint8_t low = (uint8_t)(next() % from), high = (uint8_t)(from + next() % (256u - from));
            map[i] = next() % 10 < dense ? high : low;
        }
        check_map(map, width, height, (struct components_bounds){from, peak, round % 2});
    }
}

/* A comb, whose teeth meet in its last row, and rings within rings. */
static void test_shapes_that_meet_late(void **unused) {
    (void)unused;
    uint8_t map[41 * 41] = {0};
    const struct components_bounds bounds = {128, 128, 3};
    for (int y = 0; y < 40; y++) {
        for (int x = 0; x < 41; x += 2) {
            map[y * 41 + x] = 200;
        }
    }
    memset(map + 40 * 41, 201, 41);
    check_map(map, 41, 41, bounds);
    assert_int_equal(found.count, 1);
    memset(map, 0, sizeof map);
    for (int ring = 0; ring < 10; ring++) {
        for (int i = 2 * ring; i <= 40 - 2 * ring; i++) {
            map[2 * ring * 41 + i] = map[(40 - 2 * ring) * 41 + i] = 255;
            map[i * 41 + 2 * ring] = map[i * 41 + 40 - 2 * ring] = 255;
        }
    }
    check_map(map, 41, 41, bounds);
    assert_int_equal(found.count, 10);
}

static void test_more_than_fit(void **unused) {
    (void)unused;
    static uint8_t map[SIDE_MAX * SIDE_MAX];
    for (uint32_t i = 0; i < SIDE_MAX * SIDE_MAX; i++) {
        map[i] = i / SIDE_MAX % 2 == 0 && i % 2 == 0 ? 255 : 0;
    }
    check_map(map, SIDE_MAX, SIDE_MAX, (struct components_bounds){1, 1, 0});
    assert_int_equal(found.count, SIDE_MAX * SIDE_MAX / 4);
    assert_int_equal(found.candidate[0].sum[COMPONENT_PEAK], 0);
}

static void test_deadline(void **unused) {
    (void)unused;
    const uint8_t map[4] = {0};
    assert_int_equal(find(map, 2, 2, (struct components_bounds){1, 1, 0}, clock_ns() - 1), ST_LIMIT);
    assert_int_equal(find(map, 2, 2, (struct components_bounds){1, 1, 0}, clock_ns() + INT64_C(60000000000)),
                     ST_OK);
}

/* A lower score finds more components, but never joins two: joined ones may be taken for no text. */
static void test_bounds(void **unused) {
    (void)unused;
    static const struct {
        int32_t least;
        bool reached;
        uint8_t peak;
    } bounds[] = {{INT32_MIN, true, 106}, {1, true, 106},  {106, true, 106},     {107, true, 107},
                  {255, true, 255},       {256, false, 0}, {INT32_MAX, false, 0}};
    for (unsigned i = 0; i < COUNT(bounds); i++) {
        struct components_bounds made;
        assert_int_equal(components_bounds_of(&detector_text, bounds[i].least, &made), bounds[i].reached);
        assert_true(!bounds[i].reached || (made.pixel == 106 && made.peak == bounds[i].peak));
    }
}

/* Components of two maps are kept in one order, and come apart again by their marks. */
static void test_marks(void **unused) {
    (void)unused;
    static const uint8_t one[] = {9, 0, 0, 7, 0, 8}, other[] = {0, 5, 0};
    static struct candidates both;
    struct error err = {0};
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, components_bytes(6));
    assert_non_null(memory);
    found.count = 0;
    assert_int_equal(
        components_find(one, 6, 6, 1, (struct components_bounds){1, 1, 0}, 0, memory, &found, &err), ST_OK);
    assert_int_equal(
        components_find(other, 3, 3, 1, (struct components_bounds){1, 1, 1}, 0, memory, &found, &err), ST_OK);
    free(memory);
    assert_int_equal(found.count, 4);
    assert_true(found.candidate[1].x == 1 && found.candidate[1].sum[COMPONENT_PEAK] == 0x105);
    both = found;
    assert_int_equal(components_select(&both, 0, 3, &err), ST_OK);
    assert_true(both.count == 3 && both.candidate[1].x == 3 && both.candidate[1].sum[COMPONENT_PEAK] == 7);
    both = found;
    assert_int_equal(components_select(&both, 1, 3, &err), ST_OK);
    assert_true(both.count == 1 && both.candidate[0].sum[COMPONENT_PEAK] == 5);
    both = found;
    assert_int_equal(components_select(&both, 0, 1, &err), ST_CORRUPT);
    both = found;
    both.candidate[3].sum[COMPONENT_PEAK] = -1;
    assert_int_equal(components_select(&both, 0, 3, &err), ST_CORRUPT);
    both.count = CANDIDATES_MAX + 1;
    both.candidate[3] = found.candidate[3];
    memset(both.candidate + 4, 0, (CANDIDATES_MAX - 4) * sizeof both.candidate[0]);
    assert_int_equal(components_select(&both, 1, 3, &err), ST_OK);
    assert_int_equal(both.count, CANDIDATES_MAX + 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_noise),         cmocka_unit_test(test_shapes_that_meet_late),
        cmocka_unit_test(test_more_than_fit), cmocka_unit_test(test_deadline),
        cmocka_unit_test(test_bounds),        cmocka_unit_test(test_marks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
