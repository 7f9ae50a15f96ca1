/* SPDX-License-Identifier: MIT
 * The kernels that resize, on the fake driver, against plain loops that follow docs/filters.md sample by
 * sample. */
#include <math.h>

#include "gpu/filters/filters.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 300; /* kernels on the host, fiber by fiber */

enum { MODELS = 13 };

static const struct image_shape models[MODELS] = {
    {.model = PIXEL_GRAY, .depth = 8},
    {.model = PIXEL_GRAY_ALPHA, .depth = 8},
    {.model = PIXEL_RGB, .depth = 8},
    {.model = PIXEL_RGBA, .depth = 8},
    {.model = PIXEL_GRAY, .depth = 16},
    {.model = PIXEL_GRAY_ALPHA, .depth = 16},
    {.model = PIXEL_RGB, .depth = 16},
    {.model = PIXEL_RGBA, .depth = 16},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 1, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 0, .chroma_shift_y = 1},
    {.model = PIXEL_YCBCR, .depth = 8, .chroma_shift_x = 2, .chroma_shift_y = 0},
    {.model = PIXEL_YCBCR, .depth = 8},
};

static int open_test(void **state) {
    random_state = test_seed();
    return open_lane(state);
}

/* ---- the reference ---- */

static float sample_at(const struct image *image, const struct plane *plane, uint32_t y, size_t i) {
    uint16_t deep;
    memcpy(&deep, plane_row(plane, y) + 2 * i, image->depth == 16 ? 2 : 0);
    return image->depth == 16 ? (float)deep : (float)plane_row(plane, y)[i];
}

static void put_sample(const struct image *image, const struct plane *plane, uint32_t y, size_t i,
                       uint16_t value) {
    if (image->depth == 16) {
        memcpy(plane_row(plane, y) + 2 * i, &value, sizeof value);
    } else {
        plane_row(plane, y)[i] = (uint8_t)value;
    }
}

/* What makes a sample of the target, along one axis. */
struct recipe {
    int32_t from, to;
    float *weight;
};

static struct recipe make_recipe(const struct resize_plan *plan, const struct resize_plane_axis *axis,
                                 uint32_t size, uint32_t i) {
    struct resize_taps taps =
        resize_taps_at(plan->kernel, axis->scale, axis->begin, (int32_t)size, (int32_t)i);
    double sum = resize_taps_sum(&taps);
    struct recipe recipe = {taps.from, taps.to, malloc((size_t)(taps.to - taps.from) * sizeof(float))};
    assert_non_null(recipe.weight);
    for (int32_t j = taps.from; j < taps.to; j++) {
        recipe.weight[j - taps.from] = resize_taps_weight(&taps, sum, j);
    }
    return recipe;
}

/* `value` has a number for each sample of the side, at that distance. */
static float sum_up(const struct recipe *recipe, const float *value, size_t distance) {
    float total = 0, block = 0;
    bool any = false; /* block before this one */
    for (int32_t j = recipe->from; j < recipe->to; j++) {
        volatile float product = recipe->weight[j - recipe->from] * value[(size_t)j * distance];
        if (j > recipe->from && j % RESIZE_BLOCK == 0) {
            total = any ? total + block : block;
            any = true;
            block = product;
        } else {
            block = j == recipe->from ? product : block + product;
        }
    }
    return any ? total + block : block;
}

/* All samples of a plane as they are loaded. */
static float *load_plane(const struct image *image, const struct plane *plane) {
    size_t samples = (size_t)plane->width * plane->channels, last = plane->channels - 1U;
    float *values = malloc(samples * plane->height * sizeof *values);
    assert_non_null(values);
    for (uint32_t y = 0; y < plane->height; y++) {
        for (size_t i = 0; i < samples; i++) {
            size_t c = i % plane->channels;
            bool colour = image_pixel_has_alpha(image->model) && c < last;
            float value = sample_at(image, plane, y, i);
            volatile float loaded = colour ? value * sample_at(image, plane, y, i - c + last) : value;
            values[y * samples + i] = loaded;
        }
    }
    return values;
}

static void store_pixel(const struct image *image, const struct plane *plane, uint32_t x, uint32_t y,
                        const float *value) {
    float most = image->depth == 16 ? 65535 : 255;
    float alpha = value[plane->channels - 1];
    for (unsigned c = 0; c < plane->channels; c++) {
        bool colour = image_pixel_has_alpha(image->model) && c + 1 < plane->channels;
        volatile float v = !colour ? value[c] : alpha > 0 ? value[c] / alpha : 0;
        volatile float rounded = floorf(v + 0.5F);
        put_sample(image, plane, y, (size_t)x * plane->channels + c,
                   (uint16_t)fmaxf(0, fminf(rounded, most)));
    }
}

static void fill_pixel(const struct resize_plan *plan, const struct image *image, unsigned p, uint32_t x,
                       uint32_t y) {
    const struct plane *plane = &image->plane[p];
    for (unsigned c = 0; c < plane->channels; c++) {
        put_sample(image, plane, y, (size_t)x * plane->channels + c, plan->colour[p + c]);
    }
}

