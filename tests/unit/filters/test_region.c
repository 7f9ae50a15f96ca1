/* SPDX-License-Identifier: MIT
 * Regions as text: the shapes that are read, and the error for each text that is refused. */
#include "filters/argument/region.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define FORMS ", it must be x,y,w,h, ellipse:x,y,w,h or polygon:x1,y1,x2,y2,..."
#define NUMBER " must be a decimal number of at most 63 characters, in pixels or with a % behind"
#define EMPTY " is empty: width and height must be above 0"
#define OUTSIDE " is outside, it must be from 0 to 1000000 or from 0% to 100%"
#define WHOLE ", but it is outside: x + w and y + h must be at most 100%"
#define LINE ", but it is empty: its points must not all lie on one line"

static const struct {
    const char *text;
    const char *sentence; /* behind "region is " */
} refused[] = {
    {"", "empty, but a rectangle has 4 numbers, not 0"},
    {"circle:1,2,3", "circle:1,2,3" FORMS},
    {":1,2,3,4", ":1,2,3,4" FORMS},
    {"Ellipse:1,2,3,4", "Ellipse:1,2,3,4" FORMS},
    {"ellipse :1,2,3,4", "ellipse :1,2,3,4" FORMS},
    {"1,2,3", "1,2,3, but a rectangle has 4 numbers, not 3"},
    {"1,2,3,4,5", "1,2,3,4,5, but a rectangle has 4 numbers, not 5"},
    {"ellipse:1,2,3", "ellipse:1,2,3, but an ellipse has 4 numbers, not 3"},
    {"ellipse:", "ellipse:, but an ellipse has 4 numbers, not 0"},
    {"polygon:", "polygon:, but a polygon has 3 to 64 points of 2 numbers, not 0"},
    {"polygon:0,0,5,5", "polygon:0,0,5,5, but a polygon has 3 to 64 points of 2 numbers, not 4"},
    {"polygon:0,0,5,5,9", "polygon:0,0,5,5,9, but a polygon has 3 to 64 points of 2 numbers, not 5"},
    {"polygon:0,0,5,5,9,0,1", "polygon:0,0,5,5,9,0,1, but a polygon has 3 to 64 points of 2 numbers, not 7"},
    {"1,b,3,4", "1,b,3,4, but b" NUMBER},
    {"1,,3,4", "1,,3,4, but empty" NUMBER},
    {"nan,2,3,4", "nan,2,3,4, but nan" NUMBER},
    {"1,2,inf,4", "1,2,inf,4, but inf" NUMBER},
    {"1,2,1e309,4", "1,2,1e309,4, but 1e309" NUMBER},
    {"1,2,0x5,4", "1,2,0x5,4, but 0x5" NUMBER},
    {"1,2,3,4px", "1,2,3,4px, but 4px" NUMBER},
    {"1,2,3,4 ", "1,2,3,4 , but 4 " NUMBER},
    {"1, 2,3,4", "1, 2,3,4, but  2" NUMBER},
    {"+1,2,3,4", "+1,2,3,4, but +1" NUMBER},
    {"1,2,3,%", "1,2,3,%, but %" NUMBER},
    {"1,2,3,4%%", "1,2,3,4%%, but 4%%" NUMBER},
    {"1,2,3,\"\n", "1,2,3,\\x22\\x0a, but \\x22\\x0a" NUMBER},
    {"polygon:0,0,5,x,9,9", "polygon:0,0,5,x,9,9, but x" NUMBER},
    {"1,2,0,4", "1,2,0,4, but 0" EMPTY},
    {"1,2,3,0%", "1,2,3,0%, but 0%" EMPTY},
    {"1,2,-3,4", "1,2,-3,4, but -3" EMPTY},
    {"ellipse:1,2,3,-0", "ellipse:1,2,3,-0, but -0" EMPTY},
    {"-1,2,3,4", "-1,2,3,4, but -1" OUTSIDE},
    {"1,-0.001%,3,4", "1,-0.001%,3,4, but -0.001%" OUTSIDE},
    {"1,2,100.5%,4", "1,2,100.5%,4, but 100.5%" OUTSIDE},
    {"101%,2,3,4", "101%,2,3,4, but 101%" OUTSIDE},
    {"1,2,3,1000001", "1,2,3,1000001, but 1000001" OUTSIDE},
    {"polygon:0,0,5,-5,9,9", "polygon:0,0,5,-5,9,9, but -5" OUTSIDE},
    {"60%,0,50%,10", "60%,0,50%,10" WHOLE},
    {"0,60%,10,40.1%", "0,60%,10,40.1%" WHOLE},
    {"ellipse:0,60%,10,40.1%", "ellipse:0,60%,10,40.1%" WHOLE},
    {"polygon:1,1,1,1,1,1", "polygon:1,1,1,1,1,1" LINE},
    {"polygon:0,0,5,5,9,9", "polygon:0,0,5,5,9,9" LINE},
    {"polygon:0.1,0.3,0.2,0.6,0.7,2.1", "polygon:0.1,0.3,0.2,0.6,0.7,2.1" LINE},
    {"polygon:0%,0,5%,5,9%,9", "polygon:0%,0,5%,5,9%,9" LINE},
};

