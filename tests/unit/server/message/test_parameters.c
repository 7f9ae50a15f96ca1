/* SPDX-License-Identifier: MIT */
#include "server/message/parameters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/config.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

static enum status parse(const char *query, struct parameters *parameters, struct error *err) {
    parameters_init(parameters, filter_find("blur"));
    memset(err, 0x55, sizeof *err); /* it need not be clean */
    return parameters_parse(parameters, query, err);
}

static struct parameters parse_ok(const char *query) {
    struct parameters parameters;
    struct error err;
    if (parse(query, &parameters, &err) != ST_OK) {
        fail_msg("\"%s\" was refused: %s", query, err.text);
    }
    return parameters;
}

static void test_defaults(void **state) {
    (void)state;
    static const char *const queries[] = {NULL, "", "&", "&&"};
    for (int i = 0; i < 4; i++) {
        struct parameters parameters = parse_ok(queries[i]);
        const struct output_arguments *output = &parameters.output;
        assert_string_equal(parameters.filter->name, "blur");
        assert_int_equal(parameters.given, 0);
        assert_true(parameters.ops.operation[0].arguments.blur.sigma == 1.5);
        assert_int_equal(parameters.ops.operation[0].arguments.blur.kernel_size, 0);
        assert_int_equal(output->format, FORMAT_AUTO);
        assert_int_equal(output->quality, 85);
        assert_int_equal(output->subsampling, SUBSAMPLING_AUTO);
        assert_int_equal(output->effort, 1);
        assert_int_equal(output->metadata, METADATA_STRIP);
        assert_int_equal(parameters.input.colorspace, COLORSPACE_NATIVE);
        assert_true(parameters.input.autorotate);
        assert_false(output->progressive);
    }
}

static void test_all(void **state) {
    (void)state;
    struct parameters parameters =
        parse_ok("sigma=2.5&kernel_size=5&edge=wrap&format=png&quality=100&effort=9&"
                 "subsampling=444&progressive=true&metadata=keep&autorotate=0&"
                 "colorspace=rgb");
    const struct output_arguments *output = &parameters.output;
    assert_true(parameters.ops.operation[0].arguments.blur.sigma == 2.5);
    assert_int_equal(parameters.ops.operation[0].arguments.blur.kernel_size, 5);
    assert_int_equal(output->format, FORMAT_PNG);
    assert_int_equal(output->quality, 100);
    assert_int_equal(output->effort, 9);
    assert_int_equal(output->subsampling, SUBSAMPLING_444);
    assert_int_equal(output->metadata, METADATA_KEEP);
    assert_int_equal(parameters.input.colorspace, COLORSPACE_RGB);
    assert_false(parameters.input.autorotate);
    assert_true(output->progressive);
    assert_int_equal(__builtin_popcountll(parameters.given), 11);
    assert_int_equal(parse_ok("form%61t=%6apeg").output.format, FORMAT_JPEG);
}

static void test_switches_in_any_case_of_letters(void **state) {
    (void)state;
    static const char *const on[] = {"true", "True", "TRUE", "tRuE", "1"};
    static const char *const off[] = {"false", "False", "FALSE", "0"};
    char query[40];
    for (size_t i = 0; i < sizeof on / sizeof *on; i++) {
        snprintf(query, sizeof query, "progressive=%s", on[i]);
        assert_true(parse_ok(query).output.progressive);
    }
    for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
        snprintf(query, sizeof query, "autorotate=%s", off[i]);
        assert_false(parse_ok(query).input.autorotate);
    }
}

