/* SPDX-License-Identifier: MIT */
#include "server/pages/openapi.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "filters/filter.h"
#include "server/message/etag.h"
#include "server/message/parameters.h"
#include "server/problem.h"
#include "server/routes.h"
#include "tests/unit/core/json_check.h"

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* The document, zero-terminated; the caller frees it. */
static char *document(bool tokens, bool two) {
    static struct config config;
    struct buf out;
    struct error err = {0};
    config_default(&config);
    config.max_body = 1234567;
    buf_init(&out, 1 << 20);
    struct openapi_view view = {.config = &config, .tokens = tokens, .two = two};
    view.routes = routes_table(&view.route_count);
    assert_int_equal(openapi_write(&view, &out, &err), ST_OK);
    assert_int_equal(buf_append(&out, "", 1, &err), ST_OK);
    return (char *)out.data;
}

static bool has(const char *text, const char *format, ...) {
    char wanted[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(wanted, sizeof wanted, format, arguments);
    va_end(arguments);
    return strstr(text, wanted) != NULL;
}

static void test_is_json(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        char *text = document(i & 1, i & 2);
        assert_true(json_valid(text));
        assert_null(strstr(text, "\"@")); /* nothing was left open */
        free(text);
    }
}

static void test_tables_are_in_it(void **state) {
    (void)state;
    char *text = document(false, false);
    unsigned routes;
    const struct route *route = routes_table(&routes);
    const struct argument *table;
    for (; routes > 0; routes--, route++) {
        assert_true(has(text, "\"%s\":{\"%s\":", route->path, route->answer ? "get" : "post"));
    }
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        for (table = filter_get(i)->arguments; table->name; table++) {
            assert_true(
                has(text, "\"%s.%s\":{\"name\":\"%s\"", filter_get(i)->name, table->name, table->name));
        }
    }
    for (unsigned i = 0; (table = parameters_shared(i)) != NULL; i++) {
        for (; table->name; table++) {
            assert_true(has(text, "\"%s\":{\"name\":\"%s\"", table->name, table->name));
        }
    }
    for (unsigned i = PROBLEM_NONE + 1; i < PROBLEM_COUNT; i++) {
        assert_int_equal(has(text, "urn:blurd:problem:%s\"", problem_kind(i)->slug), i != PROBLEM_CANCELLED);
    }
    assert_true(has(text, "\"maxLength\": 1234567"));
    free(text);
}

/* The text of a problem is followed by the next problem of the same status or by the end of the string. */
static void test_problems_are_described_to_the_end(void **state) {
    (void)state;
    enum { TAIL = 16 };
    char *text = document(false, false);
    for (unsigned i = PROBLEM_NONE + 1; i < PROBLEM_COUNT; i++) {
        const char *help = problem_kind(i)->help;
        const char *tail = help + strlen(help) - TAIL;
        bool whole = has(text, "%s\"", tail) || has(text, "%s\\n\\n`", tail);
        assert_true(whole || i == PROBLEM_CANCELLED || i == PROBLEM_UNAUTHORIZED);
    }
    free(text);
}

/* Every row has a text, because the description has no other source. */
static void test_rows_are_described(void **state) {
    (void)state;
    unsigned routes;
    const struct route *route = routes_table(&routes);
    const struct argument *row;
    for (; routes > 0; routes--, route++) {
        assert_true(route->help || route->filter);
        assert_int_equal(route->answer != NULL || route->series, route->media != NULL);
    }
    for (unsigned i = 0; i < FILTER_COUNT; i++) {
        for (row = filter_get(i)->arguments; row->name; row++) {
            assert_non_null(row->help);
            assert_int_equal(row->type == ARGUMENT_PARSED, row->form && row->example);
        }
    }
    for (unsigned i = 0; (row = parameters_shared(i)) != NULL; i++) {
        for (; row->name; row++) {
            assert_non_null(row->help);
            assert_int_equal(row->type == ARGUMENT_PARSED, row->form && row->example);
        }
    }
    for (unsigned i = PROBLEM_NONE + 1; i < PROBLEM_COUNT; i++) {
        assert_non_null(problem_kind(i)->help);
    }
}

static void test_what_depends(void **state) {
    (void)state;
    char *open = document(false, false);
    char *closed = document(true, true);
    assert_false(has(open, "\"security\":["));
    assert_true(has(closed, "\"security\":[{\"bearer\":[]}]"));
    assert_false(has(open, "responses/401\""));
    assert_true(has(closed, "responses/401\""));
    assert_true(has(open, "\"/metrics\":{"));
    assert_false(has(closed, "\"/metrics\":{")); /* the second listener's */
    assert_true(has(closed, "\"/livez\":{"));
    free(open);
    free(closed);
}

static void test_no_room(void **state) {
    (void)state;
    struct config config;
    struct buf out;
    struct error err = {0};
    config_default(&config);
    struct openapi_view view = {.config = &config};
    view.routes = routes_table(&view.route_count);
    for (size_t most = 1; most < 60000; most = most * 3 + 1) {
        buf_init(&out, most);
        assert_int_equal(openapi_write(&view, &out, &err), ST_LIMIT);
        buf_finish(&out);
    }
}

static void test_tags(void **state) {
    (void)state;
    char tag[ETAG_MAX], other[ETAG_MAX], list[128];
    etag_make((struct bytes){(const uint8_t *)"abc", 3}, tag);
    etag_make((struct bytes){(const uint8_t *)"abd", 3}, other);
    assert_int_equal(strlen(tag), ETAG_MAX - 2);
    assert_string_not_equal(tag, other);
    etag_make((struct bytes){NULL, 0}, list);
    assert_string_not_equal(tag, list);
    static const char *const known[] = {"%s", "W/%s", "\"x\", %s", "\"x\",W/%s", "  %s  ", ",,%s,", "*%.0s"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        snprintf(list, sizeof list, known[i], tag);
        assert_true(etag_matches(list, tag));
    }
    static const char *const unknown[] = {"", ",", "\"\"", "W/", "w/%s", "x%s", "%sx", "**", "%.17s"};
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        snprintf(list, sizeof list, unknown[i], tag);
        assert_false(etag_matches(list, tag));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_is_json),
        cmocka_unit_test(test_tables_are_in_it),
        cmocka_unit_test(test_problems_are_described_to_the_end),
        cmocka_unit_test(test_rows_are_described),
        cmocka_unit_test(test_what_depends),
        cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
