/* SPDX-License-Identifier: MIT */
#include "server/message/query.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

/* Reads all pairs of a query into "name=value|name=value|"; false when one is malformed.
 * The query stands in heap memory of its size. */
static bool read_all(const char *query, char *out, size_t size, struct error *err) {
    char *copy = strdup(query);
    assert_non_null(copy);
    const char *cursor = copy;
    struct query_pair pair;
    size_t used = 0;
    *err = (struct error){0};
    out[0] = '\0';
    while (query_next(&cursor, &pair, err)) {
        int length = snprintf(out + used, size - used, "%s=%s|", pair.name, pair.value);
        assert_true(length > 0 && used + (size_t)length < size);
        used += (size_t)length;
        assert_int_equal(err->status, ST_OK);
        assert_true(cursor <= copy + strlen(query));
    }
    if (err->status == ST_OK) {
        assert_int_equal(*cursor, '\0');
    }
    free(copy);
    return err->status == ST_OK;
}

static void test_pairs(void **state) {
    (void)state;
    static const struct {
        const char *query;
        const char *pairs;
    } table[] = {
        {"", ""},
        {"&", ""},
        {"&&&", ""},
        {"a=1", "a=1|"},
        {"a=1&b=2", "a=1|b=2|"},
        {"&a=1&&b=2&", "a=1|b=2|"},
        {"a", "a=|"},
        {"a=", "a=|"},
        {"a&b", "a=|b=|"},
        {"=1", "=1|"},
        {"=", "=|"},
        {"a=b=c", "a=b=c|"},
        {"a=1;b=2", "a=1;b=2|"},
        {"a=1+2", "a=1+2|"},
        {"a=%31%2b", "a=1+|"},
        {"a=%2B", "a=+|"},
        {"%61%62=1", "ab=1|"},
        {"a=%26b%3D2", "a=&b=2|"},
        {"a=%25", "a=%|"},
        {"a=%2541", "a=%41|"},
        {"a=%e2%82%AC", "a=\xe2\x82\xac|"},
        {"a=%ff", "a=\xff|"},
        {"a=%01", "a=\x01|"},
        {"a=?/#", "a=?/#|"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char pairs[256];
        struct error err;
        if (!read_all(table[i].query, pairs, sizeof pairs, &err)) {
            fail_msg("\"%s\" was refused: %s", table[i].query, err.text);
        }
        assert_string_equal(pairs, table[i].pairs);
    }
}

static void test_malformed(void **state) {
    (void)state;
    static const struct {
        const char *query;
        const char *parameter;
        const char *word;
    } table[] = {
        {"a=%", "a", "percent"},         {"a=%4", "a", "percent"},     {"a=%4&b=1", "a", "percent"},
        {"a=%&41=1", "a", "percent"},    {"a=%g1", "a", "percent"},    {"a=%1g", "a", "percent"},
        {"a=%-1", "a", "percent"},       {"a=% 1", "a", "percent"},    {"a=%%41", "a", "percent"},
        {"a=%u0041", "a", "percent"},    {"%=1", "", "percent"},       {"%4=1", "", "percent"},
        {"a%=41", "", "percent"},        {"%4", "", "percent"},        {"a=%00", "a", "zero"},
        {"a=1%00", "a", "zero"},         {"%00=1", "", "zero"},        {"sigma%00=1", "", "zero"},
        {"x=1&a=%00&b=2", "a", "zero"},  {"a=%:0", "a", "percent"},    {"a=%@0", "a", "percent"},
        {"a=%0\x47", "a", "percent"},    {"a=%`0", "a", "percent"},    {"a=%0/", "a", "percent"},
        {"a=%\xb1\xb1", "a", "percent"}, {"a=1&b=%x", "b", "percent"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        char pairs[256];
        struct error err;
        if (read_all(table[i].query, pairs, sizeof pairs, &err)) {
            fail_msg("\"%s\" was read as %s", table[i].query, pairs);
        }
        assert_int_equal(err.status, ST_ARGUMENT);
        assert_string_equal(err.parameter, table[i].parameter);
        assert_non_null(strstr(err.text, table[i].word));
    }
}

/* The bounds of name and value, in plain and in escaped characters. */
static void test_lengths(void **state) {
    (void)state;
    for (size_t i = 0; i < 8; i++) {
        bool value = i & 1, escaped = i & 2, over = i & 4;
        size_t count = (size_t)(value ? QUERY_VALUE_MAX : QUERY_NAME_MAX) + over;
        char *query = malloc(3 * count + 3);
        assert_non_null(query);
        size_t used = 0;
        used += (size_t)snprintf(query, 3, "%s", value ? "n=" : "");
        for (size_t j = 0; j < count; j++) {
            used += (size_t)snprintf(query + used, 4, "%s", escaped ? "%61" : "a");
        }
        char pairs[QUERY_NAME_MAX + QUERY_VALUE_MAX + 8];
        struct error err;
        assert_int_equal(read_all(query, pairs, sizeof pairs, &err), !over);
        if (over) {
            assert_string_equal(err.parameter, value ? "n" : "");
            assert_non_null(strstr(err.text, "too long"));
        } else {
            assert_int_equal(strlen(pairs), count + (value ? 3 : 2));
        }
        free(query);
    }
}

static void test_random(void **state) {
    (void)state;
    static const char alphabet[] = "%%%&&==0aAfFgG1 +\xff\x01";
    uint32_t seed = 7;
    unsigned fine = 0, refused = 0;
    for (unsigned round = 0; round < 20000; round++) {
        char query[24];
        size_t size = round % (unsigned)(sizeof query - 1);
        for (size_t i = 0; i < size; i++) {
            seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
            query[i] = alphabet[seed % (sizeof alphabet - 1)];
        }
        query[size] = '\0';
        char pairs[128];
        struct error err;
        *(read_all(query, pairs, sizeof pairs, &err) ? &fine : &refused) += 1;
    }
    assert_true(fine > 100 && refused > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_lengths),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests_name("query", tests, NULL, NULL);
}