static const struct {
    const char *query;
    const char *parameter;
    const char *word;
} refused[] = {
    {"sigma=0.05", "sigma", "0.1"},
    {"sigma=501", "sigma", "500"},
    {"sigma=", "sigma", ""},
    {"sigma", "sigma", ""},
    {"sigma=nan", "sigma", ""},
    {"sigma=1e", "sigma", ""},
    {"sigma=2+", "sigma", ""},
    {"kernel_size=4", "kernel_size", "odd"},
    {"kernel_size=1", "kernel_size", "3"},
    {"edge=none", "edge", "clamp"},
    {"quality=0", "quality", "1"},
    {"quality=101", "quality", "100"},
    {"quality=8.5", "quality", ""},
    {"effort=-1", "effort", "0"},
    {"effort=10", "effort", "9"},
    {"format=tga", "format", "jpeg"},
    {"page=65536", "page", "from 0 to 65535"},
    {"lossless=2", "lossless", "true"},
    {"format=PNG", "format", "png"},
    {"subsampling=411", "subsampling", "420"},
    {"progressive=yes", "progressive", "true"},
    {"autorotate=2", "autorotate", "false"},
    {"autorotate=Truer", "autorotate", "false"},
    {"metadata=all", "metadata", "strip"},
    {"colorspace=cmyk", "colorspace", "native"},
    {"sigma=1&sigma=1", "sigma", "more than once"},
    {"format=png&sigma=1&format=png", "format", "more than once"},
    {"sigma=1&s%69gma=1", "sigma", "more than once"},
    {"Sigma=1", "Sigma", "unknown parameter, did you mean sigma? blur takes sigma,"},
    {"radius=1", "radius", "unknown parameter, did you mean sigma? blur takes sigma,"},
    {"qualty=1", "qualty", "did you mean quality?"},
    {"w=1", "w", "unknown parameter; blur takes sigma,"},
    {"mode2d=1", "mode2d", "unknown parameter, did you mean mode?"},
    {"background=fff", "background", "did you mean fill?"},
    {"=1", "", "unknown"},
    {"x=%00", "x", "zero"},
    {"sigma=%zz", "sigma", "percent"},
    {"sigma=1&&nothing", "nothing", "unknown"},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct parameters parameters;
        struct error err;
        if (parse(refused[i].query, &parameters, &err) != ST_ARGUMENT || err.status != ST_ARGUMENT) {
            fail_msg("\"%s\" was taken", refused[i].query);
        }
        assert_string_equal(err.parameter, refused[i].parameter);
        if (!err.text[0] || !strstr(err.text, refused[i].word)) {
            fail_msg("\"%s\": \"%s\" does not say \"%s\"", refused[i].query, err.text, refused[i].word);
        }
    }
}

/* The parameters of each endpoint beside the shared ones. */
static const struct {
    const char *filter; /* NULL: the pipeline */
    const char *own;
    const char *refused;
} endpoints[] = {
    {"adjust", "brightness contrast saturation gamma grayscale sepia duotone negate quality", "ops mode"},
    {"blur", "sigma kernel_size edge mode feather quality", "ops block amount"},
    {"convolve", "kernel preset size divisor bias edge feather quality", "ops sigma mode"},
    {"dilate", "radius edge feather quality", "ops sigma mode"},
    {"erode", "radius edge feather quality", "ops sigma mode"},
    {"median", "radius edge feather quality", "ops sigma mode"},
    {"pixelate", "block mode feather quality", "ops sigma edge"},
    {"placeholder", "components_x components_y mode", "ops sigma quality feather"},
    {"redact", "fill detect keep except require feather quality", "ops sigma mode"},
    {"resize", "width height scale fit kernel gravity enlarge background mode quality", "ops sigma"},
    {"sharpen", "sigma amount threshold edge feather quality", "ops kernel_size mode"},
    {"stats", "", "ops sigma feather quality format mode effort"},
    {NULL, "ops feather mode quality format", "sigma block kernel"},
};
enum { ENDPOINTS = sizeof endpoints / sizeof *endpoints };
static const char shared[] = "autorotate colorspace invert region";

static void init(struct parameters *parameters, unsigned endpoint) {
    const char *filter = endpoints[endpoint].filter;
    parameters_init(parameters, filter ? filter_find(filter) : NULL);
}

/* The sentence about an unknown parameter names every one that there is, whole, and no other. */
static void check_names(const struct parameters *parameters, const char *text, const char *names,
                        bool known) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", names);
    for (char *rest, *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        char listed[64], last[64];
        snprintf(listed, sizeof listed, " %s,", name);
        snprintf(last, sizeof last, ", %s", name);
        bool there = strstr(text, listed) != NULL;
        there = there || (strstr(text, last) && !strstr(text, last)[strlen(last)]);
        assert_int_equal(there, known);
        assert_int_equal(parameters_know(parameters, name), known);
    }
}

static void test_endpoints(void **state) {
    (void)state;
    for (unsigned i = 0; i < ENDPOINTS; i++) {
        struct parameters parameters;
        struct error err;
        init(&parameters, i);
        assert_int_equal(parameters_set(&parameters, "x", "", &err), ST_ARGUMENT);
        assert_true(strlen(err.text) < sizeof err.text - 1);
        check_names(&parameters, err.text, shared, true);
        check_names(&parameters, err.text, endpoints[i].own, true);
        check_names(&parameters, err.text, endpoints[i].refused, false);
    }
}

