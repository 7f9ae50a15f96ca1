/* SPDX-License-Identifier: MIT
 * Compares the predicted cost of filters and regions with their CPU time: for
 * pictures of one row or column, edges that repeat, large kernels, polygons of many points. The unit is the
 * blur of a common picture, measured in the same run, so that the machine does not matter. */
#include "server/planner/cost_filters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/sanitizers.h"
#include "cpu/cpu.h"
#include "cpu/linear.h"
#include "cpu/mask/redact.h"
#include "tests/unit/cpu/region_fixture.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Largest ratio of measured to predicted time; it was up to 400. It is about 8 on an idle host, for enlarging
 * rows of one pixel, and more on a busy one. Sanitizers slow one filter down more than another. */
enum { WITHIN = SANITIZED ? 40 : 16 };

#define MATRIX_ROW "1,2,3,4,5,6,7,8,7,6,5,4,3,2,1"
#define MATRIX_PAIR MATRIX_ROW ";2,9,3,4,5,6,7,8,7,6,5,4,3,2,1;"
#define MATRIX MATRIX_PAIR MATRIX_PAIR MATRIX_PAIR MATRIX_PAIR MATRIX_PAIR MATRIX_PAIR MATRIX_PAIR MATRIX_ROW

static const struct image_shape gray = {.model = PIXEL_GRAY, .depth = 8};
static const struct image_shape rgb = {.model = PIXEL_RGB, .depth = 8};
static const struct image_shape deep = {.model = PIXEL_RGBA, .depth = 16};

static const struct {
    const char *filter, *query;
} kinds[] = {
    {"blur", "sigma=2"},
    {"blur", "sigma=20&edge=zero"},
    {"blur", "sigma=500"},
    {"blur", "sigma=500&edge=mirror"},
    {"blur", "sigma=130&edge=wrap"},
    {"blur", "sigma=20&kernel_size=99&edge=wrap"},
    {"adjust", "saturation=2"},
    {"adjust", "gamma=2.2"},
    {"adjust", "grayscale=true"},
    {"sharpen", "sigma=1"},
    {"sharpen", "sigma=200&edge=mirror"},
    {"convolve", "kernel=" MATRIX "&edge=mirror"},
    {"convolve", "preset=box&size=15"},
    {"convolve", "preset=edge"},
    {"dilate", "radius=1"},
    {"erode", "radius=25&edge=mirror"},
    {"median", "radius=1"},
    {"median", "radius=4"},
    {"median", "radius=25&edge=wrap"},
    {"pixelate", "block=1"},
    {"pixelate", "block=4096"},
    {"resize", "width=301&height=40&fit=fill&enlarge=1"},
    {"resize", "scale=0.5"},
    {"resize", "width=900&height=900&fit=contain&enlarge=1&kernel=nearest"},
    {"stats", ""},
    {NULL, "ops=blur:sigma=500:edge=mirror|blur:sigma=500:edge=mirror|sharpen|pixelate"},
    {"blur", "sigma=3&region=ellipse:0,0,100%25,100%25&region=1,1,50%25,50%25"},
    {"pixelate", "mode=redact"},
    {"pixelate", "mode=redact&region=0,0,100%25,100%25&region=ellipse:0,0,100%25,100%25"},
    {"pixelate", "mode=redact&region=POLYGON&region=POLYGON&region=POLYGON&region=POLYGON"},
};

static const uint32_t sizes[][2] = {{1, 3000}, {3, 2000}, {3000, 1}, {2500, 3}, {127, 129}, {600, 17}};

static int64_t cpu_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Replaces POLYGON by 64 points that zigzag over the picture's height. */
static void ask(struct parameters *parameters, const char *filter, const char *query) {
    struct error err = {0};
    char text[8000] = "", points[2000] = "polygon:";
    size_t used = strlen(points);
    for (unsigned i = 0; i < REGION_POINTS_MAX; i++) {
        used += (size_t)snprintf(points + used, sizeof points - used, "%s%u%%25,%s", i ? "," : "", i,
                                 i % 2 ? "0" : "100%25");
    }
    for (size_t length = 0; *query; query += strncmp(query, "POLYGON", 7) == 0 ? 7 : 1) {
        bool here = strncmp(query, "POLYGON", 7) == 0;
        length += (size_t)snprintf(text + length, sizeof text - length, "%.*s", here ? (int)used : 1,
                                   here ? points : query);
    }
    parameters_init(parameters, filter ? filter_find(filter) : NULL);
    if (parameters_parse(parameters, text, &err) != ST_OK || parameters_check(parameters, &err) != ST_OK) {
        fail_msg("%s: %s", text, err.text);
    }
}

struct made {
    struct lane *lane;
    struct chain chain;
    struct test_image source, target, mask;
};

static int64_t run_once(struct made *made, const struct parameters *parameters) {
    const struct input_arguments *input = &parameters->input;
    struct error err = {0};
    struct mask_report report;
    bool regions = input->region.count > 0, redact = input->mode == MODE_REDACT;
    const struct redact_options redaction = {.block = 8};
    const struct chain_run run = {.chain = &made->chain,
                                  .source = &made->source.image,
                                  .target = &made->target.image,
                                  .mask = regions ? &made->mask.image : NULL};
    int64_t start = cpu_ns();
    enum status status = ST_OK;
    if (redact) {
        status = redact_image(&made->source.image, &input->region, &redaction, &made->mask.image, &err);
    }
    if (regions && status == ST_OK) {
        const struct mask_options drawing = {.outward = redact};
        status = mask_draw(&made->mask.image, &input->region, &drawing, &report, &err);
    }
    status = status == ST_OK ? lane_run(made->lane, &run, NULL, &err) : status;
    assert_int_equal(status, ST_OK);
    return cpu_ns() - start;
}

