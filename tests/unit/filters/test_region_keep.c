/* SPDX-License-Identifier: MIT
 * What is found, less what is kept: against a map of pixels. */
#include "filters/argument/region_keep.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "filters/argument/region_list.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { WIDTH = 40, HEIGHT = 30, ROUNDS = 3000 };

static struct region_room room;
static const struct region found = {.form = REGION_ELLIPSE, .count = 4, .source = REGION_FOUND, .entry = 3};
static uint32_t random_state = 1;

static int random_below(int limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (int)(random_state >> 16) % limit;
}

static enum status cut(const struct region_keep *keep, const double number[4], struct region_set *set) {
    struct error err = {0};
    *set = (struct region_set){0};
    region_lend(set, &room);
    return region_keep_cut(keep, REGION_PX, WIDTH, HEIGHT, &found, number, set, &err);
}

static void keep_these(struct region_keep *keep, const char *const *text) {
    struct error err = {0};
    *keep = (struct region_keep){0};
    for (; *text; text++) {
        assert_int_equal(region_keep_parse(keep, "keep", *text, &err), ST_OK);
    }
}

/* Each pixel lies in as many regions as the map says, 0 or 1. */
static void check_map(const struct region_set *set, uint8_t map[HEIGHT][WIDTH]) {
    for (uint32_t i = 0; i < set->count; i++) {
        const struct region_box box = region_box(set, i, WIDTH, HEIGHT);
        assert_int_equal(region_get(set, i)->form, REGION_RECTANGLE);
        assert_int_equal(region_get(set, i)->entry, 3);
        assert_true(box.x0 >= 0 && box.y0 >= 0 && box.x1 <= WIDTH && box.y1 <= HEIGHT);
        for (int y = (int)box.y0; y < (int)box.y1; y++) {
            for (int x = (int)box.x0; x < (int)box.x1; x++) {
                assert_int_equal(map[y][x], 1);
                map[y][x] = 0;
            }
        }
    }
    for (int i = 0; i < WIDTH * HEIGHT; i++) {
        assert_int_equal(map[i / WIDTH][i % WIDTH], 0);
    }
}

static void fill(uint8_t map[HEIGHT][WIDTH], const int corner[4], uint8_t value) {
    for (int y = corner[1] < 0 ? 0 : corner[1]; y < corner[3] && y < HEIGHT; y++) {
        for (int x = corner[0] < 0 ? 0 : corner[0]; x < corner[2] && x < WIDTH; x++) {
            map[y][x] = value;
        }
    }
}

static void test_all_pixels(void **state) {
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        static uint8_t map[HEIGHT][WIDTH];
        struct region_keep keep = {0};
        struct region_set set;
        const int x = random_below(WIDTH) - 5, y = random_below(HEIGHT) - 5;
        const int box[4] = {x, y, x + 6 + random_below(30), y + 6 + random_below(20)};
        /* It always has a kept pixel, so that it becomes rectangles. */
        const int least = (x < 0 ? 0 : x), upper = (y < 0 ? 0 : y);
        memset(map, 0, sizeof map);
        fill(map, box, 1);
        for (int i = 0; i < 1 + round % 5; i++) {
            char text[64];
            const int left = i ? random_below(WIDTH) : least, top = i ? random_below(HEIGHT) : upper;
            const int kept[4] = {left, top, left + 1 + random_below(12), top + 1 + random_below(12)};
            struct error err = {0};
            snprintf(text, sizeof text, "%d,%d,%d,%d", left, top, kept[2] - left, kept[3] - top);
            assert_int_equal(region_keep_parse(&keep, "keep", text, &err), ST_OK);
            fill(map, kept, 0);
        }
        const double number[4] = {box[0], box[1], box[2] - box[0], box[3] - box[1]};
        assert_int_equal(cut(&keep, number, &set), ST_OK);
        check_map(&set, map);
    }
}

/* A pixel that is kept in part is hidden, and one that is found in part, too. */
static void test_fractions(void **state) {
    (void)state;
    static uint8_t map[HEIGHT][WIDTH];
    const int whole[4] = {4, 4, 20, 15}, inner[4] = {8, 6, 12, 10};
    struct region_keep keep;
    struct region_set set;
    keep_these(&keep, (const char *const[]){"7.4,5.5,5.4,5", NULL});
    memset(map, 0, sizeof map);
    fill(map, whole, 1);
    fill(map, inner, 0);
    assert_int_equal(cut(&keep, (const double[4]){4.6, 4.4, 15.2, 10.4}, &set), ST_OK);
    check_map(&set, map);
}

