/* SPDX-License-Identifier: MIT
 * The cost of ways on which a GPU does a part, such as progressive JPEGs whose coefficients go to one. */
#include "server/planner/cost.h"

#include "server/planner/intent.h"
#include "tests/unit/server/planner/gpu_fixture.h"

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

static struct peek sequential(uint32_t width, uint32_t height) {
    struct peek header = photo;
    header.width = width, header.height = height;
    header.progressive = false, header.baseline = true;
    return header;
}

static struct parameters parameters;

static bool prefers_gpu;

static struct cost predict(const struct cost_model *model, const struct peek *header, enum codec_id output) {
    struct intent intent = {0};
    size_t size = (size_t)header->width * header->height / 5;
    intent_guess(&intent, header, size, codec_get(output)->mime, &parameters);
    return cost_predict(model, &intent, &gpu, prefers_gpu);
}

static int64_t device_ns(const struct cost_model *model, const struct peek *header) {
    return predict(model, header, CODEC_JPEG).ways[WAY_GPU_FILE].ns;
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
    assert_true(cost.ways[WAY_GPU_FILE].table_ns == 0 && cost.general == WAY_GPU_COEFFICIENTS);
    assert_int_equal(cost.way, cost.general);
    cost = predict(&model, &small, CODEC_JPEG);
    assert_true(cost.ways[WAY_GPU_COEFFICIENTS].table_ns > 0 && cost.general == WAY_GPU_FILTER);
}

static void test_what_no_device_does(void **state) {
    (void)state;
    static const struct cost_model model;
    const struct peek baseline = sequential(1920, 1080);
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
    const struct cost cost = predict(&model, &photo, CODEC_JPEG);
    const struct way_cost *handed = &cost.ways[WAY_GPU_COEFFICIENTS], *alone = &cost.ways[WAY_CPU];
    assert_true(handed->kind != alone->kind && handed->kind < COST_KINDS);
    assert_true(handed->ns < alone->ns * 3 / 4);
    cost_learn(&model, &cost, WAY_GPU_COEFFICIENTS, 2 * handed->table_ns, 0);
    const struct cost later = predict(&model, &photo, CODEC_JPEG);
    assert_int_equal(later.ways[WAY_CPU].ns, alone->ns);
    assert_true(later.ways[WAY_GPU_COEFFICIENTS].ns > handed->ns * 3 / 2);
}

/* A GPU decodes the scans of files up to a size; most of its time depends on the bytes. */
static void test_reading(void **state) {
    (void)state;
    static const struct cost_model model;
    const struct peek baseline = sequential(1920, 1080);
    struct peek large = photo;
    large.width = large.height = 2400; /* 1.15 MB */
    struct cost cost = predict(&model, &photo, CODEC_JPEG);
    assert_in_range(cost.ways[WAY_GPU_SCANS].table_ns, 25000000, 40000000); /* 415 KB */
    assert_int_equal(cost.ways[WAY_GPU_FILE].table_ns, 0); /* the ratio of whole jobs is not learnt from it */
    int64_t core_ns = cost.ways[WAY_GPU_COEFFICIENTS].ns;
    assert_in_range(cost.ways[WAY_GPU_SCANS].ns, 2 * core_ns, 10 * core_ns);
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
        const struct cost cost = predict(&model, &header, cases[i].output);
        const struct way_cost *way = &cost.ways[cases[i].way];
        int64_t alone = cost.ways[WAY_CPU].ns;
        assert_true(way->table_ns > 0 && way->kind < COST_KINDS && way->kind != cost.ways[WAY_CPU].kind);
        assert_true(llabs(way->ns - way->table_ns) <= way->table_ns / 1000 && way->ns < alone);
        assert_true(cost.way == cases[i].way && cost.general == cases[i].way);
        cost_learn(&model, &cost, cost.way, 2 * way->table_ns, 0);
        const struct cost later = predict(&model, &header, cases[i].output);
        assert_int_equal(later.ways[WAY_CPU].ns, alone);
        assert_true(later.ways[cases[i].way].ns > way->ns);
        parameters.input.backend = BACKEND_CPU;
        const struct cost none = predict(&model, &header, cases[i].output);
        assert_true(none.ways[cases[i].way].table_ns == 0 && none.way == WAY_CPU);
        parameters.input.backend = BACKEND_AUTO;
    }
}

