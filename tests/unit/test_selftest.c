/* SPDX-License-Identifier: MIT
 * The self-test of engines, where it cannot begin. */
#include "cpu/cpu.h"
#include "gpu/front/selftest.h"
#include "tests/unit/slot_fixture.h"

/* The engine is refused, which leaves the work to the CPU. */
static void test_a_slot_without_room(void **state) {
    (void)state;
    struct engine_link link = LINK_NONE;
    struct backend *reference = NULL;
    struct error err = {0};
    struct slot_pool *pool = make_pool(MIB);
    struct slot *other = acquire(pool), *slot = acquire(pool);
    reserve(other, slot_pool_budget(pool));
    assert_int_equal(cpu_backend_open("auto", &reference, &err), ST_OK);
    _Atomic uint32_t refused = 0;
    assert_int_equal(selftest_run(&link, slot, reference, &refused, &err), ST_BUSY);
    assert_int_equal(refused, 0);
    backend_close(reference);
    slot_give_back(slot);
    slot_give_back(other);
    slot_pool_destroy(pool);
}

static void test_what_is_refused(void **state) {
    (void)state;
    const struct chain chain = {2, {{.filter = FILTER_CROP}, {.filter = FILTER_MEDIAN}}};
    assert_true(selftest_allows(0, &chain));
    assert_true(selftest_allows(1u << FILTER_BLUR | 1u << FILTER_STATS, &chain));
    assert_false(selftest_allows(1u << FILTER_MEDIAN, &chain));
    assert_false(selftest_allows(1u << FILTER_CROP, &chain));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slot_without_room),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
