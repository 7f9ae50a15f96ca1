/* SPDX-License-Identifier: MIT
 * Redaction fails closed: without a readable model or memory for its masks, a request gets an error and no
 * picture. The list of faces that were found goes only to clients that ask for it. */
#include "server/outcome.h"
#include "server/picture/detection.h"
#include "server/picture/selection.h"
#include "tests/unit/core/slot_fixture.h"

#include <stdlib.h>

enum { SIDE = 2000 };

/* A model that cannot be read finds no faces, which must not look like a picture without any. */
static void test_a_model_that_cannot_be_read(void **state) {
    (void)state;
    static struct detection_found found;
    static struct candidates none;
    struct model model = {.fd = -1, .tried = true, .failure = {.status = ST_CORRUPT, .text = "damaged"}};
    struct detection detection = {.wanted = true, .found = &found};
    struct error err = {0};
    detection.result.plane[0].data = (uint8_t *)&none;
    pthread_mutex_init(&model.lock, NULL);
    assert_int_equal(detection_read(&detection, &model, &err), ST_CORRUPT);
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
    const struct detection detection = {.wanted = true, .found = &found};
    for (unsigned i = 0; i < 4; i++) {
        struct parameters parameters;
        struct outcome outcome = {0};
        parameters_init(&parameters, filter_get(FILTER_BLUR));
        parameters.detect.report = i & 1;
        found.boxes.count = i / 2;
        detection_note(&detection, &parameters, &outcome);
        assert_true(outcome.searched && outcome.faces == i / 2);
        assert_int_equal(outcome.report != NULL, i == 3);
        free(outcome.report);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_model_that_cannot_be_read),
        cmocka_unit_test(test_masks_without_memory),
        cmocka_unit_test(test_no_masks_where_none_are_wanted),
        cmocka_unit_test(test_lists_of_faces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