static void test_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct region_set set = {0}, before = set;
        struct error err = {0};
        char sentence[ERROR_TEXT_MAX];
        snprintf(sentence, sizeof sentence, "region is %s", refused[i].sentence);
        assert_int_equal(region_parse(&set, refused[i].text, &err), ST_ARGUMENT);
        assert_string_equal(err.parameter, "region");
        assert_string_equal(err.text, sentence);
        assert_memory_equal(&set, &before, sizeof set);
        assert_int_equal(region_parse(&set, refused[i].text, NULL), ST_ARGUMENT);
    }
}

static void test_long_values(void **state) {
    (void)state;
    struct region_set set = {0};
    struct error err = {0};
    char text[300] = "1,2,3,";
    memset(text + 6, '0', 62);
    memcpy(text + 68, "4", 2); /* 63 characters */
    assert_int_equal(region_parse(&set, text, &err), ST_OK);
    assert_true(set.number[3] == 4);
    memcpy(text + 68, "04", 3);
    assert_int_equal(region_parse(&set, text, &err), ST_ARGUMENT);
    assert_non_null(strstr(err.text, "0..., but 00000"));
    assert_non_null(strstr(err.text, "0... must be a decimal number of at most 63"));
    assert_true(strlen(err.text) < ERROR_TEXT_MAX - 20); /* not cut */
}

static void expect(const char *text, enum region_form form, unsigned count, const double *number,
                   const char *units) {
    struct region_set set = {0};
    struct error err = {0};
    assert_int_equal(region_parse(&set, text, &err), ST_OK);
    assert_int_equal(set.count, 1);
    assert_int_equal(set.numbers, count);
    assert_int_equal(set.region[0].form, form);
    assert_int_equal(set.region[0].first, 0);
    assert_int_equal(set.region[0].count, count);
    for (unsigned i = 0; i < count; i++) {
        assert_true(set.number[i] == number[i]);
        assert_int_equal(set.percent[i], units[i] == '%');
    }
}

static void test_accepted(void **state) {
    (void)state;
    expect("1,2,3,4", REGION_RECTANGLE, 4, (const double[]){1, 2, 3, 4}, "pppp");
    expect("0,0,1000000,0.001", REGION_RECTANGLE, 4, (const double[]){0, 0, 1e6, 0.001}, "pppp");
    expect("10%,2.5,.5%,4.", REGION_RECTANGLE, 4, (const double[]){10, 2.5, 0.5, 4}, "%p%p");
    expect("0%,33.3%,100%,66.7%", REGION_RECTANGLE, 4, (const double[]){0, 33.3, 100, 66.7}, "%%%%");
    expect("90%,0,50,10", REGION_RECTANGLE, 4, (const double[]){90, 0, 50, 10}, "%ppp");
    expect("ellipse:1,2,3,4", REGION_ELLIPSE, 4, (const double[]){1, 2, 3, 4}, "pppp");
    expect("polygon:0,0,5,0,5,5", REGION_POLYGON, 6, (const double[]){0, 0, 5, 0, 5, 5}, "pppppp");
    expect("polygon:0,0,100%,0,5,5", REGION_POLYGON, 6, (const double[]){0, 0, 100, 0, 5, 5}, "pp%ppp");
    /* Two lobes whose signed areas cancel are not empty. */
    expect("polygon:0,0,4,4,4,0,0,4", REGION_POLYGON, 8, (const double[]){0, 0, 4, 4, 4, 0, 0, 4},
           "pppppppp");
}

/* Mixed units: whether these lie on one line depends on the picture. */
static void test_mixed_line(void **state) {
    (void)state;
    struct region_set set = {0};
    assert_int_equal(region_parse(&set, "polygon:0,0,50%,5,9,9", NULL), ST_OK);
}

static void test_too_many(void **state) {
    (void)state;
    struct region_set set = {0};
    struct error err = {0};
    for (unsigned i = 0; i < REGIONS_GIVEN_MAX; i++) {
        assert_int_equal(region_parse(&set, "1,2,3,4", &err), ST_OK);
        assert_int_equal(set.region[i].first, 4 * i);
    }
    assert_int_equal(region_parse(&set, "1,2,3,5", &err), ST_ARGUMENT);
    assert_string_equal(err.text, "region is 1,2,3,5, but there must be at most 64 regions");
    assert_int_equal(set.count, REGIONS_GIVEN_MAX);
}

