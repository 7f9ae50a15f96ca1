/* SPDX-License-Identifier: MIT
 * Finds of frames that are held: more of them than can be hidden end the request. None is left out. */
#include "server/search/hold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "filters/filter.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

enum { SIDE = 4000, BOX = 20, STEP = 40, ACROSS = SIDE / STEP };

static struct detection_found found;
static struct parameters parameters;
static struct region_set set;
static struct tracks tracks;
static struct region_room room;
static struct track_box held_box[FINDS_MAX + 2];

/* Faces and texts, so many of each, which lie apart. */
static struct detection finds_of(unsigned faces, unsigned texts) {
    struct error err;
    struct detection detection = {.count = 2, .found = &found};
    parameters_init(&parameters, filter_find("redact"));
    assert_int_equal(parameters_parse(&parameters, "detect=faces,text&detect_margin=0", &err), ST_OK);
    detection.wanted = detection.counted = 1U << DETECTOR_FACES | 1U << DETECTOR_TEXT;
    detection.search[0].frame = detection.search[1].frame = (struct boxes_frame){SIDE, SIDE, SIDE, SIDE, 0};
    detection.search[0].detectors = 1U << DETECTOR_FACES;
    detection.search[1].detectors = 1U << DETECTOR_TEXT;
    for (unsigned i = 0; i < faces + texts; i++) {
        struct boxes *boxes = &found.boxes[i < faces ? 0 : 1];
        boxes->box[i < faces ? i : i - faces] = (struct box){
            .x = i % ACROSS * STEP, .y = i / ACROSS * STEP, .width = BOX, .height = BOX, .score = 1};
    }
    found.boxes[0].count = faces;
    found.boxes[1].count = texts;
    return detection;
}

static void test_as_many_as_there_may_be(void **state) {
    (void)state;
    const struct detection detection = finds_of(FINDS_MAX - 3, 3);
    struct finds *finds = NULL;
    struct error err = {0};
    uint32_t count;
    assert_int_equal(hold_collect(&detection, &parameters, held_box, FINDS_MAX, &count, &err), ST_OK);
    assert_int_equal(count, FINDS_MAX);
    assert_int_equal(hold_find(&detection, &parameters, &finds, &err), ST_OK);
    assert_int_equal(finds->count, FINDS_MAX);
    assert_memory_equal(finds->box, held_box, FINDS_MAX * sizeof held_box[0]);
    assert_int_equal(hold_find(&detection, &parameters, &finds, &err), ST_OK); /* frees those before */
    free(finds);
}

static void test_more_than_a_frame_may_have(void **state) {
    (void)state;
    const struct detection detection = finds_of(FINDS_MAX - 3, 4);
    struct finds *finds = NULL;
    struct error err = {0};
    uint32_t count;
    assert_int_equal(hold_collect(&detection, &parameters, held_box, FINDS_MAX + 2, &count, &err), ST_LIMIT);
    assert_non_null(strstr(err.text, "were found in a frame"));
    assert_int_equal(hold_find(&detection, &parameters, &finds, &err), ST_LIMIT);
    assert_null(finds);
}

static void test_more_than_there_is_room_for(void **state) {
    (void)state;
    const struct detection detection = finds_of(5, 2);
    struct error err = {0};
    uint32_t count;
    assert_int_equal(hold_collect(&detection, &parameters, held_box, 7, &count, &err), ST_OK);
    assert_int_equal(hold_collect(&detection, &parameters, held_box, 6, &count, &err), ST_LIMIT);
    assert_int_equal(count, 0);
}

/* What a frame and its neighbours have, in a set with `given` regions of the client. */
static enum status add(const struct detection *detection, uint32_t given, const char *keep,
                       struct error *err) {
    struct held held = {.width = SIDE, .height = SIDE, .box = held_box, .tracks = &tracks, .room = &room};
    memset(&set, 0, sizeof set);
    memset(err, 0, sizeof *err);
    set.orientation = 1;
    region_lend(&set, &room);
    for (uint32_t i = 0; i < given; i++) {
        const double number[4] = {0, 0, 1, 1};
        const struct region region = {.form = REGION_RECTANGLE, .count = 4, .unit = REGION_PX};
        assert_int_equal(region_add(&set, &region, number, err), ST_OK);
    }
    for (; *keep; keep += strlen(keep) + 1) {
        assert_int_equal(parameters_set(&parameters, "keep", keep, err), ST_OK);
    }
    assert_int_equal(hold_collect(detection, &parameters, held_box, FINDS_MAX, &held.count, err), ST_OK);
    return hold_add(&held, &parameters, &set, err);
}

static void test_regions_of_all(void **state) {
    (void)state;
    const struct detection detection = finds_of(9, 3);
    struct error err;
    assert_int_equal(add(&detection, REGIONS_MAX - 12, "", &err), ST_OK);
    assert_int_equal(set.count, REGIONS_MAX);
    assert_int_equal(add(&detection, REGIONS_MAX - 11, "", &err), ST_LIMIT);
}

/* A rectangle that is kept cuts a region into four, for which there may be no room. */
static void test_regions_that_are_cut(void **state) {
    (void)state;
    const struct detection detection = finds_of(0, 3);
    struct error err;
    assert_int_equal(add(&detection, REGIONS_MAX - 6, "8,8,4,4\0", &err), ST_OK);
    assert_int_equal(set.count, REGIONS_MAX);
    const struct detection again = finds_of(0, 3);
    assert_int_equal(add(&again, REGIONS_MAX - 5, "8,8,4,4\0", &err), ST_LIMIT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_as_there_may_be),     cmocka_unit_test(test_more_than_a_frame_may_have),
        cmocka_unit_test(test_more_than_there_is_room_for), cmocka_unit_test(test_regions_of_all),
        cmocka_unit_test(test_regions_that_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
