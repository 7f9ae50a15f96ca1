/* SPDX-License-Identifier: MIT */
#include "server/parameters.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void test_refusals(void **state) {
    (void)state;
    static const struct {
        const char *query;
        const char *parameter;
        const char *word;
    } table[] = {
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
        {"format=webp", "format", "jpeg"},
        {"format=PNG", "format", "png"},
        {"subsampling=411", "subsampling", "420"},
        {"progressive=yes", "progressive", "true"},
        {"autorotate=2", "autorotate", "false"},
        {"metadata=all", "metadata", "strip"},
        {"colorspace=cmyk", "colorspace", "native"},
        {"sigma=1&sigma=1", "sigma", "more than once"},
        {"format=png&sigma=1&format=png", "format", "more than once"},
        {"sigma=1&s%69gma=1", "sigma", "more than once"},
        {"Sigma=1", "Sigma", "unknown parameter; blur takes sigma"},
        {"radius=1", "radius", "unknown"},
        {"=1", "", "unknown"},
        {"x=%00", "x", "zero"},
        {"sigma=%zz", "sigma", "percent"},
        {"sigma=1&&nothing", "nothing", "unknown"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct parameters parameters;
        struct error err;
        if (parse(table[i].query, &parameters, &err) != ST_ARGUMENT || err.status != ST_ARGUMENT) {
            fail_msg("\"%s\" was taken", table[i].query);
        }
        assert_string_equal(err.parameter, table[i].parameter);
        if (!err.text[0] || !strstr(err.text, table[i].word)) {
            fail_msg("\"%s\": \"%s\" does not say \"%s\"", table[i].query, err.text, table[i].word);
        }
    }
}

/* The sentence about an unknown parameter names every one that there is, whole. */
static void test_unknown_lists_all(void **state) {
    (void)state;
    struct parameters parameters;
    struct error err;
    assert_int_equal(parse("x", &parameters, &err), ST_ARGUMENT);
    for (const struct argument *row = output_arguments; row->name; row++) {
        assert_non_null(strstr(err.text, row->name));
    }
    for (const struct argument *row = parameters.filter->arguments; row->name; row++) {
        assert_non_null(strstr(err.text, row->name));
    }
    assert_true(strlen(err.text) < sizeof err.text - 1);
}

/* No name in both tables, none twice, all within the bits of `given`, defaults allowed. */
static void test_tables(void **state) {
    (void)state;
    const struct argument *tables[] = {filter_find("blur")->arguments, output_arguments};
    for (int i = 0; i < 2; i++) {
        assert_null(argument_find(tables[1 - i], tables[i][0].name));
        for (const struct argument *row = tables[i]; row->name; row++) {
            assert_ptr_equal(argument_find(tables[i], row->name), row);
            assert_null(argument_find(tables[1 - i], row->name));
            assert_true(row - tables[i] < 32);
            assert_true(row->help && row->help[0]);
            struct parameters parameters;
            struct error err;
            char query[64];
            parameters_init(&parameters, filter_find("blur"));
            snprintf(query, sizeof query, "%s", row->name);
            assert_int_equal(parameters_set(&parameters, query, "?", &err), ST_ARGUMENT);
            assert_string_equal(err.parameter, row->name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_unknown_lists_all),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_tables),
    };
    return cmocka_run_group_tests_name("parameters", tests, NULL, NULL);
}