/* A polygon of `points` on two lines. */
static const char *zigzag(char *text, size_t size, unsigned points) {
    size_t used = (size_t)snprintf(text, size, "polygon:");
    for (unsigned i = 0; i < points; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s%u,%u", i ? "," : "", i, i % 2);
    }
    return text;
}

static void test_too_many_points(void **state) {
    (void)state;
    struct region_set set = {0};
    struct error err = {0};
    char text[1000];
    for (unsigned i = 0; i < REGION_NUMBERS_MAX / (2 * REGION_POINTS_MAX); i++) {
        assert_int_equal(region_parse(&set, zigzag(text, sizeof text, REGION_POINTS_MAX), &err), ST_OK);
    }
    assert_int_equal(set.numbers, REGION_NUMBERS_MAX);
    assert_int_equal(region_parse(&set, "1,2,3,4", &err), ST_ARGUMENT);
    assert_string_equal(err.text,
                        "region is 1,2,3,4, but all regions together must have at most 1024 numbers");
    set = (struct region_set){0};
    assert_int_equal(region_parse(&set, zigzag(text, sizeof text, REGION_POINTS_MAX + 1), &err), ST_ARGUMENT);
    assert_non_null(strstr(err.text, "..., but a polygon has 3 to 64 points of 2 numbers, not 130"));
}

static void test_places(void **state) {
    (void)state;
    struct region_set set = {0};
    assert_int_equal(region_parse(&set, "10%,2.5,50%,25%", NULL), ST_OK);
    assert_int_equal(region_parse(&set, "polygon:10,50%,20,0,0,100%", NULL), ST_OK);
    struct region_box box = region_box(&set, 0, 200, 80);
    assert_true(box.x0 == 20 && box.y0 == 2.5 && box.x1 == 120 && box.y1 == 22.5);
    struct region_point point[REGION_POINTS_MAX];
    assert_int_equal(region_points(&set, 1, 200, 80, point), 3);
    assert_true(point[0].x == 10 && point[0].y == 40 && point[2].x == 0 && point[2].y == 80);
    box = region_box(&set, 1, 200, 80);
    assert_true(box.x0 == 0 && box.y0 == 0 && box.x1 == 20 && box.y1 == 80);
}

/* Borders that are equal on paper are equal, though no binary fraction is. */
static void test_shared_borders(void **state) {
    (void)state;
    for (unsigned tenth = 1; tenth < 1000; tenth++) {
        struct region_set set = {0};
        char text[80];
        snprintf(text, sizeof text, "%u.%u,0,%u.7,1", tenth / 10, tenth % 10, tenth);
        assert_int_equal(region_parse(&set, text, NULL), ST_OK);
        unsigned end = tenth + 10 * tenth + 7;
        snprintf(text, sizeof text, "%u.%u,0,1,1", end / 10, end % 10);
        assert_int_equal(region_parse(&set, text, NULL), ST_OK);
        snprintf(text, sizeof text, "%u.%u%%,0,%u.%u%%,1", tenth / 10, tenth % 10, (1000 - tenth) / 10,
                 (1000 - tenth) % 10);
        assert_int_equal(region_parse(&set, text, NULL), ST_OK);
        assert_true(region_box(&set, 0, 100, 100).x1 == region_box(&set, 1, 100, 100).x0);
        assert_true(region_box(&set, 2, 12345, 100).x1 == 12345);
    }
}

/* ---- the unit of the set ---- */

static void test_units(void **state) {
    (void)state;
    static const double in_pixels[][4] = {[REGION_PX] = {0.25, 0.5, 50.5, 1},
                                          [REGION_PERCENT] = {0.5, 0.4, 100.5, 1.2},
                                          [REGION_RATIO] = {50, 40, 150, 80}};
    static const char *const texts[] = {[REGION_PX] = "0.25,0.5,50.25,0.5",
                                        [REGION_PERCENT] = "0.25,0.5,50,1",
                                        [REGION_RATIO] = "0.25,0.5,0.5,0.5"};
    for (int unit = REGION_PX; unit <= REGION_RATIO; unit++) {
        struct region_set set = {0};
        assert_int_equal(region_parse(&set, texts[unit], NULL), ST_OK);
        set.unit = unit; /* it may be known last */
        assert_int_equal(region_check(&set, NULL), ST_OK);
        struct region_box box = region_box(&set, 0, 200, 80);
        const double *expected = in_pixels[unit];
        assert_true(fabs(box.x0 - expected[0]) < 1e-4 && fabs(box.y0 - expected[1]) < 1e-4);
        assert_true(fabs(box.x1 - expected[2]) < 1e-4 && fabs(box.y1 - expected[3]) < 1e-4);
    }
}

