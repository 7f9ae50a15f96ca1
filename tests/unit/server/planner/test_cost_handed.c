/* SPDX-License-Identifier: MIT
 * The cost of ways on which a GPU does a part, such as progressive JPEGs whose coefficients go to one. */
#include "server/planner/cost.h"

#include "server/planner/intent.h"

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
    assert_true(cost.ways[WAY_GPU_FILE].table_ns == 0 && cost_hands_first(&cost) && cost.way == WAY_CPU);
    cost = predict(&model, &small, CODEC_JPEG);
    assert_true(cost.ways[WAY_GPU_COEFFICIENTS].table_ns > 0 && !cost_hands_first(&cost));
}

static void test_what_no_device_does(void **state) {
    (void)state;
    static const struct cost_model model;
    struct peek baseline = photo;
    baseline.progressive = false;
    baseline.baseline = true;
    assert_int_equal(predict(&model, &baseline, CODEC_JPEG).ways[WAY_GPU_COEFFICIENTS].table_ns, 0);
    assert_int_equal(predict(&model, &photo, CODEC_PNG).ways[WAY_GPU_COEFFICIENTS].table_ns, 0);
    parameters.output.progressive = true;
    assert_int_equal(predict(&model, &photo, CODEC_JPEG).ways[WAY_GPU_COEFFICIENTS].table_ns, 0);
    parameters.output.progressive = false;
}

/* Its time is learnt apart from that on the processor alone. */
static void test_learning(void **state) {
    (void)state;
    static struct cost_model model;
    const struct cost alone = predict(&model, &photo, CODEC_JPEG);
    struct cost cost = alone;
    cost_take(&cost, &model, WAY_GPU_COEFFICIENTS);
    const struct way_cost *handed = &cost.ways[WAY_GPU_COEFFICIENTS];
    assert_true(handed->kind != cost.ways[WAY_CPU].kind && handed->kind < COST_KINDS);
    assert_true(cost.ns < alone.ns * 3 / 4);
    cost_learn(&model, &cost, cost.way, 2 * handed->table_ns, 0);
    struct cost later = predict(&model, &photo, CODEC_JPEG);
    assert_int_equal(later.ns, alone.ns);
    cost_take(&later, &model, WAY_GPU_COEFFICIENTS);
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
    assert_in_range(cost.ways[WAY_GPU_SCANS].table_ns, 25000000, 40000000); /* 415 KB */
    assert_int_equal(cost.ways[WAY_GPU_FILE].table_ns, 0); /* the ratio of whole jobs is not learnt from it */
    cost_take(&cost, &model, WAY_GPU_COEFFICIENTS);
    assert_in_range(cost.ways[WAY_GPU_SCANS].table_ns, 2 * cost.ns, 10 * cost.ns); /* a core is sooner */
    assert_int_equal(predict(&model, &large, CODEC_JPEG).ways[WAY_GPU_SCANS].table_ns, 0);
    assert_true(predict(&model, &large, CODEC_JPEG).ways[WAY_GPU_COEFFICIENTS].table_ns > 0);
    large.height = 2100; /* 1.01 MB */
    assert_true(predict(&model, &large, CODEC_JPEG).ways[WAY_GPU_SCANS].table_ns > 55000000);
    assert_int_equal(predict(&model, &baseline, CODEC_JPEG).ways[WAY_GPU_SCANS].table_ns, 0);
    assert_int_equal(predict(&model, &photo, CODEC_PNG).ways[WAY_GPU_SCANS].table_ns, 0);
}

/* Each way has a time and a place of its own, and what is learnt of one changes no other. */
static void test_ways(void **state) {
    (void)state;
    static const struct {
        struct peek header;
        enum codec_id output;
        enum way way;
    } cases[] = {
        {{.codec = CODEC_JPEG, .sampling = 0x22, .baseline = true}, CODEC_PNG, WAY_GPU_DECODE},
        {{.codec = CODEC_JPEG, .sampling = 0x22, .progressive = true}, CODEC_JPEG, WAY_GPU_COEFFICIENTS},
        {{.codec = CODEC_PNG}, CODEC_JPEG, WAY_GPU_ENCODE},
        {{.codec = CODEC_PNG}, CODEC_PNG, WAY_GPU_FILTER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static struct cost_model model;
        struct peek header = cases[i].header;
        header.width = 1920, header.height = 1080, header.channels = 3, header.depth = 8;
        struct cost cost = predict(&model, &header, cases[i].output), later;
        const struct way_cost *way = &cost.ways[cases[i].way];
        assert_int_equal(cost.way, WAY_CPU);
        int64_t alone = cost.ns;
        assert_true(way->table_ns > 0 && way->kind < COST_KINDS && way->kind != cost.ways[WAY_CPU].kind);
        cost_take(&cost, &model, cases[i].way);
        assert_true(llabs(cost.ns - way->table_ns) <= way->table_ns / 1000 && cost.way == cases[i].way);
        assert_true(cost.ns < alone);
        cost_learn(&model, &cost, cost.way, 2 * way->table_ns, 0);
        later = predict(&model, &header, cases[i].output);
        assert_int_equal(later.ns, alone);
        cost_take(&later, &model, cases[i].way);
        assert_true(later.ns > cost.ns);
        parameters.input.backend = BACKEND_CPU;
        cost = predict(&model, &header, cases[i].output);
        assert_int_equal(cost.ways[cases[i].way].table_ns, 0);
        parameters.input.backend = BACKEND_AUTO;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_ones_go_to_the_device),
        cmocka_unit_test(test_what_no_device_does),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_ways),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