/* A row of the picture on the canvas. `recipes` are those of its pixels. */
static void make_row(const struct image *target, unsigned p, uint32_t y, const struct recipe *recipes,
                     const struct resize_plane_axis *axis, const float *columns) {
    const struct plane *plane = &target->plane[p];
    for (uint32_t x = 0; x < axis->count; x++) {
        float value[4];
        for (unsigned c = 0; c < plane->channels; c++) {
            value[c] = sum_up(&recipes[x], columns + c, plane->channels);
        }
        store_pixel(target, plane, axis->first + x, y, value);
    }
}

static void sum_columns(const struct resize_plan *plan, const struct plane *plane, const float *values,
                        const struct resize_plane_axis *axis, uint32_t y, float *columns) {
    size_t samples = (size_t)plane->width * plane->channels;
    struct recipe recipe = make_recipe(plan, axis, plane->height, y);
    for (size_t i = 0; i < samples; i++) {
        columns[i] = sum_up(&recipe, values + i, samples);
    }
    free(recipe.weight);
}

static void resize_plane(const struct resize_plan *plan, const struct image *source,
                         const struct image *target, unsigned p) {
    const struct plane *from = &source->plane[p], *to = &target->plane[p];
    struct resize_plane_axis x_axis = resize_plane_axis(&plan->x, from->shift_x, to->shift_x, to->width);
    struct resize_plane_axis y_axis = resize_plane_axis(&plan->y, from->shift_y, to->shift_y, to->height);
    float *values = load_plane(source, from);
    float *columns = malloc((size_t)from->width * from->channels * sizeof *columns);
    struct recipe *recipes = malloc(x_axis.count * sizeof *recipes);
    assert_non_null(columns);
    assert_non_null(recipes);
    for (uint32_t x = 0; x < x_axis.count; x++) {
        recipes[x] = make_recipe(plan, &x_axis, from->width, x);
    }
    for (uint32_t y = 0; y < to->height; y++) {
        for (uint32_t x = 0; x < to->width; x++) {
            fill_pixel(plan, target, p, x, y);
        }
        if (y - y_axis.first < y_axis.count) {
            sum_columns(plan, from, values, &y_axis, y - y_axis.first, columns);
            make_row(target, p, y, recipes, &x_axis, columns);
        }
    }
    for (uint32_t x = 0; x < x_axis.count; x++) {
        free(recipes[x].weight);
    }
    free(recipes);
    free(columns);
    free(values);
}

/* ---- cases ---- */

static bool plan_resize(struct resize_plan *plan, const struct resize_arguments *arguments,
                        const struct image_shape *shape) {
    struct error err = {0};
    *plan = (struct resize_plan){0};
    if (shape->model == PIXEL_YCBCR && !filter_resize.planar(arguments, shape)) {
        return false;
    }
    if (filter_resize.plan(arguments, shape, plan, &err) != ST_OK) {
        fail_msg("%s", err.text);
    }
    assert_true(filter_resize.valid(plan, shape));
    return true;
}

static struct image noise(const struct image_shape *shape) {
    struct image image = fixture_image(*shape), layout;
    size_t size = image_layout(&layout, shape);
    bool extreme = below(2);
    for (size_t i = 0; i < size; i++) {
        uint64_t dice = test_random(&random_state);
        image.plane[0].data[i] = (uint8_t)(extreme ? (dice & 1 ? 255 : 0) : dice);
    }
    return image;
}

/* The whole memory of both: only pixels may be written. */
static void check(const struct resize_arguments *arguments, const struct image_shape *shape) {
    struct resize_plan plan;
    struct error err = {0};
    if (!plan_resize(&plan, arguments, shape)) {
        return;
    }
    struct image_shape result = *shape;
    struct image layout;
    filter_resize.result(&plan, &result);
    size_t size = image_layout(&layout, &result);
    struct image source = noise(shape), expected = fixture_image(result), got = fixture_image(result);
    for (unsigned p = 0; p < source.plane_count; p++) {
        resize_plane(&plan, &source, &expected, p);
    }
    assert_int_equal(gpu_resize(&lane.stream, &plan, &source, &got, &err), ST_OK);
    for (size_t i = 0; i < size; i++) {
        if (got.plane[0].data[i] != expected.plane[0].data[i]) {
            fail_msg("model %d, %u bits, chroma %u %u, %ux%u to %ux%u, kernel %u: byte %zu is %u, not %u",
                     (int)shape->model, shape->depth, shape->chroma_shift_x, shape->chroma_shift_y,
                     shape->width, shape->height, result.width, result.height, plan.kernel, i,
                     got.plane[0].data[i], expected.plane[0].data[i]);
        }
    }
    fixture_image_free(&source);
    fixture_image_free(&expected);
    fixture_image_free(&got);
}

