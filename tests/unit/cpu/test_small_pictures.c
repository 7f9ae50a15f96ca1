/* SPDX-License-Identifier: MIT
 * JPEG to JPEG in every small size and sampling: decoded to planes, blurred, encoded, against the Gaussian in
 * double precision of each plane at its own resolution, as docs/filters.md defines it. Most blocks of these
 * pictures are padding, which must not show. */
#include <math.h>

#include "core/sanitizers.h"
#include "cpu/cpu.h"
#include "filters/backend.h"
#include "filters/chain.h"
#include "tests/unit/codecs/jpeg/jpeg_fixture.h"

enum { SIDE = 40, STEP = SANITIZED ? 5 : 2, TAIL = 6 };

/* The blur is off by 0.6 at most; coefficients rounded to whole numbers and two transforms add up to about 2.
 */
static const double tolerance = 3;

static const struct jpeg_recipe recipes[] = {
    {.name = "4:2:0", .luma = {2, 2}},
    {.name = "4:2:2", .luma = {2, 1}},
    {.name = "4:4:0", .luma = {1, 2}},
    {.name = "4:1:1", .luma = {4, 1}},
    {.name = "4:4:4"},
    {.name = "grey", .space = JCS_GRAYSCALE},
};

static struct backend *backend;
static struct lane *lane;

static int open_lane(void **state) {
    (void)state;
    struct error err = {0};
    assert_int_equal(cpu_backend_open("auto", &backend, &err), ST_OK);
    return lane_create(backend, &lane, &err) != ST_OK;
}

static int close_lane(void **state) {
    (void)state;
    lane_destroy(lane);
    backend_close(backend);
    return 0;
}

/* One axis; `step` leads from a sample to the next. */
static void blur_line(const double *from, double *to, uint32_t count, size_t step, double sigma) {
    int reach = (int)ceil(TAIL * sigma);
    for (int64_t i = 0; i < count; i++) {
        double sum = 0, weights = 0;
        for (int64_t k = -reach; k <= reach; k++) {
            int64_t at = i + k < 0 ? 0 : i + k < count ? i + k : (int64_t)count - 1;
            double weight = exp(-(double)(k * k) / (2 * sigma * sigma));
            sum += weight * from[(size_t)at * step];
            weights += weight;
        }
        to[(size_t)i * step] = sum / weights;
    }
}

static void blur_plane(const struct plane *plane, double sigma, double *result) {
    double between[SIDE * SIDE], samples[SIDE * SIDE];
    for (uint32_t i = 0; i < plane->width * plane->height; i++) {
        samples[i] = plane_row(plane, i / plane->width)[i % plane->width];
    }
    for (uint32_t y = 0; y < plane->height; y++) {
        size_t row = (size_t)y * plane->width;
        blur_line(samples + row, between + row, plane->width, 1, sigma / (1 << plane->shift_x));
    }
    for (uint32_t x = 0; x < plane->width; x++) {
        blur_line(between + x, result + x, plane->height, plane->width, sigma / (1 << plane->shift_y));
    }
}

static void check_answer(const struct image *source, const struct image *answer, double sigma,
                         const char *name) {
    assert_int_equal(source->plane_count, answer->plane_count);
    for (unsigned p = 0; p < source->plane_count; p++) {
        const struct plane *plane = &answer->plane[p];
        double expected[SIDE * SIDE];
        blur_plane(&source->plane[p], sigma, expected);
        for (uint32_t i = 0; i < plane->width * plane->height; i++) {
            uint8_t sample = plane_row(plane, i / plane->width)[i % plane->width];
            if (fabs(sample - expected[i]) > tolerance) {
                fail_msg("%s, %ux%u, sigma %g, plane %u: sample %u is %d, not %.2f", name, source->width,
                         source->height, sigma, p, i, sample, expected[i]);
            }
        }
    }
}

static void check_size(const struct jpeg_recipe *recipe, double sigma) {
    struct buf file = recipe_file(recipe);
    struct image source = fixture_decode(buf_bytes(&file), true);
    struct image_shape shape = image_shape(&source);
    struct image result = fixture_image(shape);
    struct blur_arguments arguments = {.sigma = sigma, .edge = EDGE_CLAMP};
    struct chain chain = {.count = 0};
    const struct chain_run run = {.chain = &chain, .source = &source, .target = &result};
    struct error err = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, &err), ST_OK);
    assert_int_equal(lane_run(lane, &run, NULL, &err), ST_OK);
    const struct encode_options options = {.quality = 100};
    struct buf written = fixture_encode(CODEC_JPEG, &result, &options, NULL);
    struct image answer = fixture_decode(buf_bytes(&written), true);
    check_answer(&source, &answer, sigma, recipe->name);
    fixture_image_free(&source);
    fixture_image_free(&result);
    fixture_image_free(&answer);
    buf_finish(&file);
    buf_finish(&written);
}

static void test_all_sizes(void **state) {
    (void)state;
    static const double sigmas[] = {0.3, 1, 2.5, 7};
    for (size_t r = 0; r < sizeof(recipes) / sizeof(*recipes); r++) {
        for (uint32_t i = (uint32_t)(r % STEP); i < SIDE * SIDE; i += STEP) {
            struct jpeg_recipe recipe = recipes[r];
            recipe.width = 1 + i % SIDE;
            recipe.height = 1 + i / SIDE;
            check_size(&recipe, sigmas[(i / STEP + r) % 4]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all_sizes)};
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
