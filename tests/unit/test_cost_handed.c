/* SPDX-License-Identifier: MIT
 * The cost of progressive JPEGs whose coefficients go to a GPU. */
#include "server/queue/cost.h"

#include "server/picture/intent.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

static const struct peek photo = {.codec = CODEC_JPEG,
                                  .width = 1920,
                                  .height = 1080,
                                  .channels = 3,
                                  .depth = 8,
                                  .sampling = 0x22,
                                  .progressive = true};

static struct parameters parameters;

static struct cost predict(const struct cost_model *model, const struct peek *header, enum codec_id output) {
    struct intent intent = {0};
    size_t size = (size_t)header->width * header->height / 5;
    intent_guess(&intent, header, size, codec_get(output)->mime, &parameters);
    return cost_predict(model, &intent);
}

static int set_up(void **state) {
    (void)state;
    parameters_init(&parameters, filter_get(FILTER_BLUR));
    return 0;
}

static void test_large_ones_go_to_the_device(void **state) {
    (void)state;
    static const struct cost_model model;
    struct peek small = photo;
    small.width = small.height = 64;
    struct cost cost = predict(&model, &photo, CODEC_JPEG);
    assert_true(cost.device_table_ns == 0 && cost_hands_first(&cost) && !cost.handed);
    cost = predict(&model, &small, CODEC_JPEG);
    assert_true(cost.handed_table_ns > 0 && !cost_hands_first(&cost));
}

static void test_what_no_device_does(void **state) {
    (void)state;
    static const struct cost_model model;
    struct peek baseline = photo;
    baseline.progressive = false;
    baseline.baseline = true;
    assert_int_equal(predict(&model, &baseline, CODEC_JPEG).handed_table_ns, 0);
    assert_int_equal(predict(&model, &photo, CODEC_PNG).handed_table_ns, 0);
    parameters.output.progressive = true;
    assert_int_equal(predict(&model, &photo, CODEC_JPEG).handed_table_ns, 0);
    parameters.output.progressive = false;
}

/* Its time is learnt apart from that on the processor alone. */
static void test_learning(void **state) {
    (void)state;
    static struct cost_model model;
    const struct cost alone = predict(&model, &photo, CODEC_JPEG);
    struct cost cost = alone;
    cost_hand_over(&cost, &model);
    assert_true(cost.handed && cost.kind != alone.kind && cost.kind < COST_KINDS);
    assert_true(cost.ns < alone.ns * 3 / 4);
    cost_learn(&model, &cost, 2 * cost.table_ns);
    struct cost later = predict(&model, &photo, CODEC_JPEG);
    assert_int_equal(later.ns, alone.ns);
    cost_hand_over(&later, &model);
    assert_true(later.ns > cost.ns * 3 / 2);
}

/* A GPU's reader takes files up to a size; most of its time depends on the bytes. */
static void test_reading(void **state) {
    (void)state;
    static const struct cost_model model;
    struct peek baseline = photo, large = photo;
    baseline.progressive = false;
    baseline.baseline = true;
    large.width = large.height = 2400; /* 1.15 MB */
    struct cost cost = predict(&model, &photo, CODEC_JPEG);
    assert_in_range(cost.read_ns, 25000000, 40000000); /* 415 KB */
    assert_int_equal(cost.device_table_ns, 0);         /* the ratio of whole jobs is not learnt from it */
    cost_hand_over(&cost, &model);
    assert_in_range(cost.read_ns, 2 * cost.ns, 10 * cost.ns); /* a core is sooner */
    assert_int_equal(predict(&model, &large, CODEC_JPEG).read_ns, 0);
    assert_true(predict(&model, &large, CODEC_JPEG).handed_table_ns > 0);
    large.height = 2100; /* 1.01 MB */
    assert_true(predict(&model, &large, CODEC_JPEG).read_ns > 55000000);
    assert_int_equal(predict(&model, &baseline, CODEC_JPEG).read_ns, 0);
    assert_int_equal(predict(&model, &photo, CODEC_PNG).read_ns, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_ones_go_to_the_device),
        cmocka_unit_test(test_what_no_device_does),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_reading),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
