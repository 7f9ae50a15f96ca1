/* SPDX-License-Identifier: MIT
 * Arguments as text, and the properties of a plan. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "filters/backend.h"
#include "filters/chain.h"

/* last: it defines a macro that is called fail, too */
#include <cmocka.h>

struct parse_case {
    const char *argument;
    const char *text;
    double value;         /* when it is accepted */
    const char *sentence; /* when it is refused, else NULL */
};

#define SIGMA_RANGE ", it must be from 0.1 to 500 pixels"
#define SIZE_RANGE ", it must be an odd whole number from 3 to 99 pixels"
#define EDGE_NAMES ", it must be clamp, mirror, wrap or zero"

static const struct parse_case cases[] = {
    {"sigma", "0.1", 0.1, NULL},
    {"sigma", "500", 500, NULL},
    {"sigma", "5e2", 500, NULL},
    {"sigma", "1.5E+1", 15, NULL},
    {"sigma", "50e-1", 5, NULL},
    {"sigma", ".5", 0.5, NULL},
    {"sigma", "5.", 5, NULL},
    {"sigma", "007", 7, NULL},
    {"sigma", "0.05", 0, "sigma is 0.05" SIGMA_RANGE},
    {"sigma", "500.0001", 0, "sigma is 500.0001" SIGMA_RANGE},
    {"sigma", "-1", 0, "sigma is -1" SIGMA_RANGE},
    {"sigma", "1e309", 0, "sigma is 1e309" SIGMA_RANGE},
    {"sigma", "1e-400", 0, "sigma is 1e-400" SIGMA_RANGE},
    {"sigma", "nan", 0, "sigma is nan" SIGMA_RANGE},
    {"sigma", "inf", 0, "sigma is inf" SIGMA_RANGE},
    {"sigma", "0x10", 0, "sigma is 0x10" SIGMA_RANGE},
    {"sigma", "", 0, "sigma is empty" SIGMA_RANGE},
    {"sigma", ".", 0, "sigma is ." SIGMA_RANGE},
    {"sigma", "-", 0, "sigma is -" SIGMA_RANGE},
    {"sigma", "e5", 0, "sigma is e5" SIGMA_RANGE},
    {"sigma", "1e", 0, "sigma is 1e" SIGMA_RANGE},
    {"sigma", "1e+", 0, "sigma is 1e+" SIGMA_RANGE},
    {"sigma", "1e5x", 0, "sigma is 1e5x" SIGMA_RANGE},
    {"sigma", "2e", 0, "sigma is 2e" SIGMA_RANGE},
    {"sigma", "5px", 0, "sigma is 5px" SIGMA_RANGE},
    {"sigma", "5 ", 0, "sigma is 5 " SIGMA_RANGE},
    {"sigma", " 5", 0, "sigma is  5" SIGMA_RANGE},
    {"sigma", "+5", 0, "sigma is +5" SIGMA_RANGE},
    {"sigma", "1,5", 0, "sigma is 1,5" SIGMA_RANGE},
    {"sigma", "1.2.3", 0, "sigma is 1.2.3" SIGMA_RANGE},
    {"sigma", "5\n\"", 0, "sigma is 5\\x0a\\x22" SIGMA_RANGE},
    {"sigma", "5\x7f\xc3\xa9", 0, "sigma is 5\\x7f\\xc3\\xa9" SIGMA_RANGE},
    {"sigma", "99999999999999999999999999999999999999999999999999", 0,
     "sigma is 9999999999999999999999999999999999999..." SIGMA_RANGE},
    {"kernel_size", "3", 3, NULL},
    {"kernel_size", "99", 99, NULL},
    {"kernel_size", "0", 0, "kernel_size is 0" SIZE_RANGE},
    {"kernel_size", "4", 0, "kernel_size is 4" SIZE_RANGE},
    {"kernel_size", "101", 0, "kernel_size is 101" SIZE_RANGE},
    {"kernel_size", "7.0", 0, "kernel_size is 7.0" SIZE_RANGE},
    {"kernel_size", "1e1", 0, "kernel_size is 1e1" SIZE_RANGE},
    {"kernel_size", "4294967299", 0, "kernel_size is 4294967299" SIZE_RANGE},
    {"edge", "clamp", EDGE_CLAMP, NULL},
    {"edge", "zero", EDGE_ZERO, NULL},
    {"edge", "Clamp", 0, "edge is Clamp" EDGE_NAMES},
    {"edge", "", 0, "edge is empty" EDGE_NAMES},
    {"edge", "mirror ", 0, "edge is mirror " EDGE_NAMES},
};

