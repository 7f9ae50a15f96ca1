/* SPDX-License-Identifier: MIT
 * Searches of a request: which there are, of which size, and that planes as stored do for them. */
#include "server/planner/detection_plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static struct parameters parameters;
static struct detection detection;

static int set_up(void **state) {
    (void)state;
    parameters_init(&parameters, filter_find("blur"));
    parameters.detect.wanted = 1 << DETECTOR_FACES;
    parameters.detect.effort = DETECT_EFFORT_HIGH;
    return 0;
}

static void plan(const struct image_shape *shape, uint8_t orientation) {
    struct error err;
    assert_int_equal(detection_plan(&detection, &parameters, shape, orientation, &err), ST_OK);
}

static const struct detect_plan *searched(unsigned i) {
    const struct chain *chain = &detection.search[i].chain;
    return &chain->step[chain->count - 1].detect;
}

/* The usual search is that of normal effort; the others are its mirror image, half and twice its size. */
static void test_high_effort(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 4000, .height = 3000};
    plan(&shape, 1);
    assert_int_equal(detection.count, 1 + DETECTION_FURTHER);
    assert_int_equal(detection.wanted, 1 << DETECTOR_FACES);
    static const uint32_t widths[] = {1920, 1920, 960, 3840}, heights[] = {1440, 1440, 736, 2880};
    for (unsigned i = 0; i < detection.count; i++) {
        const struct detection_search *search = &detection.search[i];
        assert_true(searched(i)->width == widths[i] && searched(i)->height == heights[i]);
        assert_true(search->frame.width == 4000 && search->frame.height == 3000);
        assert_true(search->further == (i > 0) && search->mirrored == (i == 1));
        assert_true(i == 0 ? searched(i)->threshold[0] == 0.3 : searched(i)->threshold[0] > 0.49);
    }
    const struct detect_plan first = *searched(0);
    parameters.detect.effort = DETECT_EFFORT_NORMAL;
    plan(&shape, 1);
    assert_int_equal(detection.count, 1);
    assert_memory_equal(&first, searched(0), sizeof first);
}

/* Text is searched once; what comes behind faces keeps its own boxes. */
static void test_several_detectors(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 640, .height = 480};
    parameters.detect.wanted |= 1 << DETECTOR_TEXT;
    plan(&shape, 1);
    assert_int_equal(detection.count, 2 + DETECTION_FURTHER);
    assert_int_equal(detection_kinds(&detection), 2);
    const struct detection_search *last = &detection.search[detection.count - 1];
    assert_true(last->detectors == 1 << DETECTOR_TEXT && !last->further);
    assert_int_equal(detection_kind(&detection, DETECTOR_TEXT), 1);
    assert_int_equal(detection_found_bytes(&detection),
                     offsetof(struct detection_found, boxes) + 3 * sizeof(struct boxes));
}

/* Persons are searched in halves of halves, and with high effort in twice the size, too. */
static void test_halved(void **state) {
    (void)state;
    static const uint32_t widths[] = {1280, 640, 320, 160, 96, 2560},
                          heights[] = {960, 480, 256, 128, 64, 1920};
    struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 4000, .height = 3000};
    parameters.detect.wanted = 1 << DETECTOR_PERSONS;
    plan(&shape, 1);
    assert_int_equal(detection.count, 6);
    for (unsigned i = 0; i < detection.count; i++) {
        const struct detection_search *search = &detection.search[i];
        assert_true(searched(i)->width == widths[i] && searched(i)->height == heights[i]);
        assert_true(search->further == (i > 0) && search->usual == (i < 5) && !search->mirrored);
        assert_true((searched(i)->threshold[DETECTOR_PERSONS] == 0.3) == search->usual);
    }
    assert_int_equal(detection_boxes(&detection), 2);
    parameters.detect.effort = DETECT_EFFORT_NORMAL;
    shape.width = shape.height = 100;
    plan(&shape, 1);
    assert_int_equal(detection.count, 1);
    struct error err;
    shape.width = 30000, shape.height = 40;
    assert_int_equal(parameters_set(&parameters, "detect_size", "full", &err), ST_OK);
    plan(&shape, 1);
    assert_true(detection.count > 6 && detection.count <= DETECTION_SEARCHES);
    const struct detect_plan *last = searched(detection.count - 1);
    assert_true(last->width >= 64 && last->width < 320 && last->height == 32);
}

