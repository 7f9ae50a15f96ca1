/* SPDX-License-Identifier: MIT
 * The search of a network gives the same bytes at every level and on any number of threads: those of the
 * reference. The models have random weights. SEED=n repeats a run. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/clock.h"
#include "cpu/cpu.h"
#include "detect/faces/faces.h"
#include "detect/text/text.h"
#include "tests/filters/filter_levels.h"
#include "tests/filters/network_fixture.h"
#include "tests/filters/reference/reference_anchors.h"
#include "tests/filters/reference/reference_components.h"
#include "tests/filters/reference/reference_network.h"
#include "tests/filters/reference/reference_padded.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 250; /* a network, by plain loops, too */

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum {
    FACES = 1 << DETECTOR_FACES,
    TEXT = 1 << DETECTOR_TEXT,
    PLATES = 1 << DETECTOR_PLATES,
    PERSONS = 1 << DETECTOR_PERSONS
};

enum { PARTS = 5, WANTED = 3000 /* candidates of a large picture */ };

static uint32_t searched;               /* by the group of tests that runs: a bit for each detector */
static const struct detector *detector; /* the first of them */
static struct network_fixture fixture;
static struct model model;

static void open_model(struct model *opened, const uint8_t *file) {
    struct error err = {0};
    int fd = memfd_create("model", 0);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, file, fixture.size), fixture.size);
    assert_int_equal(model_adopt(opened, detector, fd, "model", &err), ST_OK);
}

static int setup(void **state) {
    levels_setup(state);
    struct levels *levels = *state;
    detector = detector_get(detectors_first(searched));
    network_fixture_make(&fixture, detector);
    open_model(&model, fixture.file);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (levels->backend[i]) {
            cpu_backend_use_model(levels->backend[i], detectors_first(searched), &model);
        }
    }
    return 0;
}

static int teardown(void **state) {
    levels_teardown(state);
    model_close(&model);
    network_fixture_free(&fixture);
    return 0;
}

/* ---- what is expected ---- */

/* What is expected of the outputs of the detectors that search; NULL: of the others. */
struct results {
    int32_t *of[NETWORK_OUTPUTS_MAX];
};

/* The sums of all cells of the padded picture, or its maps. */
static struct results expected_sums(const struct image *image, uint32_t width, uint32_t height) {
    uint8_t *rgb = reference_padded(image, (uint32_t)detector->border, width, height);
    struct results results = {0};
    uint32_t outputs = 0;
    for (unsigned id = 0; searched >> id; id++) {
        outputs |= searched >> id & 1 ? detector_outputs(detector_get((enum detector_id)id)) : 0;
    }
    for (unsigned i = 0; i < NETWORK_OUTPUTS_MAX; i++) {
        results.of[i] = outputs >> i & 1
                            ? reference_network(&fixture.weights, i, rgb, (int)width, (int)height, NULL)
                            : NULL;
    }
    free(rgb);
    return results;
}

static int descending(const void *a, const void *b) {
    int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one < other) - (one > other);
}

/* The probability that about WANTED cells pass; 0 where there are no more cells, or all of a map's may. */
static double threshold_for(const int32_t *sums, size_t cells) {
    if (searched != FACES) {
        return 0.5;
    }
    if (cells <= WANTED) {
        return 0;
    }
    int32_t *heat = calloc(cells, sizeof *heat);
    assert_non_null(heat);
    for (size_t i = 0; i < cells; i++) {
        heat[i] = sums[i * CANDIDATES_SUMS];
    }
    qsort(heat, cells, sizeof *heat, descending);
    double value = heat[WANTED] * (double)fixture.weights.layers[FACE_heads].scale[0];
    free(heat);
    return 1 / (1 + exp(-value));
}

/* Of the maps. */
static void expect_components(const struct results *results, uint32_t width, uint32_t height,
                              double threshold, struct candidates *expected) {
    for (unsigned id = 0; searched >> id; id++) {
        const struct detector *one = detector_get((enum detector_id)id);
        struct components_bounds bounds;
        if (searched >> id & 1) {
            assert_true(components_bounds_of(one, one->least(NULL, threshold), &bounds));
            reference_components(results->of[one->output], width / (uint32_t)one->cell,
                                 height / (uint32_t)one->cell, bounds, expected);
        }
    }
}

static struct candidates *expected_candidates(const struct results *results, uint32_t width, uint32_t height,
                                              double threshold) {
    struct candidates *expected = calloc(1, sizeof *expected);
    assert_non_null(expected);
    if (searched == PERSONS) {
        reference_anchors(results->of, width, height, detector->least(NULL, threshold), expected);
        return expected;
    }
    if (searched != FACES) {
        expect_components(results, width, height, threshold, expected);
        return expected;
    }
    const int32_t least = faces_least(&fixture.weights, threshold), *sums = results->of[0];
    const uint32_t columns = width / FACE_CELL;
    for (uint32_t i = 0; i < columns * (height / FACE_CELL); i++, sums += CANDIDATES_SUMS) {
        if (sums[0] >= least && expected->count++ < CANDIDATES_MAX) {
            struct candidate *candidate = &expected->candidate[expected->count - 1];
            candidate->x = (uint16_t)(i % columns);
            candidate->y = (uint16_t)(i / columns);
            memcpy(candidate->sum, sums, sizeof candidate->sum);
        }
    }
    if (expected->count > CANDIDATES_MAX) {
        memset(expected->candidate, 0, sizeof expected->candidate);
    }
    return expected;
}