static double field(const struct blur_arguments *arguments, const char *name) {
    return strcmp(name, "sigma") == 0         ? arguments->sigma
           : strcmp(name, "kernel_size") == 0 ? arguments->kernel_size
                                              : arguments->edge;
}

static void test_parsing(void **state) {
    (void)state;
    const struct filter *blur = filter_find("blur");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct parse_case *c = &cases[i];
        struct blur_arguments arguments = {.sigma = -7, .kernel_size = -7, .edge = -7};
        struct error err = {0};
        const struct argument *row = argument_find(blur->arguments, c->argument);
        enum status status = argument_parse(row, c->text, &arguments, &err);
        if (c->sentence) {
            assert_int_equal(status, ST_ARGUMENT);
            assert_string_equal(err.parameter, c->argument);
            assert_string_equal(err.text, c->sentence);
            assert_true(field(&arguments, c->argument) < 0); /* untouched */
        } else {
            assert_int_equal(status, ST_OK);
            assert_true(fabs(field(&arguments, c->argument) - c->value) < 1e-12);
        }
    }
}

static void test_switch(void **state) {
    (void)state;
    const struct argument row = {.name = "invert", .type = ARGUMENT_SWITCH};
    static const struct {
        const char *text;
        bool on;
    } good[] = {{"true", true}, {"1", true}, {"false", false}, {"0", false}};
    for (size_t i = 0; i < 4; i++) {
        bool on = !good[i].on;
        assert_int_equal(argument_parse(&row, good[i].text, &on, NULL), ST_OK);
        assert_int_equal(on, good[i].on);
    }
    bool on = true;
    struct error err = {0};
    assert_int_equal(argument_parse(&row, "yes", &on, &err), ST_ARGUMENT);
    assert_string_equal(err.text, "invert is yes, it must be false, true, 0 or 1");
}

/* Names in any order, each once. Where something must be named, "none" is refused. */
static void test_set(void **state) {
    (void)state;
    static const char *const choices[] = {"none", "faces", "text", "codes", NULL};
    static const struct {
        const char *text;
        double initial;
        uint32_t bits; /* 0: refused, or with `none` empty */
    } sets[] = {{"none", 0, 0},
                {"faces", 0, 1},
                {"codes", 1, 4},
                {"codes,faces", 1, 5},
                {"text,codes,faces", 0, 7},
                {"none", 1, 0},
                {"faces,none", 0, 0},
                {"faces,faces", 0, 0},
                {"faces,", 0, 0},
                {",faces", 0, 0},
                {"faces, text", 0, 0},
                {"Faces", 0, 0},
                {"face", 0, 0},
                {"", 0, 0},
                {"faces,text,codes,text", 0, 0}};
    for (size_t i = 0; i < sizeof sets / sizeof sets[0]; i++) {
        const struct argument row = {
            .name = "detect", .type = ARGUMENT_SET, .choices = choices, .initial = sets[i].initial};
        uint32_t bits = 99;
        struct error err = {0};
        enum status status = argument_parse(&row, sets[i].text, &bits, &err);
        assert_int_equal(status, sets[i].bits || i == 0 ? ST_OK : ST_ARGUMENT);
        assert_int_equal(bits, status == ST_OK ? sets[i].bits : 99);
        assert_true(status == ST_OK ||
                    strstr(err.text, row.initial > 0 ? "it must be faces, text or codes; several"
                                                     : "it must be none, faces, text or codes; several"));
    }
}

