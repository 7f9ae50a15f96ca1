/* SPDX-License-Identifier: MIT
 * Redaction fails closed: without a readable model or memory for its masks, a request gets an error and no
 * picture. The list of faces that were found goes only to clients that ask for it. */
#include "server/outcome.h"
#include "server/picture/envelope.h"
#include "server/picture/selection.h"
#include "server/picture/transcode_mask.h"
#include "server/request.h"
#include "server/route.h"
#include "server/search/detection.h"
#include "tests/unit/core/slot_fixture.h"

#include <stdio.h>
#include <stdlib.h>

enum { SIDE = 2000 };

/* A model that cannot be read finds no faces, which must not look like a picture without any. */
static void test_a_model_that_cannot_be_read(void **state) {
    (void)state;
    static struct detection_found found;
    static struct candidates none;
    struct model model = {.fd = -1, .tried = true, .failure = {.status = ST_CORRUPT, .text = "damaged"}};
    struct detection detection = {.count = 1, .wanted = 1, .search = {{.detectors = 1}}, .found = &found};
    struct error err = {0};
    detection.result.plane[0].data = (uint8_t *)&none;
    pthread_mutex_init(&model.lock, NULL);
    assert_int_equal(detection_read(&detection, 0, &(struct parameters){0}, &(struct model *){&model}, &err),
                     ST_CORRUPT);
    assert_non_null(strstr(err.text, "damaged"));
    pthread_mutex_destroy(&model.lock);
}

/* Neither of the two masks may be missing. */
static void test_masks_without_memory(void **state) {
    (void)state;
    const struct image_shape stored = {.model = PIXEL_RGB, .depth = 8, .width = SIDE, .height = SIDE};
    struct selection selection = {.wanted = true, .redact = true};
    size_t one = selection_mask_bytes(&selection, &stored);
    assert_true(one >= SIDE * SIDE);
    for (size_t masks = 0; masks <= 2; masks++) {
        struct slot_pool *pool = make_pool(masks * one + MIB);
        struct slot *slot = acquire(pool);
        struct error err = {0};
        enum status status = selection_take_memory(&selection, slot, &stored, &err);
        assert_int_equal(status == ST_OK, masks == 2);
        assert_true(masks == 2 || err.status == status);
        slot_give_back(slot);
        slot_pool_destroy(pool);
    }
}