static void test_units(void **state) {
    (void)state;
    struct region_keep keep;
    struct region_set set = {0};
    struct error err = {0};
    const double number[4] = {10, 15, 20, 10};
    keep_these(&keep, (const char *const[]){"25%,0.5,0.5,33.333%", NULL}); /* 10,15,20,10 and a little less */
    region_lend(&set, &room);
    assert_int_equal(region_keep_cut(&keep, REGION_RATIO, WIDTH, HEIGHT, &found, number, &set, &err), ST_OK);
    assert_int_equal(set.count, 0);
    assert_int_equal(region_keep_check(&keep, "keep", REGION_RATIO, &err), ST_OK);
    keep_these(&keep, (const char *const[]){"0,0,1,1", "0.5,0.5,2,0.1", NULL});
    assert_int_equal(region_keep_check(&keep, "keep", REGION_RATIO, &err), ST_ARGUMENT);
    assert_string_equal(err.parameter, "keep");
    assert_string_equal(err.text, "keep 2 has the number 2, but with unit=ratio it must be from 0 to 1");
}

/* What no kept rectangle touches is as it was found. */
static void test_untouched(void **state) {
    (void)state;
    struct region_keep keep;
    struct region_set set;
    keep_these(&keep, (const char *const[]){"0,0,10,10", "30,0,10,30", NULL});
    assert_int_equal(cut(&keep, (const double[4]){10, 3.25, 19.5, 8}, &set), ST_OK);
    assert_int_equal(set.count, 1);
    assert_int_equal(region_get(&set, 0)->form, REGION_ELLIPSE);
    const struct region_box box = region_box(&set, 0, WIDTH, HEIGHT);
    assert_true(box.x0 == 10 && box.x1 == 29.5 && box.y0 == 3.25 && box.y1 == 11.25);
}

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *text, *says;
    } table[] = {
        {"ellipse:1,2,3,4", "keep is ellipse:1,2,3,4, it must be x,y,w,h"},
        {"polygon:1,2,3,4,5,0", "keep is polygon:1,2,3,4,5,0, it must be x,y,w,h"},
        {"1,2,3", "keep is 1,2,3, but a rectangle has 4 numbers, not 3"},
        {"1,2,0,4", "keep is 1,2,0,4, but 0 is empty: width and height must be above 0"},
    };
    struct region_keep keep = {0};
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        struct error err = {0};
        assert_int_equal(region_keep_parse(&keep, "keep", table[i].text, &err), ST_ARGUMENT);
        assert_string_equal(err.parameter, "keep");
        assert_string_equal(err.text, table[i].says);
    }
    assert_int_equal(keep.count, 0);
}

/* Half of what was found lies in the rectangle, and it is a third as large. */
static void test_match(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double number[4];
        double match;
    } table[] = {
        {"10,10,10,10", {10, 10, 10, 10}, 1},        {"12,12,2,2", {10, 10, 10, 10}, 0},
        {"10,5,5,15", {10, 10, 10, 10}, 0.4},        {"10,5,4.9,15", {10, 10, 10, 10}, 0},
        {"3,3,14,14", {10, 10, 10, 10}, 0}, /* 49 of 100 */
        {"5,5,15,15", {10, 10, 10, 10}, 100. / 225}, {"0,10,30,10", {10, 10, 10, 10}, 1. / 3},
        {"0,10,30.1,10", {10, 10, 10, 10}, 0},       {"0,20,10,10", {-5, 20, 12, 10}, 70. / 150},
        {"50%,0,20%,30%", {21, 3, 4, 5}, 0},         {"50%,0,20%,30%", {21, 2, 6, 6}, 0.5},
        {"1,1,1,1", {1, 1, 0.01, 0.01}, 0},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        struct region_keep keep;
        keep_these(&keep, (const char *const[]){"0,0,1,1", table[i].text, NULL});
        const double match = region_keep_match(&keep, 1, REGION_PX, WIDTH, HEIGHT, table[i].number);
        if (fabs(match - table[i].match) > 0.002) {
            fail_msg("row %u: %g", i, match);
        }
    }
}