/* ---- runs ---- */

static struct chain detect_chain(const struct image_shape *shape, double threshold) {
    struct chain chain = {0};
    const struct detect_arguments arguments = {.wanted = searched,
                                               .threshold = {[0 ... DETECTORS - 1] = threshold}};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_DETECT), &arguments, shape, NULL), ST_OK);
    return chain;
}

static struct candidates *candidates_of(const struct test_image *result) {
    return (struct candidates *)(void *)plane_row(&result->image.plane[0], 0);
}

/* Runs at one level in exactly the memory that the backend asks for, and compares. */
static void check_level(const struct levels *levels, unsigned level, const struct chain *chain,
                        const struct test_image *source, const struct candidates *expected) {
    const struct image_shape shape = image_shape(&source->image), result = chain_result(chain, &shape);
    struct test_image target = test_image_make(&result);
    struct crew *crew = levels->helpers ? helpers_crew(levels->helpers) : NULL;
    size_t bytes = backend_run_bytes(levels->backend[level], chain, &shape, crew ? PARTS : 1);
    uint8_t *memory = aligned_alloc(IMAGE_ALIGNMENT, bytes + IMAGE_ALIGNMENT);
    assert_non_null(memory);
    memset(memory, GUARD_BYTE, bytes + IMAGE_ALIGNMENT);
    const struct chain_run run = {.chain = chain,
                                  .source = &source->image,
                                  .target = &target.image,
                                  .crew = crew,
                                  .working = {memory, bytes}};
    struct error err = {0};
    assert_int_equal(lane_run(levels->lane[level], &run, NULL, &err), ST_OK);
    const struct candidates *found = candidates_of(&target);
    if (memcmp(found, expected, sizeof *found) != 0) {
        fail_msg("%s at %ux%u model %d of %u bits: %u candidates, expected %u", levels->name[level],
                 shape.width, shape.height, (int)shape.model, shape.depth, found->count, expected->count);
    }
    for (unsigned i = 0; i < IMAGE_ALIGNMENT; i++) {
        assert_int_equal(memory[bytes + i], GUARD_BYTE);
    }
    free(memory);
    test_image_free(&target);
}

static void check_content(struct levels *levels, const struct image_shape *shape, enum content content) {
    struct test_image source = test_image_make(shape);
    test_image_fill(&source, content, &levels->random);
    const struct chain any = detect_chain(shape, 0);
    const struct detect_plan *plan = &any.step[0].detect;
    const struct results results = expected_sums(&source.image, plan->width, plan->height);
    const size_t cells = (size_t)plan->width * plan->height / (size_t)(detector->cell * detector->cell);
    const double threshold = threshold_for(results.of[0], cells);
    const struct chain chain = detect_chain(shape, threshold);
    struct candidates *expected = expected_candidates(&results, plan->width, plan->height, threshold);
    assert_true(expected->count > 0);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (levels->lane[i]) {
            check_level(levels, i, &chain, &source, expected);
        }
    }
    free(expected);
    free(results.of[0]);
    free(results.of[1]);
    test_image_free(&source);
}

static struct image_shape colours(uint32_t width, uint32_t height) {
    return (struct image_shape){.model = PIXEL_RGB, .depth = 8, .width = width, .height = height};
}

static const uint32_t sizes[][2] = {{1, 1},   {1, 70},  {70, 1},   {32, 32},  {33, 31},
                                    {37, 53}, {96, 32}, {127, 61}, {149, 97}, {401, 64}};

static void test_sizes(void **state) {
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        const struct image_shape shape = colours(sizes[i][0], sizes[i][1]);
        check_content(*state, &shape, CONTENT_NOISE);
    }
}

static void test_extreme_samples(void **state) {
    for (unsigned content = 0; content < CONTENT_COUNT; content++) {
        const struct image_shape shape = colours(100, 75);
        check_content(*state, &shape, content);
    }
}

static void test_models(void **state) {
    struct levels *levels = *state;
    for (unsigned i = 0; i < SIMPLE_MODELS; i++) {
        const struct image_shape shape = simple_shape(i, 61, 35);
        check_content(levels, &shape, CONTENT_NOISE);
    }
    for (uint8_t i = 0; i < 9; i++) {
        const struct image_shape shape = {.model = PIXEL_YCBCR,
                                          .depth = 8,
                                          .chroma_shift_x = i % 3,
                                          .chroma_shift_y = i / 3,
                                          .width = 61,
                                          .height = 35};
        check_content(levels, &shape, CONTENT_NOISE);
    }
}

