/* SPDX-License-Identifier: MIT
 * tests/http/test_region_list.py has the sentences of all errors. */
#include "filters/argument/region_list.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct region_room room;

static enum status parse(struct region_set *set, const char *text, struct error *err) {
    struct region_list_about size;
    region_lend(set, &room);
    struct region_keep keep = {0};
    return region_list_parse(set, &keep, (struct bytes){(const uint8_t *)text, strlen(text)}, &size, err);
}

static void test_behind_regions_of_the_parameter(void **state) {
    (void)state;
    struct region_set set = {.unit = REGION_RATIO};
    struct error err = {0};
    char name[REGION_NAME_MAX];
    assert_int_equal(region_parse(&set, "0.5,0.5,0.25,0.25", &err), ST_OK);
    assert_int_equal(parse(&set, "[{\"box\": [-4, 2, 10, 20]}, {\"ellipse\": [1, 2, 3, 4]}]", &err), ST_OK);
    assert_int_equal(set.count, 3);
    assert_int_equal(region_check(&set, &err), ST_OK);
    struct region_box box = region_box(&set, 1, 200, 100);
    assert_true(box.x0 == -4 && box.y0 == 2 && box.x1 == 6 && box.y1 == 22);
    assert_int_equal(region_get(&set, 2)->form, REGION_ELLIPSE);
    assert_string_equal(region_name(&set, 0, name), "region 1");
    assert_string_equal(region_name(&set, 2, name), "regions: entry 2");
    assert_string_equal(region_parameter(&set, 0), "region");
    assert_string_equal(region_parameter(&set, 1), "regions");
    box = region_box(&set, 0, 200, 100);
    assert_true(box.x0 == 100 && box.y0 == 50 && box.x1 == 150 && box.y1 == 75);
}

static void test_turned(void **state) {
    (void)state;
    static const struct region_box boxes[] = {{10, 20, 40, 30},   {160, 20, 190, 30}, {160, 70, 190, 80},
                                              {10, 70, 40, 80},   {20, 10, 30, 40},   {20, 160, 30, 190},
                                              {70, 160, 80, 190}, {70, 10, 80, 40}};
    for (uint8_t orientation = 1; orientation <= 8; orientation++) {
        struct region_set set = {0};
        bool lies = orientation >= 5;
        assert_int_equal(
            parse(&set, "{\"unit\":\"ratio\",\"regions\":[{\"corners\":[0.05,0.2,0.2,0.3]}]}", NULL), ST_OK);
        region_turn(&set, orientation);
        struct region_box box = region_box(&set, 0, lies ? 100 : 200, lies ? 200 : 100);
        const struct region_box *wanted = &boxes[orientation - 1];
        assert_true(box.x0 == wanted->x0 && box.y0 == wanted->y0 && box.x1 == wanted->x1 &&
                    box.y1 == wanted->y1);
    }
}

/* Nothing is written behind the set or its room. */
static void test_full(void **state) {
    (void)state;
    struct region_set set = {0};
    const struct region box = {.form = REGION_RECTANGLE, .count = 4, .source = REGION_FOUND, .entry = 9};
    const double number[4] = {1, 2, 3, 4};
    struct error err = {0};
    char name[REGION_NAME_MAX];
    region_lend(&set, &room);
    for (unsigned i = 0; i < REGIONS_MAX; i++) {
        assert_int_equal(region_add(&set, &box, number, &err), ST_OK);
    }
    assert_int_equal(region_add(&set, &box, number, &err), ST_LIMIT);
    assert_string_equal(err.text, "there are more than 1024 regions");
    assert_string_equal(region_name(&set, REGIONS_MAX - 1, name), "box 9 that was found");
    assert_string_equal(region_parameter(&set, 0), "detect");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_behind_regions_of_the_parameter),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