static void test_tables(void **state) {
    (void)state;
    assert_null(filter_find("blu"));
    assert_null(filter_find(""));
    assert_null(filter_get(FILTER_COUNT));
    for (unsigned id = 0; id < FILTER_COUNT; id++) {
        const struct filter *filter = filter_get((enum filter_id)id);
        assert_ptr_equal(filter_find(filter->name), filter);
        assert_null(argument_find(filter->arguments, "nothing"));
    }
    struct blur_arguments arguments;
    arguments_default(filter_get(FILTER_BLUR)->arguments, &arguments);
    assert_true(fabs(arguments.sigma - 1.5) < 1e-12);
    assert_int_equal(arguments.kernel_size, 0);
    assert_int_equal(arguments.edge, EDGE_CLAMP);
}

static struct blur_plan plan_for(double sigma, int kernel_size, unsigned shift_x, unsigned shift_y) {
    struct blur_arguments arguments = {.sigma = sigma, .kernel_size = kernel_size};
    struct image_shape shape = {.model = PIXEL_YCBCR,
                                .depth = 8,
                                .chroma_shift_x = (uint8_t)shift_x,
                                .chroma_shift_y = (uint8_t)shift_y,
                                .width = 10,
                                .height = 10};
    struct chain chain = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_OK);
    assert_int_equal(chain_check(&chain, &shape, NULL), ST_OK);
    return chain.step[0].blur;
}

/* Variance of the whole axis in pixels of the plane: that of the taps plus that of the reduction. */
static double variance(const struct blur_axis *axis) {
    double sum = 0;
    for (int k = 1; k <= axis->radius; k++) {
        sum += 2.0 * k * k * axis->weight[k] / 32768;
    }
    double f = 1 << axis->levels;
    return axis->levels ? sum * f * f + (2 * f * f - 1) / 3 : sum;
}

static void check_axis(const struct blur_axis *axis, double sigma) {
    int whole = axis->weight[0];
    double real = (double)axis->weight_float[0];
    for (unsigned k = 1; k <= axis->radius; k++) {
        assert_true(axis->weight[k] <= axis->weight[k - 1]);
        whole += 2 * axis->weight[k];
        real += 2 * (double)axis->weight_float[k];
        assert_true(fabs(axis->weight[k] - 32768 * (double)axis->weight_float[k]) < 2);
    }
    assert_int_equal(whole, 32768);
    assert_true(fabs(real - 1) < 1e-6);
    assert_true(axis->radius <= 16);
    /* below, samples of a Gaussian have another variance than the Gaussian */
    assert_true(sigma < 0.8 || fabs(variance(axis) - sigma * sigma) < 0.007 * sigma * sigma + 0.001);
    assert_true(axis->levels == 0 ? sigma < 4 : ldexp(2, axis->levels) <= sigma);
    assert_true(sigma < 4 || ldexp(4, axis->levels) > sigma);
}

static void test_plans(void **state) {
    (void)state;
    for (double sigma = 0.1; sigma <= 500; sigma *= 1.03) {
        struct blur_plan plan = plan_for(sigma, 0, 1, 2);
        check_axis(&plan.axis[0], sigma);
        check_axis(&plan.axis[1], sigma / 2);
        check_axis(&plan.axis[2], sigma / 4);
    }
    assert_int_equal(plan_for(500, 0, 0, 0).axis[0].levels, 7);
    assert_int_equal(plan_for(4, 0, 0, 0).axis[0].levels, 1);
    assert_int_equal(plan_for(5, 0, 0, 0).axis[1].radius, 0); /* does not occur: left empty */
}

static void test_kernel_sizes(void **state) {
    (void)state;
    for (int size = 3; size <= 99; size += 2) {
        struct blur_plan plan = plan_for(size / 3.0, size, 1, 2);
        for (int shift = 0; shift < 3; shift++) {
            assert_int_equal(plan.axis[shift].levels, 0);
            assert_int_equal(plan.axis[shift].radius, (size / 2 + (1 << shift) - 1) >> shift);
        }
    }
    struct blur_plan seven = plan_for(1.5, 7, 0, 0);
    double ratio = exp(-1 / (2 * 1.5 * 1.5));
    assert_true(fabs((double)seven.axis[0].weight_float[1] / (double)seven.axis[0].weight_float[0] - ratio) <
                1e-6);
}

