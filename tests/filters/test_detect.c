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
#include "tests/filters/reference/reference_components.h"
#include "tests/filters/reference/reference_network.h"
#include "tests/unit/time_limit.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

unsigned time_limit_seconds = 250; /* a network, by plain loops, too */

#define COUNT(array) (sizeof(array) / sizeof *(array))

enum { PARTS = 5, WANTED = 3000 /* candidates of a large picture */ };

static enum detector_id searched; /* by the group of tests that runs */
static const struct detector *detector;
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
    detector = detector_get(searched);
    network_fixture_make(&fixture, detector);
    open_model(&model, fixture.file);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (levels->backend[i]) {
            cpu_backend_use_model(levels->backend[i], searched, &model);
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

static int clamped(double value) {
    return value < 0 ? 0 : value > 255 ? 255 : (int)value;
}

static void expected_pixel(const struct image *image, uint32_t x, uint32_t y, uint8_t rgb[3]) {
    const unsigned shift = image->depth - 8;
    if (image->model == PIXEL_YCBCR) {
        const struct plane *chroma = &image->plane[1];
        uint32_t cx = x >> chroma->shift_x, cy = y >> chroma->shift_y;
        double luma = test_sample(image, 0, x, y, 0);
        double cb = test_sample(image, 1, cx, cy, 0) - 128.0, cr = test_sample(image, 2, cx, cy, 0) - 128.0;
        rgb[0] = (uint8_t)clamped(luma + floor((91881 * cr + 32768) / 65536));
        rgb[1] = (uint8_t)clamped(luma + floor((-22554 * cb - 46802 * cr + 32768) / 65536));
        rgb[2] = (uint8_t)clamped(luma + floor((116130 * cb + 32768) / 65536));
        return;
    }
    const unsigned last = image->plane[0].channels - 1;
    const unsigned alpha =
        image_pixel_has_alpha(image->model) ? test_sample(image, 0, x, y, last) >> shift : 255;
    for (unsigned c = 0; c < 3; c++) {
        const unsigned sample = test_sample(image, 0, x, y, last >= 2 ? c : 0) >> shift;
        rgb[c] = (uint8_t)lround((sample * alpha + 128.0 * (255 - alpha)) / 255);
    }
}

/* The pixel of the picture that one of the padded picture is a copy of; the picture's size: black. */
static uint32_t origin(uint32_t place, uint32_t size) {
    if (detector->border == 0) {
        return place < size ? place : size;
    }
    int64_t at = (int64_t)place - detector->border;
    while (at < 0 || at >= size) {
        at = size == 1 ? 0 : at < 0 ? -at : 2 * ((int64_t)size - 1) - at;
    }
    return (uint32_t)at;
}

/* The sums of all cells of the padded picture, or its map. */
static int32_t *expected_sums(const struct image *image, uint32_t width, uint32_t height) {
    uint8_t *rgb = calloc((size_t)width * height, 3);
    assert_non_null(rgb);
    for (uint32_t y = 0; y < height; y++) {
        for (uint32_t x = 0; x < width; x++) {
            const uint32_t from_x = origin(x, image->width), from_y = origin(y, image->height);
            if (from_x < image->width && from_y < image->height) {
                expected_pixel(image, from_x, from_y, rgb + ((size_t)y * width + x) * 3);
            }
        }
    }
    int32_t *sums = reference_network(&fixture.weights, rgb, (int)width, (int)height, NULL);
    free(rgb);
    return sums;
}

static int descending(const void *a, const void *b) {
    int32_t one = *(const int32_t *)a, other = *(const int32_t *)b;
    return (one < other) - (one > other);
}

/* The probability that about WANTED cells pass; 0 where there are no more cells, or all of a map's may. */
static double threshold_for(const int32_t *sums, size_t cells) {
    if (searched == DETECTOR_TEXT) {
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

static struct candidates *expected_candidates(const int32_t *sums, uint32_t width, uint32_t height,
                                              double threshold) {
    struct candidates *expected = calloc(1, sizeof *expected);
    assert_non_null(expected);
    if (searched == DETECTOR_TEXT) {
        struct components_bounds bounds;
        assert_true(components_bounds_of(&detector_text, text_least(NULL, threshold), &bounds));
        reference_components(sums, width, height, bounds, expected);
        return expected;
    }
    const int32_t least = faces_least(&fixture.weights, threshold);
    for (uint32_t i = 0; i < width * height; i++, sums += CANDIDATES_SUMS) {
        if (sums[0] >= least && expected->count++ < CANDIDATES_MAX) {
            struct candidate *candidate = &expected->candidate[expected->count - 1];
            candidate->x = (uint16_t)(i % width);
            candidate->y = (uint16_t)(i / width);
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
    const struct detect_arguments arguments = {.detector = searched, .threshold = threshold};
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
    const uint32_t columns = plan->width / (uint32_t)detector->cell,
                   rows = plan->height / (uint32_t)detector->cell;
    int32_t *sums = expected_sums(&source.image, plan->width, plan->height);
    const double threshold = threshold_for(sums, (size_t)columns * rows);
    const struct chain chain = detect_chain(shape, threshold);
    struct candidates *expected = expected_candidates(sums, columns, rows, threshold);
    assert_true(expected->count > 0);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (levels->lane[i]) {
            check_level(levels, i, &chain, &source, expected);
        }
    }
    free(expected);
    free(sums);
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
    const uint32_t by = searched == DETECTOR_FACES ? 1 : 4; /* the reference of text takes longer */
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
    if (searched != DETECTOR_FACES) {
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
    cpu_backend_use_model(backend, searched, &damaged);
    assert_int_equal(run_once(backend, &shape, 0, &err), ST_CORRUPT);
    backend_close(backend);
    model_close(&damaged);
}

/* A few bytes for each pixel; text keeps more layers whole. */
static void test_memory(void **state) {
    const struct levels *levels = *state;
    const struct image_shape large = colours(8192, 8192);
    const size_t tenths = searched == DETECTOR_FACES ? 31 : 162; /* of a byte */
    const struct chain chain = detect_chain(&large, 0.5);
    for (unsigned i = 0; i < LEVELS_MAX; i++) {
        if (levels->backend[i]) {
            size_t one = backend_run_bytes(levels->backend[i], &chain, &large, 1);
            size_t eight = backend_run_bytes(levels->backend[i], &chain, &large, 8);
            assert_true(one < (size_t)8192 * 8192 * tenths / 10 + (800 << 10));
            assert_true(eight - one <= (size_t)7 * 800 << 10);
            assert_true(cpu_backend_network_bytes(levels->backend[i], searched) < (size_t)5 << 20);
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
    int failed = 0;
    for (searched = DETECTOR_FACES; searched <= DETECTOR_TEXT; searched++) {
        failed += cmocka_run_group_tests_name(detector_get(searched)->name, tests, setup, teardown);
    }
    return failed;
}