/* The learnt time of the device counts, up to four times the table's. */
static void test_where_it_is_done_first(void **state) {
    (void)state;
    static struct cost_model model;
    const struct peek small = sequential(500, 500), large = sequential(1920, 1080);
    const struct cost cost = predict(&model, &small, CODEC_JPEG);
    int64_t device = cost.ways[WAY_GPU_FILE].ns, worker = cost.ways[WAY_GPU_FILTER].ns;
    assert_true(worker > device && worker < 4 * device && cost.way == WAY_GPU_FILE);
    assert_int_equal(cost.general, WAY_GPU_FILTER);
    model.device_ratio = (float)worker / (float)device * 0.99F;
    assert_int_equal(predict(&model, &small, CODEC_JPEG).way, WAY_GPU_FILE);
    model.device_ratio = (float)worker / (float)device * 1.01F;
    assert_int_equal(predict(&model, &small, CODEC_JPEG).way, WAY_GPU_FILTER);
    prefers_gpu = true;
    assert_int_equal(predict(&model, &small, CODEC_JPEG).way, WAY_GPU_FILE);
    prefers_gpu = false;
    model.device_ratio = 60;
    assert_int_equal(predict(&model, &large, CODEC_JPEG).way, WAY_GPU_FILE);
}

static void test_learning_about_a_device(void **state) {
    (void)state;
    static struct cost_model model;
    const struct peek header = sequential(1920, 1080);
    const struct cost first = predict(&model, &header, CODEC_JPEG);
    const struct way_cost *device = &first.ways[WAY_GPU_FILE];
    assert_int_equal(device->ns, device->table_ns);
    for (unsigned i = 0; i < 28; i++) { /* a burst */
        cost_learn_device(&model, &first, 40 * device->table_ns);
    }
    assert_true(device_ns(&model, &header) < 6 * device->ns);
    for (unsigned i = 0; i < 200; i++) { /* single late ones change little */
        cost_learn_device(&model, &first, (i % 4 == 0 ? 40 : 1) * device->table_ns);
    }
    assert_true(device_ns(&model, &header) < device->ns * 5 / 4);
    for (unsigned i = 0; i < 80; i++) {
        cost_learn_device(&model, &first, 2 * device->table_ns);
        const struct cost cost = predict(&model, &header, CODEC_JPEG);
        assert_int_equal(cost.ways[WAY_GPU_FILE].table_ns, device->table_ns);
        assert_int_equal(cost.ways[WAY_CPU].ns, first.ways[WAY_CPU].ns);
    }
    assert_in_range(device_ns(&model, &header), device->ns * 19 / 10, device->ns * 21 / 10);
    static const int64_t extremes[] = {INT64_MAX, 0, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof extremes / sizeof *extremes; i++) {
        for (unsigned n = 0; n < 200; n++) {
            cost_learn_device(&model, &first, extremes[i]);
        }
        int64_t expected = i == 0 ? device->ns * 64 : device->ns / 64;
        assert_in_range(device_ns(&model, &header), expected * 9 / 10, expected * 11 / 10);
        assert_int_equal(predict(&model, &header, CODEC_JPEG).way, WAY_GPU_FILE); /* it is tried again */
    }
    int64_t before = device_ns(&model, &header);
    cost_learn(&model, &first, WAY_CPU, 2 * first.ways[WAY_CPU].table_ns, 0);
    assert_int_equal(device_ns(&model, &header), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_large_ones_go_to_the_device),
        cmocka_unit_test(test_what_no_device_does),
        cmocka_unit_test(test_learning),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_ways),
        cmocka_unit_test(test_where_it_is_done_first),
        cmocka_unit_test(test_learning_about_a_device),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