static void check_size(size_t model, uint32_t width, uint32_t height, int to_width, int to_height,
                       int kernel) {
    struct image_shape shape = models[model];
    struct resize_arguments arguments = {
        .width = to_width, .height = to_height, .fit = RESIZE_FILL, .kernel = kernel, .enlarge = true};
    shape.width = width;
    shape.height = height;
    check(&arguments, &shape);
}

/* Smaller, larger, by hardly anything, and by much. */
static void test_sizes(void **state) {
    (void)state;
    static const uint16_t sizes[][4] = {
        {1, 1, 1, 1},   {1, 1, 9, 5},   {7, 1, 3, 1},   {1, 9, 1, 4},    {5, 3, 40, 37},
        {64, 8, 64, 8}, {40, 9, 39, 8}, {67, 33, 8, 5}, {131, 70, 2, 1}, {300, 5, 150, 10},
    };
    unsigned kernel = below(RESIZE_KERNELS);
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t m = 0; m < MODELS; m++) {
            check_size(m, sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3],
                       (int)(kernel++ % RESIZE_KERNELS));
        }
    }
}

/* Every way to fit the box, with and without enlarging, and the picture anywhere in it. */
static void test_fits(void **state) {
    (void)state;
    for (unsigned i = 0; i < 5 * 2 * MODELS; i++) {
        struct image_shape shape = models[i % MODELS];
        shape.width = 1 + below(60);
        shape.height = 1 + below(60);
        struct resize_arguments arguments = {
            .width = 1 + (int)below(70),
            .height = 1 + (int)below(70),
            .fit = (int)(i / MODELS % 5),
            .kernel = (int)below(RESIZE_KERNELS),
            .gravity = {below(5) / 4.0 - 0.5, below(5) / 4.0 - 0.5},
            .enlarge = i / MODELS / 5 % 2,
            .background = {.given = true, .colour = {200, 30, 90, 128}},
        };
        check(&arguments, &shape);
    }
}

/* A pixel of a row has many taps, and others around it are background. */
static void test_narrow_ones(void **state) {
    (void)state;
    for (size_t m = 0; m < MODELS; m++) {
        struct image_shape shape = models[m];
        shape.width = 420;
        shape.height = 40;
        check(&(struct resize_arguments){.width = 20, .height = 9, .fit = RESIZE_CONTAIN}, &shape);
        check(
            &(struct resize_arguments){
                .width = 14, .height = 12, .fit = RESIZE_CONTAIN, .gravity = {0, -0.5}},
            &shape);
        check(&(struct resize_arguments){.width = 9, .height = 1, .fit = RESIZE_COVER, .gravity = {0.4, 0}},
              &shape);
    }
}

/* One sample is made of thousands, most of them at the border. */
static void test_many_taps(void **state) {
    (void)state;
    for (size_t m = 0; m < MODELS; m += 4) {
        check_size(m, 3000, 2, 1, 1, RESIZE_LANCZOS3);
        check_size(m, 2, 3000, 1, 2, RESIZE_CUBIC);
        check_size(m, 1111, 3, 3, 3, RESIZE_AREA);
    }
}

/* The sums of columns do not fit in scratch memory at once. */
static void test_bands(void **state) {
    (void)state;
    static const struct image_shape wide = {.model = PIXEL_RGBA, .depth = 8, .width = 20000, .height = 1};
    struct resize_arguments arguments = {
        .width = 5, .height = 230, .fit = RESIZE_FILL, .kernel = RESIZE_LINEAR, .enlarge = true};
    check(&arguments, &wide);
    struct image_shape planes = models[8];
    planes.width = 30000;
    planes.height = 3;
    arguments.height = 501;
    check(&arguments, &planes);
}

/* The failure has a sentence, and the next resize works. */
static void test_no_memory(void **state) {
    (void)state;
    const struct image_shape shape = fixture_shape(PIXEL_RGB, 8, 40, 30);
    const struct resize_arguments arguments = {.width = 20};
    struct resize_plan plan;
    struct error err = {0};
    assert_true(plan_resize(&plan, &arguments, &shape));
    struct image_shape result = shape;
    filter_resize.result(&plan, &result);
    struct image source = noise(&shape), target = fixture_image(result);
    setenv("FAKE_CUDA_MEMORY", "1000", 1);
    gpu_buffer_finish(&lane.stream.scratch, &device);
    assert_int_equal(gpu_resize(&lane.stream, &plan, &source, &target, &err), ST_BUSY);
    assert_non_null(strstr(err.text, "cuMemAlloc"));
    unsetenv("FAKE_CUDA_MEMORY");
    check(&arguments, &shape);
    fixture_image_free(&source);
    fixture_image_free(&target);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),     cmocka_unit_test(test_fits),  cmocka_unit_test(test_narrow_ones),
        cmocka_unit_test(test_many_taps), cmocka_unit_test(test_bands), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, open_test, close_lane);
}