/* Every parameter has its own bit, and refuses nonsense by name. */
static void check_bits(unsigned endpoint, const char *names, uint64_t *seen) {
    char copy[128];
    snprintf(copy, sizeof copy, "%s", names);
    for (char *rest, *name = strtok_r(copy, " ", &rest); name; name = strtok_r(NULL, " ", &rest)) {
        struct parameters parameters;
        struct error err;
        init(&parameters, endpoint);
        assert_false(parameters_given(&parameters, name));
        assert_int_equal(parameters_set(&parameters, name, "?", &err), ST_ARGUMENT);
        assert_string_equal(err.parameter, name);
        assert_true(parameters_given(&parameters, name));
        assert_int_equal(__builtin_popcountll(parameters.given), 1);
        assert_false(*seen & parameters.given);
        *seen |= parameters.given;
    }
}

static void test_bits(void **state) {
    (void)state;
    for (unsigned i = 0; i < ENDPOINTS; i++) {
        uint64_t seen = 0;
        check_bits(i, shared, &seen);
        check_bits(i, endpoints[i].own, &seen);
    }
}

/* Queries that are well-formed one by one; `word` NULL: they also go together. */
static const struct {
    const char *filter, *query, *parameter, *word;
} combined[] = {
    {"blur", "region=1,2,3,4&region=ellipse:10%25,10%25,50%25,50%25&invert=1&feather=3", NULL, NULL},
    {"blur", "mode=redact&region=1,2,3,4", NULL, NULL},
    {"blur", "mode=redact", NULL, NULL},
    {"blur", "invert=1", "invert", "needs a region"},
    {"blur", "feather=2", "feather", "needs a region"},
    {"blur", "unit=px", NULL, NULL},
    {"blur", "unit=percent", "unit", "needs a region"},
    {"blur", "region=0.1,0.1,0.2,0.2&unit=ratio", NULL, NULL},
    {"blur", "unit=ratio&region=1,2,3,4", "region", "with unit=ratio it must be from 0 to 1"},
    {"blur", "region=1,2,3,4&unit=ratio", "region", "with unit=ratio it must be from 0 to 1"},
    {"blur", "keep=1,2,3,4", "keep", "keep needs detect"},
    {"blur", "except=1,2,3,4", "except", "except needs detect"},
    {"blur", "except=1,2,3,4&region=1,2,3,4", "except", "except needs detect"},
    {"blur", "except=1,2,3,4&unit=ratio&detect=faces", "except", "with unit=ratio it must be from 0 to 1"},
    {"redact", "region=1,2,3,4", NULL, NULL},
    {"redact", "", "region", "nothing says what has to go"},
    {"redact", "fill=000000", "region", "nothing says what has to go"},
    {"blur", "keep=1,2,3,4&region=1,2,3,4", "keep", "keep needs detect"},
    {"blur", "keep=1,2,3,4&unit=ratio&detect=faces", "keep", "with unit=ratio it must be from 0 to 1"},
    {"blur", "mode=redact&metadata=keep", "metadata", "redact"},
    {"convolve", "preset=edge&edge=frame", NULL, NULL},
    {"convolve", "preset=box&size=7", NULL, NULL},
    {"convolve", "kernel=1,2,1;2,4,2;1,2,1", NULL, NULL},
    {"convolve", "kernel=[[1,2,1],[2,4,2],%20[1,2,1]]", NULL, NULL},
    {"convolve", "kernel=1,2,1,2,4,2,1,2,1&size=3", NULL, NULL},
    {"convolve", "kernel=-1,0,1", NULL, NULL},
    {"convolve", "", "kernel", "neither"},
    {"convolve", "preset=edge&kernel=1", "preset", "both"},
    {"convolve", "preset=edge&size=5", "size", "3 by 3"},
    {"convolve", "preset=edge&divisor=-1e-9", NULL, NULL},
    {"convolve", "kernel=1,2,1,2,4,2,1,2&size=3", "kernel", "must have 9"},
    {"convolve", "kernel=1,2;3,4", "kernel", "odd"},
    {"convolve", "kernel=1,2,1,2,4,2,1,2,1,1,1,1,1,1,1,1,1", "kernel", "needs size"},
    {NULL, "ops=blur:sigma=8:edge=wrap|sharpen:amount=0.5|pixelate|convolve:kernel=1,0,1;0,1,0;1,0,1", NULL,
     NULL},
    {NULL, "", "ops", "missing"},
    {NULL, "ops=blur|convolve", "ops", "step 2: neither kernel nor preset"},
};

static void test_together(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof combined / sizeof *combined; i++) {
        struct parameters parameters;
        struct error err;
        parameters_init(&parameters, combined[i].filter ? filter_find(combined[i].filter) : NULL);
        assert_int_equal(parameters_parse(&parameters, combined[i].query, &err), ST_OK);
        enum status status = parameters_check(&parameters, &err);
        assert_int_equal(status, combined[i].word ? ST_ARGUMENT : ST_OK);
        if (combined[i].word) {
            assert_string_equal(err.parameter, combined[i].parameter);
            assert_non_null(strstr(err.text, combined[i].word));
        }
    }
}

