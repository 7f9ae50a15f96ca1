/* SPDX-License-Identifier: MIT
 * shrink=fast: which pictures are decoded at a part of their size, their shapes, and the place of their
 * samples. */
#include "server/message/parameters.h"
#include "server/planner/plan.h"
#include "server/planner/way.h"
#include "tests/unit/codecs/picture_fixture.h"
#include "tests/unit/server/planner/gpu_fixture.h"

struct request {
    uint32_t width, height;
    uint8_t shift; /* of chroma, on both axes; 3: grey */
    uint8_t orientation;
    enum codec_id codec;
    int target; /* width of the result */
    enum resize_kernel kernel;
    int shrink, mode, colorspace;
    unsigned reduction; /* that is chosen */
};

static const struct request requests[] = {
    {1600, 1200, 1, 1, CODEC_JPEG, 400, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 1},
    {1600, 1200, 1, 1, CODEC_JPEG, 401, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 0},
    {1600, 1200, 1, 1, CODEC_JPEG, 200, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 2},
    {1600, 1200, 1, 1, CODEC_JPEG, 100, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 3},
    {1600, 1200, 1, 1, CODEC_JPEG, 10, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 3},
    {1597, 1201, 0, 1, CODEC_JPEG, 150, RESIZE_AREA, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 2},
    {1597, 1201, 3, 1, CODEC_JPEG, 150, RESIZE_AREA, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 2},
    {1597, 1201, 2, 1, CODEC_JPEG, 150, RESIZE_AREA, RESIZE_FAST, MODE_PLAIN, COLORSPACE_RGB, 2},
    {1600, 1200, 1, 1, CODEC_JPEG, 100, RESIZE_LANCZOS3, RESIZE_EXACT, MODE_PLAIN, COLORSPACE_NATIVE, 0},
    {1600, 1200, 1, 1, CODEC_JPEG, 100, RESIZE_NEAREST, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 0},
    {1600, 1200, 1, 1, CODEC_JPEG, 100, RESIZE_LANCZOS3, RESIZE_FAST, MODE_REDACT, COLORSPACE_NATIVE, 0},
    {1600, 1200, 1, 1, CODEC_JPEG, 100, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_LINEAR, 0},
    {1600, 1200, 1, 1, CODEC_PNG, 100, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 0},
    /* The samples of a turned picture must not be cut by a border. */
    {1600, 1200, 1, 6, CODEC_JPEG, 75, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 3},
    {1604, 1200, 1, 3, CODEC_JPEG, 100, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 2},
    {1601, 1200, 0, 3, CODEC_JPEG, 100, RESIZE_LANCZOS3, RESIZE_FAST, MODE_PLAIN, COLORSPACE_NATIVE, 0},
};

static struct picture picture_of(const struct request *request) {
    struct picture picture = {.codec = request->codec, .metadata.orientation = request->orientation};
    picture.pixels =
        fixture_shape(request->shift == 3 ? PIXEL_GRAY : PIXEL_RGB, 8, request->width, request->height);
    picture.native = picture.pixels;
    if (request->codec == CODEC_JPEG && request->shift < 3) {
        picture.native.model = PIXEL_YCBCR;
        picture.native.chroma_shift_x = picture.native.chroma_shift_y = request->shift;
    }
    return picture;
}

static void expect_plan(const struct request *request, const struct work_plan *plan,
                        const struct work_plan *whole) {
    struct image_shape result = chain_result(&plan->chain, &plan->filtered);
    struct image_shape wanted = chain_result(&whole->chain, &whole->filtered);
    struct image_shape reduced = codec_reduced(&whole->stored, request->reduction);
    assert_int_equal(plan->limits.reduction, request->reduction);
    assert_true(image_same_shape(&plan->stored, &reduced));
    assert_true(image_same_shape(&result, &wanted));
    assert_true(image_same_shape(&plan->encoded, &whole->encoded));
    assert_int_equal(chain_check(&plan->chain, &plan->filtered, &(struct error){0}), ST_OK);
    assert_true(request->reduction == 0 || !way_fits(WAY_GPU_FILE, plan, &gpu));
}