/* Without regions there is no mask, which later steps would take for one that covers nothing. */
static void test_no_masks_where_none_are_wanted(void **state) {
    (void)state;
    const struct image_shape stored = {.model = PIXEL_RGB, .depth = 8, .width = SIDE, .height = SIDE};
    struct selection selection = {0};
    struct slot_pool *pool = make_pool(MIB);
    struct slot *slot = acquire(pool);
    struct error err = {0};
    assert_int_equal(selection_take_memory(&selection, slot, &stored, &err), ST_OK);
    assert_null(selection.mask.plane[0].data);
    assert_null(selection.spare.plane[0].data);
    assert_int_equal(slot->used, 0);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

/* There is a list only of faces that were found, and only for who asks. */
static void test_lists_of_faces(void **state) {
    (void)state;
    static struct detection_found found;
    const struct detection detection = {.count = 1, .wanted = 1, .counted = 1, .found = &found};
    for (unsigned i = 0; i < 4; i++) {
        struct parameters parameters;
        struct outcome outcome = {0};
        parameters_init(&parameters, filter_get(FILTER_BLUR));
        parameters.detect.report = i & 1;
        found.boxes[0].count = i / 2;
        detection_note(&detection, &parameters, &outcome);
        assert_true(outcome.searched == 1 && outcome.found[0] == i / 2);
        assert_int_equal(outcome.report && outcome.report[0][0], i == 3);
        free(outcome.report);
    }
}

/* A list of more boxes than its memory holds ends with the last whole one. */
static void test_a_list_without_room(void **state) {
    (void)state;
    static struct boxes boxes = {.count = BOXES_MAX};
    struct {
        char text[OUTCOME_REPORT_MAX], behind[64];
    } list;
    memset(&list, '#', sizeof list);
    for (unsigned i = 0; i < BOXES_MAX; i++) {
        boxes.box[i] = (struct box){.x = 1000, .y = 1000, .width = 100, .height = 100, .score = 0.5};
    }
    detection_report(&boxes, 1, &(struct boxes_frame){.width = 100000, .height = 100000}, list.text);
    const size_t length = strnlen(list.text, sizeof list.text);
    assert_in_range(length, OUTCOME_REPORT_MAX - 64, OUTCOME_REPORT_MAX - 1);
    assert_string_equal(list.text + length - 5, "0.500");
    assert_int_equal(list.behind[0], '#');
}

/* The same of the list that a GPU gets. */
static void test_a_list_for_a_gpu_without_memory(void **state) {
    (void)state;
    static struct parameters parameters;
    static struct work_plan plan;
    parameters_init(&parameters, filter_get(FILTER_BLUR));
    for (unsigned full = 0; full < 2; full++) {
        struct slot_pool *pools[] = {make_pool(MIB), make_pool(MIB)};
        struct slot *slot = acquire(pools[0]), *own = acquire(pools[1]);
        struct transcode_mask mask;
        struct error err = {0};
        bool wanted;
        plan = (struct work_plan){.parameters = &parameters,
                                  .stored = {.model = PIXEL_RGB, .depth = 8, .width = 64, .height = 64},
                                  .selection = {.wanted = true, .redact = true, .orientation = 1}};
        assert_int_equal(region_parse(&plan.selection.region, "8,8,16,16", &err), ST_OK);
        assert_true(!full || slot_take(slot, MIB, &err));
        enum status status = transcode_mask_make(&mask, &plan, slot, own, &wanted, &err);
        assert_int_equal(status, full ? ST_LIMIT : ST_OK);
        assert_true(full || mask.plan.rects > 0);
        slot_give_back(slot);
        slot_give_back(own);
        slot_pool_destroy(pools[0]);
        slot_pool_destroy(pools[1]);
    }
}

/* Without memory for its list of regions a request is refused, as it would hide less than it asks for. */
static void test_a_list_of_regions_without_memory(void **state) {
    (void)state;
    static const char body[] =
        "--simple\r\nContent-Disposition: form-data; name=\"image\"; filename=\"p\"\r\n\r\nP\r\n"
        "--simple\r\nContent-Disposition: form-data; "
        "name=\"regions\"\r\n\r\n[{\"box\":[0,0,9,9]}]\r\n--simple--\r\n";
    for (unsigned full = 0; full < 2; full++) {
        struct slot_pool *pool = make_pool(2 * MIB);
        static struct request request;
        struct error err = {0};
        memset(&request, 0, sizeof request);
        request.slot = acquire(pool);
        request.route = &(const struct route){.path = "/blur"};
        snprintf(request.content_type, sizeof request.content_type, "%s",
                 "multipart/form-data; boundary=simple");
        request.body_size = sizeof body - 1;
        parameters_init(&request.parameters, filter_get(FILTER_BLUR));
        reserve(request.slot, full ? 2 * MIB - 4096 : sizeof body);
        memcpy(request.slot->memory, body, sizeof body);
        enum status status = envelope_open(&request, &err);
        assert_int_equal(status, full ? ST_LIMIT : ST_OK);
        assert_int_equal(err.status, status);
        assert_int_equal(request.picture.size, full ? 0 : 1);
        slot_give_back(request.slot);
        slot_pool_destroy(pool);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_that_cannot_be_read),
        cmocka_unit_test(test_masks_without_memory),
        cmocka_unit_test(test_no_masks_where_none_are_wanted),
        cmocka_unit_test(test_lists_of_faces),
        cmocka_unit_test(test_a_list_without_room),
        cmocka_unit_test(test_a_list_of_regions_without_memory),
        cmocka_unit_test(test_a_list_for_a_gpu_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