static void test_a_percent_sign_wins(void **state) {
    (void)state;
    struct region_set set = {.unit = REGION_RATIO};
    assert_int_equal(region_parse(&set, "25%,0.25,50%,0.5", NULL), ST_OK);
    assert_int_equal(region_check(&set, NULL), ST_OK);
    struct region_box box = region_box(&set, 0, 200, 80);
    assert_true(box.x0 == 50 && box.y0 == 20 && box.x1 == 150 && box.y1 == 60);
    region_turn(&set, 6); /* stored lying */
    box = region_box(&set, 0, 80, 200);
    assert_true(box.x0 == 20 && box.y0 == 50 && box.x1 == 60 && box.y1 == 150);
}

static void test_outside_of_the_unit(void **state) {
    (void)state;
    static const struct {
        enum region_unit unit;
        const char *text, *sentence;
    } table[] = {
        {REGION_PERCENT, "1,2,3,101",
         "region 2 has the number 101, but with unit=percent it must be from 0 to 100"},
        {REGION_RATIO, "0,0.5,1.25,0.5",
         "region 2 has the number 1.25, but with unit=ratio it must be from 0 to 1"},
        {REGION_RATIO, "polygon:0,0,1,1,0,2",
         "region 2 has the number 2, but with unit=ratio it must be from 0 to 1"},
        {REGION_RATIO, "0.5,0,0.6,1", "region 2 is outside: x + w and y + h must be at most 1"},
        {REGION_RATIO, "0,50%,1,0.6", "region 2 is outside: x + w and y + h must be at most 1"},
        {REGION_PERCENT, "0,50,1,60", "region 2 is outside: x + w and y + h must be at most 100%"},
        {REGION_PERCENT, "33.3,0,66.7,1", NULL},
        {REGION_RATIO, "0.333,0,0.667,1", NULL},
        {REGION_PX, "500000,0,1000000,50%", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct region_set set = {.unit = (int)table[i].unit};
        struct error err = {0};
        assert_int_equal(region_parse(&set, "0,0,1,1", &err), ST_OK);
        assert_int_equal(region_parse(&set, table[i].text, &err), ST_OK);
        assert_int_equal(region_check(&set, &err), table[i].sentence ? ST_ARGUMENT : ST_OK);
        assert_string_equal(err.text, table[i].sentence ? table[i].sentence : "");
        assert_string_equal(err.parameter, table[i].sentence ? "region" : "");
    }
}

/* Regions that must hide something, of a picture of 200x80. */
static void test_too_small(void **state) {
    (void)state;
    static const struct {
        const char *text, *word;
    } table[] = {
        {"0.1,0.1,0.2,0.2", "region 2 is 0.2 x 0.2 pixels of 200x80; "},
        {"5,5,0.9,40", "region 2 is 0.9 x 40 pixels"},
        {"5,5,40,0.9", "region 2 is 40 x 0.9 pixels"},
        {"ellipse:5,5,0.3%,40", "region 2 is 0.6 x 40 pixels"},
        {"polygon:5,5,5.5,60,5.2,70", "region 2 is 0.5 x 65 pixels"},
        {"0,0,1,1", "region 2 is 1 x 1 pixels"},
        {"polygon:0,0,1,0,1,1", "and more than the first pixel. Numbers are pixels; for parts of the "
                                "picture write % behind them, unit=percent or unit=ratio"},
        {"200,5,9,9", "region 2 lies off the picture, which has 200x80 pixels, and would hide nothing"},
        {"5,80,9,9", "region 2 lies off the picture"},
        {"1,1,1,1", NULL},
        {"0,0,2,1", NULL},
        {"0,0,1,2", NULL},
        {"5,5,0.5%,33.3%", NULL},
        {"199.5,79.5,9,9", NULL},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct region_set set = {0};
        struct error err = {0};
        assert_int_equal(region_parse(&set, "0,0,50%,50%", &err), ST_OK);
        assert_int_equal(region_parse(&set, table[i].text, &err), ST_OK);
        assert_int_equal(region_check_size(&set, 200, 80, &err), table[i].word ? ST_ARGUMENT : ST_OK);
        assert_non_null(strstr(err.text, table[i].word ? table[i].word : ""));
        assert_string_equal(err.parameter, table[i].word ? "region" : "");
    }
    struct region_set one = {.unit = REGION_RATIO}; /* a picture of one pixel has no other */
    assert_int_equal(region_parse(&one, "0,0,1,1", NULL), ST_OK);
    assert_int_equal(region_check_size(&one, 1, 1, NULL), ST_OK);
    one.unit = REGION_RATIO;
    assert_int_equal(region_check_size(&one, 200, 80, NULL), ST_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_long_values),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_mixed_line),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_too_many_points),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_shared_borders),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_a_percent_sign_wins),
        cmocka_unit_test(test_outside_of_the_unit),
        cmocka_unit_test(test_too_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