static void test_which_pictures(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        const struct request *request = &requests[i];
        struct parameters parameters;
        parameters_init(&parameters, filter_find("resize"));
        struct resize_arguments *resize = &parameters.ops.operation[0].arguments.resize;
        struct work_plan plan = {.parameters = &parameters, .picture = picture_of(request)}, whole = plan;
        parameters.input.mode = request->mode;
        parameters.input.colorspace = request->colorspace;
        resize->width = request->target;
        resize->kernel = request->kernel;
        assert_int_equal(plan_decide(&whole, NULL, &(struct error){0}), ST_OK);
        resize->shrink = request->shrink;
        assert_int_equal(plan_decide(&plan, NULL, &(struct error){0}), ST_OK);
        expect_plan(request, &plan, &whole);
    }
}

/* Slopes have the same value at the same place in reduced pictures, without a shift. */
static void paint_slope(struct image *image) {
    for (unsigned p = 0; p < image->plane_count; p++) {
        const struct plane *plane = &image->plane[p];
        for (uint32_t y = 0; y < plane->height; y++) {
            for (uint32_t x = 0; x < plane->width; x++) {
                double column = (x + 0.5) * (1u << plane->shift_x), row = (y + 0.5) * (1u << plane->shift_y);
                plane_row(plane, y)[x] = (uint8_t)(20.5 + 1.25 * column + 0.5 * row);
            }
        }
    }
}

static double most_off(const struct image *image, unsigned reduction) {
    double most = 0;
    for (unsigned p = 0; p < image->plane_count; p++) {
        const struct plane *plane = &image->plane[p];
        uint32_t step_x = 1u << (plane->shift_x + reduction), step_y = 1u << (plane->shift_y + reduction);
        for (uint32_t y = 0; y < image->height >> (plane->shift_y); y++) {
            for (uint32_t x = 0; x < image->width >> (plane->shift_x); x++) {
                double wanted = 20 + 1.25 * (x + 0.5) * step_x + 0.5 * (y + 0.5) * step_y;
                double off = plane_row(plane, y)[x] - wanted;
                most = off > most ? off : -off > most ? -off : most;
            }
        }
    }
    return most;
}

static void test_no_shift(void **state) {
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct image_shape shape = fixture_shape(i / 4 == 2 ? PIXEL_GRAY : PIXEL_YCBCR, 8, 128, 64);
        shape.chroma_shift_x = shape.chroma_shift_y = i / 4 == 0;
        struct image image = fixture_image(shape);
        paint_slope(&image);
        struct encode_options options = {.quality = 100, .progressive = i % 2};
        struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
        struct bytes input = {file.data, file.size};
        struct picture picture = fixture_probe(input);
        struct codec_limits limits = fixture_limits();
        limits.reduction = i % 4;
        struct image reduced = fixture_image(codec_reduced(&picture.native, limits.reduction));
        assert_int_equal(codec_decode(input, &picture, &limits, &reduced, &(struct error){0}), ST_OK);
        double most = most_off(&reduced, limits.reduction);
        if (most > 1.5) {
            fail_msg("case %u is off by %g", i, most);
        }
        fixture_image_free(&reduced);
        fixture_image_free(&image);
        codec_picture_finish(&picture);
        buf_finish(&file);
    }
}

/* Memory of another shape is not written to. */
static void test_other_shapes_are_refused(void **state) {
    (void)state;
    struct image_shape shape = fixture_shape(PIXEL_GRAY, 8, 64, 64);
    struct image image = fixture_painted(shape);
    struct encode_options options = fixture_options();
    struct buf file = fixture_encode(CODEC_JPEG, &image, &options, NULL);
    struct bytes input = {file.data, file.size};
    struct picture picture = fixture_probe(input);
    struct codec_limits limits = fixture_limits();
    limits.reduction = 1;
    assert_int_equal(codec_decode(input, &picture, &limits, &image, &(struct error){0}), ST_INTERNAL);
    fixture_image_free(&image);
    codec_picture_finish(&picture);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_which_pictures),
        cmocka_unit_test(test_no_shift),
        cmocka_unit_test(test_other_shapes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
