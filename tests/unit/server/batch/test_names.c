/* SPDX-License-Identifier: MIT */
#include "server/batch/input/names.h"

#include "tests/unit/server/batch/batch_fixture.h"

static struct names *names;
static struct error err;

static int make(void **state) {
    (void)state;
    return names_create(&names, &err) == ST_OK ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    names_destroy(names);
    return 0;
}

static uint64_t number(unsigned i) {
    char text[16];
    const int length = snprintf(text, sizeof text, "%u.jpg", i);
    return names_digest(names, (struct bytes){(const uint8_t *)text, (size_t)length});
}

static bool take(unsigned i) {
    bool taken;
    assert_int_equal(names_take(names, number(i), &taken, &err), ST_OK);
    return taken;
}

static void test_digests(void **state) {
    struct names *other;
    (void)state;
    assert_int_equal(names_create(&other, &err), ST_OK);
    const struct bytes name = {(const uint8_t *)"a", 1};
    assert_true(names_digest(names, name) == names_digest(names, name));
    assert_true(names_digest(names, name) != names_digest(other, name)); /* nobody can choose them */
    assert_true(names_digest(names, name) != names_digest(names, (struct bytes){(const uint8_t *)"b", 1}));
    for (unsigned i = 0; i < 1000; i++) {
        assert_true(number(i) != 0 && number(i) >> 63 == 0);
    }
    assert_true(names_digest(names, (struct bytes){0}) != 0);
    names_destroy(other);
}

/* States and taken names survive each growth, in any order. */
static void test_many(void **state) {
    enum { MANY = 100000 };
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        if (i % 3) {
            assert_int_equal(names_set(names, number(i), i | 1, &err), ST_OK);
        }
        if (i % 2) {
            assert_false(take(i));
        }
    }
    for (unsigned i = 0; i < MANY; i++) {
        assert_int_equal(names_get(names, number(i)), i % 3 ? i | 1 : 0);
        assert_int_equal(take(i), i % 2);
    }
    assert_true(take(0));
    assert_int_equal(names_get(names, number(MANY)), 0);
}

static void test_only_taken(void **state) {
    (void)state;
    assert_int_equal(names_get(names, number(1)), 0);
    for (unsigned i = 0; i < 5000; i++) {
        assert_false(take(i));
    }
    assert_int_equal(names_set(names, number(7), 9, &err), ST_OK);
    assert_int_equal(names_get(names, number(7)), 9);
    assert_int_equal(names_get(names, number(8)), 0);
    assert_true(take(7));
}

static void test_reserve(void **state) {
    (void)state;
    assert_int_equal(names_set(names, number(1), 5, &err), ST_OK);
    assert_false(take(2));
    assert_int_equal(names_reserve(names, 300000, &err), ST_OK);
    assert_int_equal(names_reserve(names, 0, &err), ST_OK);
    assert_int_equal(names_get(names, number(1)), 5);
    assert_true(take(2));
    assert_false(take(1));
}

static void test_states_change(void **state) {
    (void)state;
    assert_int_equal(names_set(names, number(1), 5, &err), ST_OK);
    assert_false(take(1));
    assert_int_equal(names_set(names, number(1), 0, &err), ST_OK);
    assert_int_equal(names_get(names, number(1)), 0);
    assert_true(take(1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_digests, make, end),
        cmocka_unit_test_setup_teardown(test_many, make, end),
        cmocka_unit_test_setup_teardown(test_only_taken, make, end),
        cmocka_unit_test_setup_teardown(test_reserve, make, end),
        cmocka_unit_test_setup_teardown(test_states_change, make, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