static void test_large_and_long(void **state) {
    const uint32_t by = searched == FACES ? 1 : 4; /* the references of others take longer */
    const struct image_shape large = colours(640 / by, 384 / by), wide = colours(8191 / by, 1),
                             high = colours(3, 3000 / by);
    check_content(*state, &large, CONTENT_PHOTO);
    check_content(*state, &wide, CONTENT_NOISE);
    check_content(*state, &high, CONTENT_NOISE);
}

static void test_bands(void **state) {
    struct levels *levels = *state;
    levels->helpers = helpers_start(PARTS - 1, 1, false);
    for (unsigned i = 0; i < COUNT(sizes); i++) {
        const struct image_shape shape = colours(sizes[i][0], 3 * sizes[i][1]);
        check_content(levels, &shape, CONTENT_NOISE);
    }
    assert_true(helpers_stop(levels->helpers) > 0);
    levels->helpers = NULL;
}

/* ---- failures ---- */

static enum status run_once(struct backend *backend, const struct image_shape *shape, int64_t deadline,
                            struct error *err) {
    struct lane *lane = NULL;
    struct test_image source = test_image_make(shape);
    const struct chain chain = detect_chain(shape, 0);
    const struct image_shape result = chain_result(&chain, shape);
    struct test_image target = test_image_make(&result);
    const struct chain_run run = {
        .chain = &chain, .source = &source.image, .target = &target.image, .deadline_ns = deadline};
    assert_int_equal(lane_create(backend, &lane, err), ST_OK);
    enum status status = lane_run(lane, &run, NULL, err);
    lane_destroy(lane);
    test_image_free(&source);
    test_image_free(&target);
    return status;
}

static void test_too_many_candidates(void **state) {
    struct levels *levels = *state;
    const struct image_shape shape = colours(512, 288);
    if (searched != FACES) {
        skip(); /* no map of so many components */
    }
    struct test_image source = test_image_make(&shape);
    const struct chain chain = detect_chain(&shape, 0);
    struct candidates *expected = calloc(1, sizeof *expected);
    assert_non_null(expected);
    expected->count = 128 * 72;
    assert_true(expected->count > CANDIDATES_MAX);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (levels->lane[i]) {
            check_level(levels, i, &chain, &source, expected);
        }
    }
    free(expected);
    test_image_free(&source);
}

static void test_deadline(void **state) {
    const struct levels *levels = *state;
    const struct image_shape shape = colours(64, 64);
    struct error err = {0};
    assert_int_equal(run_once(levels->backend[0], &shape, clock_ns() - 1, &err), ST_LIMIT);
    assert_int_equal(run_once(levels->backend[0], &shape, 0, &err), ST_OK);
}

static void test_without_a_model(void **state) {
    (void)state;
    struct backend *backend;
    const struct image_shape shape = colours(64, 64);
    struct error err = {0};
    assert_int_equal(cpu_backend_open("auto", &backend, &err), ST_OK);
    assert_int_equal(run_once(backend, &shape, 0, &err), ST_UNSUPPORTED);
    struct model damaged = {0};
    fixture.file[100000] ^= 1;
    open_model(&damaged, fixture.file);
    fixture.file[100000] ^= 1;
    cpu_backend_use_model(backend, detectors_first(searched), &damaged);
    assert_int_equal(run_once(backend, &shape, 0, &err), ST_CORRUPT);
    backend_close(backend);
    model_close(&damaged);
}

/* A few bytes for each pixel; text keeps more layers whole. */
static void test_memory(void **state) {
    const struct levels *levels = *state;
    const struct image_shape large = colours(8192, 8192);
    const size_t tenths = searched == FACES ? 31 : searched == (TEXT | PLATES) ? 215 : 162; /* of a byte */
    const struct chain chain = detect_chain(&large, 0.5);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (levels->backend[i]) {
            size_t one = backend_run_bytes(levels->backend[i], &chain, &large, 1);
            size_t eight = backend_run_bytes(levels->backend[i], &chain, &large, 8);
            assert_true(one < (size_t)8192 * 8192 * tenths / 10 + (800 << 10));
            assert_true(eight - one <= (size_t)7 * 800 << 10);
            assert_true(cpu_backend_network_bytes(levels->backend[i], detectors_first(searched)) < (size_t)8
                                                                                                       << 20);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),    cmocka_unit_test(test_extreme_samples),
        cmocka_unit_test(test_models),   cmocka_unit_test(test_large_and_long),
        cmocka_unit_test(test_bands),    cmocka_unit_test(test_too_many_candidates),
        cmocka_unit_test(test_deadline), cmocka_unit_test(test_without_a_model),
        cmocka_unit_test(test_memory),
    };
    static const uint32_t groups[] = {FACES, TEXT, PLATES, TEXT | PLATES, PERSONS};
    int failed = 0;
    for (unsigned i = 0; i < COUNT(groups); i++) {
        searched = groups[i];
        failed += cmocka_run_group_tests_name(detector_get(detectors_first(searched))->name, tests, setup,
                                              teardown);
    }
    return failed;
}