/* Text and plates are one search, of which each has a threshold; what comes further is for plates alone. */
static void test_one_network(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 640, .height = 480};
    parameters.detect.wanted = 1 << DETECTOR_TEXT | 1 << DETECTOR_CODES | 1 << DETECTOR_PLATES;
    plan(&shape, 1);
    assert_int_equal(detection.count, 4);
    assert_int_equal(searched(0)->wanted, 1 << DETECTOR_TEXT | 1 << DETECTOR_PLATES);
    assert_true(searched(0)->threshold[DETECTOR_TEXT] == 0.6 &&
                searched(0)->threshold[DETECTOR_PLATES] == 0.5);
    assert_true(searched(0)->threshold[DETECTOR_FACES] == 0 && searched(0)->threshold[DETECTOR_CODES] == 0);
    static const uint32_t widths[] = {672, 352, 1312};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(searched(i)->width, widths[i]);
        assert_true(detection.search[i].further == (i > 0) && !detection.search[i].mirrored);
    }
    assert_int_equal(searched(1)->wanted, 1 << DETECTOR_PLATES);
    assert_int_equal(searched(2)->wanted, 1 << DETECTOR_PLATES);
    assert_int_equal(searched(3)->wanted, 1 << DETECTOR_CODES);
    assert_int_equal(detection_kind(&detection, DETECTOR_PLATES), 2);
    assert_int_equal(detection_boxes(&detection), 4);
}

/* No threshold comes above what can be asked for, or below what was. */
static void test_thresholds(void **state) {
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 640, .height = 480};
    static const char *const asked[] = {"0.05", "0.3", "0.6", "0.9", "0.95"};
    struct error err;
    for (unsigned i = 0; i < sizeof asked / sizeof *asked; i++) {
        set_up(state);
        assert_int_equal(parameters_set(&parameters, "detect_threshold", asked[i], &err), ST_OK);
        plan(&shape, 1);
        assert_true(searched(1)->threshold[0] >= searched(0)->threshold[0] &&
                    searched(1)->threshold[0] <= 0.95);
    }
}

/* The planes of a JPEG are searched as they are, also of odd sides, so that the usual search is that of
 * normal effort to the byte. */
static void test_planes(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const struct image_shape shape = {.model = PIXEL_YCBCR,
                                          .depth = 8,
                                          .chroma_shift_x = (uint8_t)(i & 1),
                                          .chroma_shift_y = (uint8_t)(i >> 1),
                                          .width = 641,
                                          .height = 479};
        assert_true(detection_takes_planes(&parameters, &shape, 1));
    }
}

/* gravity=faces searches, but its boxes are no regions. */
static void test_followed(void **state) {
    (void)state;
    const struct image_shape shape = {.model = PIXEL_RGB, .depth = 8, .width = 800, .height = 600};
    struct error err = {0};
    parameters_init(&parameters, filter_find("resize"));
    parameters.detect.possible = UINT32_MAX;
    assert_int_equal(parameters_parse(&parameters, "width=90&height=90&fit=cover&gravity=faces", &err),
                     ST_OK);
    assert_int_equal(parameters_check(&parameters, &err), ST_OK);
    assert_int_equal(parameters_detect(&parameters), 0);
    assert_int_equal(parameters_search(&parameters), 1 << DETECTOR_FACES);
    assert_false(parameters_select(&parameters));
    plan(&shape, 1);
    assert_int_equal(detection.count, 1);
    assert_int_equal(detection.counted, 0);
    assert_int_equal(parameters_set(&parameters, "detect", "faces,text", &err), ST_OK);
    plan(&shape, 1);
    assert_int_equal(detection.count, 2);
    assert_int_equal(detection.counted, 1 << DETECTOR_FACES | 1 << DETECTOR_TEXT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_high_effort, set_up),
        cmocka_unit_test_setup(test_several_detectors, set_up),
        cmocka_unit_test_setup(test_one_network, set_up),
        cmocka_unit_test_setup(test_halved, set_up),
        cmocka_unit_test_setup(test_thresholds, set_up),
        cmocka_unit_test_setup(test_planes, set_up),
        cmocka_unit_test(test_followed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