static void test_stages(void **state) {
    (void)state;
    static const unsigned step_of[BLUR_LEVELS_MAX + 1][3] = {{0},    {1},    {2},       {3},      {3, 1},
                                                             {3, 2}, {3, 3}, {3, 3, 1}, {3, 3, 2}};
    for (unsigned levels = 0; levels <= BLUR_LEVELS_MAX; levels++) {
        struct blur_stage stage[BLUR_STAGES_MAX] = {0};
        unsigned count = blur_stages(levels, stage);
        double spread = 0;
        double scale = 1;
        for (unsigned i = 0; i < count; i++) {
            assert_int_equal(stage[i].shift, step_of[levels][i]);
            int sum = stage[i].weight[0];
            for (int k = 1; k <= stage[i].radius; k++) {
                sum += 2 * stage[i].weight[k];
                spread += scale * scale * 2.0 * k * k * stage[i].weight[k] / 32768;
                assert_true((double)stage[i].weight_float[k] == stage[i].weight[k] / 32768.0);
            }
            assert_int_equal(sum, 32768);
            scale *= 1 << stage[i].shift;
        }
        assert_true(fabs(scale - ldexp(1, (int)levels)) < 1e-9);
        assert_true(fabs(spread - (scale * scale - 1) / 3) < 1e-6);
    }
    struct blur_stage halve[BLUR_STAGES_MAX];
    blur_stages(1, halve);
    assert_int_equal(halve[0].weight[0], 6 * 2048);
    assert_int_equal(halve[0].weight[1], 4 * 2048);
    assert_int_equal(halve[0].weight[2], 1 * 2048);
}

static void test_enlargement(void **state) {
    (void)state;
    for (unsigned levels = 1; levels <= BLUR_LEVELS_MAX; levels++) {
        unsigned f = 1u << levels;
        for (unsigned phase = 0; phase < f; phase++) {
            int16_t weight[4];
            int16_t mirrored[4];
            float real[4];
            blur_enlarge(levels, (f - phase) % f, mirrored, real);
            blur_enlarge(levels, phase, weight, real);
            assert_int_equal(weight[0] + weight[1] + weight[2] + weight[3], 32768);
            double t = (double)phase / f;
            assert_true(fabs((double)real[3] - t * t * t / 6) < 1e-7);
            assert_true(fabs((double)real[0] - (1 - t) * (1 - t) * (1 - t) / 6) < 1e-7);
            for (unsigned k = 0; k < 4; k++) {
                assert_true(fabs(weight[k] - 32768 * (double)real[k]) < 2);
                assert_true(phase == 0 || weight[k] == mirrored[3 - k] || 2 * phase == f);
            }
        }
    }
}

static void test_chain_bounds(void **state) {
    (void)state;
    struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = 4, .height = 4};
    struct blur_arguments arguments = {.sigma = 2};
    struct chain chain = {0};
    for (unsigned i = 0; i < CHAIN_STEPS_MAX; i++) {
        assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_OK);
    }
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_ARGUMENT);
    assert_int_equal(chain.count, CHAIN_STEPS_MAX);
    chain.step[3].blur.edge = EDGE_ZERO + 1;
    assert_int_equal(chain_check(&chain, &shape, NULL), ST_INTERNAL);
    chain.step[3].blur.edge = 0;
    assert_int_equal(chain_check(&chain, &shape, NULL), ST_OK);
    chain.step[3].blur.axis[0].weight_float[1] = NAN;
    assert_int_equal(chain_check(&chain, &shape, NULL), ST_INTERNAL);
    chain.step[3].filter = FILTER_COUNT;
    assert_int_equal(chain_check(&chain, &shape, NULL), ST_INTERNAL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parsing),      cmocka_unit_test(test_switch),
        cmocka_unit_test(test_set),          cmocka_unit_test(test_tables),
        cmocka_unit_test(test_plans),        cmocka_unit_test(test_kernel_sizes),
        cmocka_unit_test(test_stages),       cmocka_unit_test(test_enlargement),
        cmocka_unit_test(test_chain_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