static const struct {
    const char *filter, *name, *value, *word;
} refused_values[] = {
    {"convolve", "kernel", "1,2,x", "\"x\" is not a number"},
    {"convolve", "kernel", "1,nan,2", "not a number"},
    {"convolve", "kernel", "1,2;3", "row 2 has 1 numbers, the first one has 2"},
    {"convolve", "kernel", "", "not a number"},
    {"convolve", "kernel", "1,2,", "not a number"},
    {"convolve", "kernel", "1e7", "out of range"},
    {"convolve", "kernel", "[[1,2,1]", "not the end of the array"},
    {"convolve", "kernel", "[1,2,1]]", "follows the matrix"},
    {"convolve", "kernel", "[[1,2,1],]", "start of a row"},
    {"convolve", "size", "4", "odd"},
    {"convolve", "divisor", "0", "not nearer to 0 than 1e-09"},
    {"convolve", "divisor", "-1e-20", "not nearer to 0 than 1e-09"},
    {"convolve", "preset", "blur", "laplacian"},
    {"adjust", "gamma", "0", "from 0.2 to 5"},
    {"adjust", "duotone", "red,blue", "two colours of 3 or 6 hexadecimal digits"},
    {"dilate", "radius", "0", "from 1 to 25 pixels"},
    {"erode", "radius", "26", "from 1 to 25 pixels"},
    {"erode", "edge", "frame", "mirror"},
    {"median", "radius", "0", "from 1 to 25 pixels"},
    {"median", "radius", "2.5", "2.5"},
    {"pixelate", "block", "0", "from 1 to 4096 pixels"},
    {"sharpen", "amount", "11", "from 0 to 10"},
    {NULL, "ops", "", "step 1: unknown filter empty"},
    {NULL, "ops", "blur|", "step 2: unknown filter empty"},
    {NULL, "ops", "stats", "step 1: unknown filter stats"},
    {NULL, "ops", "blur:sigma=900", "step 1: sigma is 900"},
    {NULL, "ops", "blur:sigma", "step 1: sigma is empty"},
    {NULL, "ops", "sharpen:sigma=x:amount=1", "step 1: sigma is x"},
    {NULL, "ops", "\"\\\x01\x7f", "unknown filter "},
    {NULL, "ops", "blur|sharpen:sigma=1:sigma=2", "step 2: sigma is given more than once"},
    {NULL, "ops", "blur:block=3", "step 1: unknown argument block; blur takes sigma, kernel_size, edge"},
    {NULL, "ops", "blur|blur|blur|blur|blur|blur|blur|blur|blur", "more than 8 steps"},
};

static void test_values_refused(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refused_values / sizeof *refused_values; i++) {
        struct parameters parameters;
        struct error err;
        parameters_init(&parameters, refused_values[i].filter ? filter_find(refused_values[i].filter) : NULL);
        assert_int_equal(parameters_set(&parameters, refused_values[i].name, refused_values[i].value, &err),
                         ST_ARGUMENT);
        assert_string_equal(err.parameter, refused_values[i].name);
        if (!strstr(err.text, refused_values[i].word)) {
            fail_msg("\"%s\": \"%s\" does not say \"%s\"", refused_values[i].value, err.text,
                     refused_values[i].word);
        }
    }
}

/* The option that bounds the steps cannot ask for more than a chain holds. */
static void test_steps(void **state) {
    (void)state;
    size_t count;
    const struct option *rows = config_options(&count);
    while (count > 0 && strcmp(rows[count - 1].name, "max_steps") != 0) {
        count--;
    }
    assert_true(count > 0 && rows[count - 1].maximum == CHAIN_STEPS_MAX);
    struct parameters parameters;
    struct error err = {0};
    parameters_init(&parameters, NULL);
    parameters.ops.most = 1;
    assert_int_equal(parameters_set(&parameters, "ops", "blur|blur", &err), ST_ARGUMENT);
    assert_string_equal(err.text, "ops has more than 1 step, which is the limit (max_steps)");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_switches_in_any_case_of_letters),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_endpoints),
        cmocka_unit_test(test_bits),
        cmocka_unit_test(test_together),
        cmocka_unit_test(test_values_refused),
        cmocka_unit_test(test_steps),
    };
    return cmocka_run_group_tests_name("parameters", tests, NULL, NULL);
}