static struct chain chain_of(const struct image_shape *shape, const struct parameters *parameters) {
    struct chain chain = {0};
    struct error err = {0};
    for (unsigned i = 0; i < parameters->ops.count; i++) {
        const struct operation *operation = &parameters->ops.operation[i];
        assert_int_equal(chain_append(&chain, operation->filter, &operation->arguments, shape, &err), ST_OK);
    }
    return chain;
}

/* The quickest of some runs, so that interruptions do not count. */
static int64_t measure(struct lane *lane, const struct image_shape *shape,
                       const struct parameters *parameters) {
    struct made made = {.lane = lane, .chain = chain_of(shape, parameters)};
    uint64_t random = 1;
    struct image_shape result = chain_result(&made.chain, shape);
    made.source = test_image_make(shape);
    made.target = test_image_make(&result);
    made.mask = gray_image(shape->width, shape->height);
    test_image_fill(&made.source, CONTENT_PHOTO, &random);
    int64_t best = INT64_MAX;
    for (unsigned i = 0; i < 2; i++) {
        int64_t took = run_once(&made, parameters);
        best = took < best ? took : best;
    }
    test_image_free(&made.source);
    test_image_free(&made.target);
    test_image_free(&made.mask);
    return best;
}

static double predicted(const struct image_shape *shape, const struct parameters *parameters) {
    const struct chain chain = chain_of(shape, parameters);
    return (double)cost_filters_ns(parameters, &chain, shape);
}

static void test_shapes(void **state) {
    (void)state;
    const struct image_shape *const models[] = {&gray, &rgb, &deep};
    struct parameters parameters;
    struct backend *backend;
    struct lane *lane;
    struct error err = {0};
    assert_int_equal(cpu_backend_open("auto", &backend, &err), ST_OK);
    assert_int_equal(lane_create(backend, &lane, &err), ST_OK);
    struct image_shape common = rgb;
    common.width = common.height = 1000;
    ask(&parameters, "blur", "sigma=5");
    double unit = (double)measure(lane, &common, &parameters) / predicted(&common, &parameters);
    double least = 1e9, most = 0;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        ask(&parameters, kinds[k].filter, kinds[k].query);
        for (size_t i = 0; i < COUNT(sizes) * COUNT(models); i++) {
            struct image_shape shape = *models[i % COUNT(models)];
            shape.width = sizes[i / COUNT(models)][0];
            shape.height = sizes[i / COUNT(models)][1];
            double real = (double)measure(lane, &shape, &parameters) / unit;
            double ratio = real / predicted(&shape, &parameters);
            least = ratio < least ? ratio : least;
            most = ratio > most ? ratio : most;
            if (ratio > WITHIN) {
                print_message("%ux%u, model %d, %s?%.60s: %.3f ms, predicted %.3f\n", shape.width,
                              shape.height, (int)shape.model, kinds[k].filter ? kinds[k].filter : "pipeline",
                              kinds[k].query, real / 1e6, predicted(&shape, &parameters) / 1e6);
            }
        }
    }
    print_message("from %.2f to %.2f times what was predicted\n", least, most);
    lane_destroy(lane);
    backend_close(backend);
    assert_true(most < WITHIN);
}

/* The prediction counts the conversion from linear light for each sample of the result. */
static void test_light_of_a_larger_result(void **state) {
    (void)state;
    struct parameters native, linear;
    struct image_shape shape = rgb;
    shape.width = shape.height = 100;
    ask(&native, "resize", "scale=8&enlarge=true");
    ask(&linear, "resize", "scale=8&enlarge=true&colorspace=linear");
    const double samples = 800 * 800 * 3;
    assert_true(predicted(&shape, &linear) > predicted(&shape, &native) + 2 * samples);
}

/* Where regions lie is known; where faces, masks of a form and what is not in the regions lie is not. */
static void test_a_region_is_filtered_alone(void **state) {
    (void)state;
    struct parameters whole, some, others;
    struct image_shape shape = rgb;
    shape.width = shape.height = 1000;
    ask(&whole, "median", "radius=5");
    ask(&some, "median", "radius=5&region=100,100,50,50&region=120,300,20,20");
    assert_true(predicted(&shape, &some) * 5 < predicted(&shape, &whole));
    ask(&others, "median", "radius=5&region=100,100,50,50&invert=true");
    assert_true(predicted(&shape, &others) >= predicted(&shape, &whole));
    ask(&others, "median", "radius=5&region=100,100,50,50");
    others.detect.wanted = 1;
    assert_true(predicted(&shape, &others) >= predicted(&shape, &whole));
    ask(&others, "median", "radius=5&region=100,100,50,50&feather=500");
    assert_true(predicted(&shape, &others) >= predicted(&shape, &whole));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),
        cmocka_unit_test(test_light_of_a_larger_result),
        cmocka_unit_test(test_a_region_is_filtered_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
