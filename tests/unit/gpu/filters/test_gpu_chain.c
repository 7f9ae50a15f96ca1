/* SPDX-License-Identifier: MIT
 * Chains in the memory of one stream, on the fake driver: the pixels equal the CPU's for all steps, their
 * shapes and the runs before left in the buffers. */
#include "gpu/filters/gpu_chain.h"

#include "cpu/cpu.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 300; /* kernels on the host, fiber by fiber */

enum { STEPS = 5, SMALL = 90, LONG = 700 };

static struct backend *cpu;
static struct lane *cpu_lane;

static int open_both(void **state) {
    struct error err = {0};
    random_state = test_seed();
    if (cpu_backend_open("auto", &cpu, &err) != ST_OK || lane_create(cpu, &cpu_lane, &err) != ST_OK) {
        return -1;
    }
    return open_lane(state);
}

static int close_both(void **state) {
    lane_destroy(cpu_lane);
    backend_close(cpu);
    return close_lane(state);
}

static struct image noise(const struct image_shape *shape) {
    struct image image = fixture_image(*shape);
    size_t size = image_layout(&(struct image){0}, shape);
    for (size_t i = 0; i < size; i++) {
        image.plane[0].data[i] = (uint8_t)test_random(&random_state);
    }
    return image;
}

/* Patches of 0, of 255 and of numbers between them. */
static struct image make_mask(const struct image_shape *shape) {
    struct image mask = fixture_image(fixture_shape(PIXEL_GRAY, 8, shape->width, shape->height));
    for (uint32_t y = 0; y < shape->height; y++) {
        for (uint32_t x = 0; x < shape->width; x++) {
            uint32_t patch = (x / 7 + y / 5) % 3;
            plane_row(&mask.plane[0], y)[x] = (uint8_t)(patch == 0 ? 0 : patch == 1 ? 255 : below(256));
        }
    }
    return mask;
}

