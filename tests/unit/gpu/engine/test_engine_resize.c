/* SPDX-License-Identifier: MIT
 * Chains that change the size, by the engine: JPEGs are the CPU's to the byte, and plans that no front makes
 * are refused before anything is written. */
#include "tests/unit/gpu/engine/engine_jpeg_fixture.h"

#include <math.h>

#define STEP(run, number) (&(run)->chain.step[number].resize)

static struct chain resize(const struct image_shape *source, const struct resize_arguments *arguments) {
    struct chain chain = {0};
    struct error err = {0};
    if (chain_append(&chain, filter_get(FILTER_RESIZE), arguments, source, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    return chain;
}

static void append_blur(struct chain *chain, const struct image_shape *source) {
    const struct blur_arguments arguments = {.sigma = 2};
    assert_int_equal(chain_append(chain, filter_get(FILTER_BLUR), &arguments, source, NULL), ST_OK);
}

/* ---- JPEG to JPEG ---- */

static void check_jpeg(const struct resize_arguments *arguments, uint8_t orientation, bool blurred) {
    struct wire_run run = good_run();
    struct image_shape upright = orient_shape(&shape, orientation);
    run.jpeg.orientation = orientation;
    run.chain = resize(&upright, arguments);
    if (blurred) {
        append_blur(&run.chain, &upright);
    }
    struct image_shape result = chain_result(&run.chain, &upright);
    assert_done(&run, &result);
}

static void test_jpeg(void **state) {
    (void)state;
    static const struct resize_arguments cases[] = {
        {.width = 1, .height = 1, .fit = RESIZE_FILL},
        {.width = 17},
        {.height = 31, .kernel = RESIZE_AREA},
        {.width = 101, .enlarge = true},
        {.scale = 2, .enlarge = true, .kernel = RESIZE_MITCHELL},
        {.width = 30, .height = 30, .fit = RESIZE_COVER, .kernel = RESIZE_CUBIC, .gravity = {0.5, -0.5}},
        {.width = 32, .height = 32, .fit = RESIZE_OUTSIDE, .kernel = RESIZE_LINEAR},
        {.width = 60, .height = 100, .fit = RESIZE_CONTAIN, .enlarge = true, .gravity = {0, -0.5}},
        {.width = 20, .height = 90, .fit = RESIZE_FILL, .enlarge = true, .kernel = RESIZE_NEAREST},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_jpeg(&cases[i], 1, false);
        check_jpeg(&cases[i], 1, true);
        check_jpeg(&cases[i], (uint8_t)(2 + i % 7), i % 2);
    }
}

/* A picture without colour, and one that grows from step to step. */
static void test_steps(void **state) {
    (void)state;
    const struct resize_arguments larger = {.scale = 1.5, .enlarge = true}, smaller = {.scale = 0.2};
    struct wire_run run = good_run();
    run.chain = resize(&shape, &larger);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(chain_append(&run.chain, filter_get(FILTER_RESIZE), &larger, &shape, NULL), ST_OK);
    }
    struct image_shape result = chain_result(&run.chain, &shape);
    assert_done(&run, &result);
    assert_int_equal(chain_append(&run.chain, filter_get(FILTER_RESIZE), &smaller, &shape, NULL), ST_OK);
    append_blur(&run.chain, &shape);
    result = chain_result(&run.chain, &shape);
    assert_done(&run, &result);
}

/* ---- refusals ---- */

enum { BREAKS = 20 };

/* Makes one number of the plan impossible for a picture of WIDTH x HEIGHT. */
static void break_plan(struct resize_plan *plan, unsigned how) {
    struct resize_axis *axis = how % 2 ? &plan->x : &plan->y;
    const double scales[] = {0, -1, NAN, INFINITY, 1e-9, 40}, begins[] = {-1, NAN, INFINITY, 47};
    unsigned kind = how / 2;
    if (kind < COUNT(scales)) {
        axis->scale = scales[kind];
    } else if (kind < COUNT(scales) + COUNT(begins)) {
        axis->begin = begins[kind - COUNT(scales)];
    }
}

static void break_sides(struct resize_plan *plan, unsigned how) {
    struct resize_axis *axis = how % 2 ? &plan->x : &plan->y;
    switch (how / 2) {
    case 0:
        axis->count = 0;
        break;
    case 1:
        axis->count = axis->canvas + 1;
        break;
    case 2:
        axis->first = UINT32_MAX;
        break;
    case 3:
        axis->first = 1;
        break;
    case 4:
        axis->canvas = 0;
        break;
    case 5:
        axis->canvas = RESIZE_SIDE_MAX + 1;
        break;
    case 6:
        axis->canvas = UINT32_MAX;
        break;
    case 7:
        plan->kernel = RESIZE_KERNELS;
        break;
    case 8:
        plan->ground = 200;
        break;
    default:
        plan->colour[0] = 256;
        break;
    }
}

static struct wire_run jpeg_run(void) {
    struct wire_run run = good_run();
    run.chain = resize(&shape, &(struct resize_arguments){.width = 20});
    return run;
}

/* From pixels to pixels. */
static struct wire_run pixel_run(void) {
    struct wire_run run = jpeg_run();
    run.source = 0;
    run.target = SLOT_SIZE / 2;
    run.jpeg = (struct wire_transcode){0};
    return run;
}

static void test_plans(void **state) {
    (void)state;
    for (unsigned how = 0; how < BREAKS; how++) {
        struct wire_run runs[] = {jpeg_run(), jpeg_run(), pixel_run(), pixel_run()};
        break_plan(STEP(&runs[0], 0), how);
        break_sides(STEP(&runs[1], 0), how);
        break_plan(STEP(&runs[2], 0), how);
        break_sides(STEP(&runs[3], 0), how);
        for (size_t i = 0; i < COUNT(runs); i++) {
            assert_refused(&runs[i]);
        }
    }
    struct wire_run run = pixel_run();
    assert_int_equal(run_on(&run).error.status, ST_OK);
}

/* A canvas of 40 x 60 whose background is the blurred picture. */
static void test_blurred_backgrounds(void **state) {
    (void)state;
    const struct resize_arguments arguments = {.width = 40,
                                               .height = 60,
                                               .fit = RESIZE_CONTAIN,
                                               .gravity = {0, -0.5},
                                               .kernel = RESIZE_AREA,
                                               .background = {true, RESIZE_GROUND_BLUR, {0}, 3}};
    const struct image_shape gray = {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT};
    struct wire_run good = pixel_run();
    good.shape = gray;
    good.chain = resize(&gray, &arguments);
    assert_true(resize_is_blurred(STEP(&good, 0)));
    assert_int_equal(run_on(&good).error.status, ST_OK);
    struct wire_run runs[] = {good, good, good, good, good};
    STEP(&runs[0], 0)->ground_x.scale = NAN;
    STEP(&runs[1], 0)->ground_y.begin = HEIGHT;
    STEP(&runs[2], 0)->ground_x.count--;
    STEP(&runs[3], 0)->ground_y.canvas = 1;
    STEP(&runs[4], 0)->blur.axis[0].radius = BLUR_RADIUS_MAX + 1;
    for (size_t i = 0; i < COUNT(runs); i++) {
        assert_refused(&runs[i]);
    }
}

/* The step behind reads a smaller picture than its plan is for. */
static void test_a_plan_for_another_picture(void **state) {
    (void)state;
    struct wire_run run = jpeg_run();
    run.chain.step[run.chain.count++] = run.chain.step[0];
    assert_refused(&run);
}

/* The result does not fit behind its offset, though the source would. */
static void test_offsets(void **state) {
    (void)state;
    const struct resize_arguments larger = {.scale = 2, .enlarge = true};
    struct wire_run run = pixel_run();
    struct image image;
    run.chain = resize(&shape, &larger);
    struct image_shape result = chain_result(&run.chain, &shape);
    uint64_t size = image_layout(&image, &result);
    run.target = SLOT_SIZE - size;
    assert_int_equal(run_on(&run).error.status, ST_OK);
    run.target += IMAGE_ALIGNMENT;
    assert_refused(&run);
    run.target = 0;
    run.source = size - IMAGE_ALIGNMENT;
    assert_refused(&run);
    run.source = size;
    assert_int_equal(run_on(&run).error.status, ST_OK);
}

/* A mask applies to the steps before the size changes, and to no step behind that. */
static void test_masks(void **state) {
    (void)state;
    struct wire_run run = pixel_run();
    run.mask = SLOT_SIZE / 4;
    assert_int_equal(run_on(&run).error.status, ST_OK);
    append_blur(&run.chain, &shape);
    assert_refused(&run);
    run.mask = WIRE_NO_MASK;
    assert_int_equal(run_on(&run).error.status, ST_OK);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jpeg),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_blurred_backgrounds),
        cmocka_unit_test(test_a_plan_for_another_picture),
        cmocka_unit_test(test_offsets),
        cmocka_unit_test(test_masks),
    };
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