static void test_sizes(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum region_unit unit;
        const char *says;
    } table[] = {
        {"39,29,10,10", REGION_PX, NULL},
        {"0.5,0.5,0.5,0.5", REGION_RATIO, NULL},
        {"40,0,10,10", REGION_PX, "except 2 lies off the picture, which has 40x30 pixels"},
        {"0,100%,10,10", REGION_PX, "except 2 lies off the picture, which has 40x30 pixels"},
        {"0.5,0.5,0.5,0.5", REGION_PX,
         "except 2 is 0.5 x 0.5 pixels of 40x30, it must be 1 pixel wide and high. Numbers are pixels; for "
         "parts of the picture write % behind them, or a unit"},
    };
    for (unsigned i = 0; i < sizeof table / sizeof *table; i++) {
        struct region_keep keep;
        struct error err = {0};
        keep_these(&keep, (const char *const[]){"0%,0%,100%,100%", table[i].text, NULL});
        const enum status status =
            region_keep_check_size(&keep, "except", table[i].unit, WIDTH, HEIGHT, &err);
        assert_int_equal(status, table[i].says ? ST_ARGUMENT : ST_OK);
        if (table[i].says) {
            assert_string_equal(err.parameter, "except");
            assert_string_equal(err.text, table[i].says);
        }
    }
}

static void test_full(void **state) {
    (void)state;
    struct region_keep keep = {0};
    struct region_set set;
    struct error err = {0};
    const double number[4] = {1, 2, 3, 4};
    for (unsigned i = 0; i < REGION_KEEP_MAX; i++) {
        assert_int_equal(region_keep_parse(&keep, "keep", "1,2,3,4", &err), ST_OK);
    }
    assert_int_equal(region_keep_parse(&keep, "keep", "1,2,3,4", &err), ST_ARGUMENT);
    assert_string_equal(err.text, "keep: there are more than 64 rectangles");
    assert_int_equal(region_keep_add(&keep, number, REGION_PX, &err), ST_LIMIT);
    assert_int_equal(keep.count, REGION_KEEP_MAX);
    /* Pieces beyond what a set takes are an error, too. */
    keep_these(&keep, (const char *const[]){"5,5,1,1", NULL});
    assert_int_equal(cut(&keep, (const double[4]){0, 0, 20, 20}, &set), ST_OK);
    while (set.count < REGIONS_MAX - 3) {
        assert_int_equal(region_add(&set, &found, number, &err), ST_OK);
    }
    assert_int_equal(
        region_keep_cut(&keep, REGION_PX, WIDTH, HEIGHT, &found, (const double[4]){0, 0, 20, 20}, &set, &err),
        ST_LIMIT);
}

static enum status list(const char *text, struct region_keep *keep, struct region_set *set,
                        struct error *err) {
    struct region_list_about size;
    *keep = (struct region_keep){0};
    *set = (struct region_set){0};
    region_lend(set, &room);
    return region_list_parse(set, keep, (struct bytes){(const uint8_t *)text, strlen(text)}, &size, err);
}

static void test_listed(void **state) {
    (void)state;
    struct region_keep keep;
    struct region_set set;
    struct error err = {0};
    assert_int_equal(list("{\"unit\":\"percent\",\"margin\":50,\"threshold\":0.5,\"regions\":["
                          "{\"box\":[50,50,25,20],\"keep\":true},{\"box\":[0,0,1,1],\"keep\":false},"
                          "{\"box\":[0,0,50,50],\"keep\":true,\"score\":0.4}]}",
                          &keep, &set, &err),
                     ST_OK);
    assert_int_equal(set.count, 1);
    assert_int_equal(keep.count, 1);
    assert_int_equal(cut(&keep, (const double[4]){20, 15, 10, 6}, &set), ST_OK);
    assert_int_equal(set.count, 0);
    static const char *const wrong[] = {"\"ellipse\":[1,2,3,4],\"keep\":true",
                                        "\"margin\":5,\"box\":[1,2,3,4],\"keep\":true",
                                        "\"polygon\":[[1,2],[3,4],[9,1]],\"keep\":true"};
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[128];
        snprintf(text, sizeof text, "[{%s}]", wrong[i]);
        assert_int_equal(list(text, &keep, &set, &err), ST_ARGUMENT);
        assert_string_equal(err.text, "regions: entry 1: keep is for boxes without a margin of their own");
    }
    assert_int_equal(list("[{\"box\":[1,2,3,4],\"keep\":1}]", &keep, &set, &err), ST_ARGUMENT);
    assert_string_equal(err.text, "regions: entry 1: keep must be true or false");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_pixels), cmocka_unit_test(test_fractions), cmocka_unit_test(test_units),
        cmocka_unit_test(test_untouched),  cmocka_unit_test(test_refusals),  cmocka_unit_test(test_match),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_full),      cmocka_unit_test(test_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