static void compare(const struct chain *chain, const struct image_shape *shape, bool masked) {
    struct error err = {0};
    struct lane_timing timing;
    struct image_shape result = chain_result(chain, shape);
    struct image source = noise(shape), mask = make_mask(shape);
    struct image expected = fixture_image(result), got = fixture_image(result);
    struct chain_run run = {
        .chain = chain, .source = &source, .target = &expected, .mask = masked ? &mask : NULL};
    assert_int_equal(lane_run(cpu_lane, &run, NULL, &err), ST_OK);
    run.target = &got;
    if (gpu_chain_run(&lane.stream, &run, &timing, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    bool stats = chain->step[0].filter == FILTER_STATS;
    if (stats) {
        assert_memory_equal(got.plane[0].data, expected.plane[0].data, sizeof(struct stats));
    } else {
        assert_int_equal(fixture_difference(&expected, &got), 0);
    }
    fixture_image_free(&source);
    fixture_image_free(&mask);
    fixture_image_free(&expected);
    fixture_image_free(&got);
}

static void append(struct chain *chain, enum filter_id filter, const void *arguments,
                   const struct image_shape *shape) {
    struct error err = {0};
    if (chain_append(chain, filter_get(filter), arguments, shape, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
}

/* Any fit, kernel and background; one side in eight is not given. */
static struct resize_arguments any_resize(void) {
    struct resize_arguments resize = {
        .width = below(8) ? 1 + (int)below(SMALL) : 0,
        .height = 1 + (int)below(SMALL),
        .fit = (int)below(RESIZE_OUTSIDE + 1),
        .kernel = (int)below(RESIZE_KERNELS),
        .gravity = {below(5) * 0.25 - 0.5, below(5) * 0.25 - 0.5},
        .enlarge = below(4) > 0,
        .background = {.given = true, .ground = (uint8_t)below(2), .sigma = 0.5 + below(30)},
    };
    for (unsigned i = 0; i < 4; i++) {
        resize.background.colour[i] = (uint8_t)below(256);
    }
    return resize;
}

static struct adjust_arguments any_adjust(void) {
    struct adjust_arguments adjust = {.brightness = 1, .contrast = 1, .saturation = 1, .gamma = 1};
    adjust.grayscale = below(3) == 0;
    adjust.negate = below(2);
    adjust.duotone.given = below(6) == 0;
    adjust.duotone.highlight[below(3)] = 200;
    if (below(2)) {
        adjust.contrast = below(30) / 10.0;
        adjust.gamma = 0.2 + below(48) / 10.0;
    }
    return adjust;
}

static void choose_arguments(enum filter_id filter, const struct image_shape *read,
                             union filter_arguments *arguments) {
    switch (filter) {
    case FILTER_ADJUST:
        arguments->adjust = any_adjust();
        break;
    case FILTER_BLUR:
        arguments->blur.sigma = 0.5 + below(20);
        break;
    case FILTER_PIXELATE:
        arguments->pixelate.block = 4 << below(5);
        break;
    case FILTER_RESIZE:
        arguments->resize = any_resize();
        break;
    case FILTER_SHARPEN:
        arguments->sharpen = (struct sharpen_arguments){.blur.sigma = 1 + below(9), .amount = 1};
        break;
    case FILTER_CROP:
        arguments->crop.begin[0] = (struct crop_length){.value = below(read->width) & ~3u};
        arguments->crop.begin[1] = (struct crop_length){.value = below(read->height) & ~3u};
        break;
    case FILTER_ROTATE:
        arguments->rotate = (struct rotate_arguments){(int)below(5), (int)below(4)};
        break;
    case FILTER_DILATE:
    case FILTER_ERODE:
        arguments->dilate = (struct morphology_arguments){1 + (int)below(25), (int)below(EDGE_FRAME)};
        break;
    case FILTER_MEDIAN:
        arguments->median = (struct median_arguments){1 + (int)below(6), (int)below(EDGE_FRAME)};
        break;
    default:
        arguments->convolve.kernel = (struct matrix){9, 3, {1, 2, -1, 0.5, 3, 0, -2, 1, 0.25}};
        break;
    }
}

static void append_any(struct chain *chain, const struct image_shape *shape) {
    static const enum filter_id filters[] = {
        FILTER_ADJUST, FILTER_BLUR,   FILTER_CONVOLVE, FILTER_CROP,   FILTER_DILATE,  FILTER_ERODE,
        FILTER_MEDIAN, FILTER_RESIZE, FILTER_PIXELATE, FILTER_ROTATE, FILTER_SHARPEN,
    };
    struct image_shape read = chain_result(chain, shape);
    enum filter_id filter = filters[below(sizeof filters / sizeof *filters)];
    const struct filter *definition = filter_get(filter);
    union filter_arguments arguments = {0};
    choose_arguments(filter, &read, &arguments);
    if (read.model == PIXEL_YCBCR && !(definition->planar && definition->planar(&arguments, &read))) {
        return;
    }
    struct chain longer = *chain;
    struct image_shape result = {0};
    if (chain_append(&longer, definition, &arguments, shape, NULL) == ST_OK) {
        result = chain_result(&longer, shape);
    }
    *chain = result.width > 0 && result.width <= LONG && result.height <= LONG ? longer : *chain;
}

static struct image_shape any_shape(void) {
    struct image_shape shape =
        fixture_shape((enum pixel_model)below(PIXEL_YCBCR + 1), 8, 1 + below(SMALL), 1 + below(SMALL));
    if (shape.model == PIXEL_YCBCR) {
        shape.chroma_shift_x = (uint8_t)below(2);
        shape.chroma_shift_y = (uint8_t)below(2);
    } else if (below(2)) {
        shape.depth = 16;
    }
    return shape;
}

/* A mask needs a third picture, and the blended steps end in either buffer. */
static void test_steps(void **state) {
    (void)state;
    for (unsigned i = 0; i < 12 * STEPS; i++) {
        struct image_shape shape = any_shape();
        if (i % 7 == 0) {
            shape.width = below(2) ? 1 : LONG;
            shape.height = shape.width == 1 ? LONG : 1;
        }
        struct chain chain = {0};
        while (chain.count <= i % STEPS) {
            append_any(&chain, &shape);
        }
        compare(&chain, &shape, i / STEPS % 2 && chain_takes_mask(&chain, &shape));
    }
}

/* The mask has the size of the source. The steps that it applies to end before the size changes. */
static void test_masks(void **state) {
    (void)state;
    const struct resize_arguments resize = {.width = SMALL + 7, .kernel = RESIZE_AREA, .enlarge = true};
    for (unsigned i = 0; i < 4 * STEPS; i++) {
        struct image_shape shape = any_shape();
        struct chain chain = {0};
        for (unsigned blurs = i % STEPS; blurs > 0; blurs--) {
            const struct blur_arguments blur = {.sigma = 2};
            append(&chain, FILTER_BLUR, &blur, &shape);
        }
        for (unsigned resizes = i % 3; resizes > 0; resizes--) {
            append(&chain, FILTER_RESIZE, &resize, &shape);
        }
        if (chain.count > 0) {
            compare(&chain, &shape, true);
        }
    }
}

/* A picture between two steps is larger than both ends of the chain. Each turn begins without buffers. */
static void test_growth(void **state) {
    (void)state;
    const struct resize_arguments larger = {.width = 700, .kernel = RESIZE_NEAREST, .enlarge = true};
    const struct resize_arguments smaller = {.width = 40, .kernel = RESIZE_AREA};
    const struct image_shape shape = fixture_shape(PIXEL_RGBA, 16, 9, 6);
    for (unsigned blurs = 0; blurs < 4; blurs++) {
        const struct blur_arguments blur = {.sigma = 1};
        struct chain chain = {0};
        for (unsigned i = 0; i < blurs / 2; i++) {
            append(&chain, FILTER_BLUR, &blur, &shape);
        }
        append(&chain, FILTER_RESIZE, &larger, &shape);
        append(&chain, FILTER_RESIZE, &smaller, &shape);
        if (blurs % 2) {
            append(&chain, FILTER_BLUR, &blur, &shape);
        }
        jpeg_stream_finish(&lane);
        assert_int_equal(jpeg_stream_init(&lane, &device, NULL), ST_OK);
        compare(&chain, &shape, blurs % 2 == 0);
    }
}

/* Statistics take less memory than their picture, or more. */
static void test_stats(void **state) {
    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        struct image_shape shape =
            fixture_shape((enum pixel_model)(i % 4), i < 4 ? 8 : 16, 1 + below(SMALL), 1 + below(SMALL));
        struct chain chain = {0};
        append(&chain, FILTER_STATS, NULL, &shape);
        compare(&chain, &shape, false);
        compare(&chain, &shape, true);
    }
}

static double bytes_of(int radius, uint8_t depth, uint32_t steps) {
    const struct image_shape shape = fixture_shape(PIXEL_RGB, depth, LONG, SMALL);
    const struct median_arguments median = {.radius = radius}, least = {.radius = 1};
    struct chain chain = {0};
    append(&chain, FILTER_MEDIAN, &median, &shape);
    for (uint32_t i = 1; i < steps; i++) {
        append(&chain, FILTER_MEDIAN, &least, &shape);
    }
    const struct hang_detector_work work = gpu_chain_work(&chain, &shape);
    assert_int_equal(work.kinds, 1u << FILTER_MEDIAN);
    assert_int_equal(work.steps, steps);
    return work.bytes / (double)image_layout(&(struct image){0}, &shape);
}

/* A median of 16 bits takes hundreds of times as long with a large window as with a small one, and a run is
 * compared with others by its bytes. Without that a large window looks like a fault. */
static void test_work(void **state) {
    (void)state;
    assert_true(bytes_of(1, 8, 1) == 1 && bytes_of(25, 8, 1) == 1);
    assert_true(bytes_of(1, 16, 1) == 9 && bytes_of(25, 16, 1) == 51 * 51);
    assert_true(bytes_of(25, 16, 3) == 51 * 51); /* the step that takes longest counts */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps), cmocka_unit_test(test_masks), cmocka_unit_test(test_growth),
        cmocka_unit_test(test_stats), cmocka_unit_test(test_work),
    };
    return cmocka_run_group_tests(tests, open_both, close_both);
}
