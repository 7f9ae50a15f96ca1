/* SPDX-License-Identifier: MIT
 * What a slot can never have is refused for good, and what it has from earlier uses is no obstacle. */
#include "tests/unit/core/slot_fixture.h"

enum { BUDGET = 8, STEP = 256 << 10 };

/* A size that fits beside what is claimed or handed out is taken; a byte more is refused for good. */
static void test_every_size_around_the_limit(void **state) {
    (void)state;
    for (size_t other = 0; other <= BUDGET * MIB; other += MIB) {
        for (size_t size = 1; size <= (BUDGET + 1) * MIB; size += size == 1 ? STEP - 1 : STEP / 2) {
            struct slot_pool *pool = make_pool(BUDGET * MIB);
            struct slot *slot = acquire(pool);
            struct error err = {0};
            size_t whole = (size + STEP - 1) / STEP * STEP;
            assert_int_equal(slot_claim(slot, other, &err), ST_OK);
            assert_int_equal(slot_reserve(slot, size, &err),
                             whole + other <= BUDGET * MIB ? ST_OK : ST_LIMIT);
            slot_give_back(slot);
            slot = acquire(pool);
            reserve(slot, size <= BUDGET * MIB ? size : 1);
            whole = slot_span(slot);
            assert_int_equal(slot_claim(slot, other, &err), whole + other <= BUDGET * MIB ? ST_OK : ST_LIMIT);
            slot_give_back(slot);
            slot_pool_destroy(pool);
        }
    }
}

static void test_what_the_refusals_say(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(BUDGET * MIB);
    struct slot *slot = acquire(pool);
    struct error err = {0};
    assert_int_equal(slot_claim(slot, 3 * MIB, &err), ST_OK);
    assert_int_equal(slot_claim(slot, SIZE_MAX, &err), ST_LIMIT);
    assert_int_equal(slot_reserve(slot, 6 * MIB, &err), ST_LIMIT);
    assert_string_equal(
        err.text, "the picture needs 6 MiB of memory and 3 MiB beside it, more than the budget of 8 MiB");
    assert_int_equal(slot_claim(slot, 2 * MIB, &err), ST_OK);
    assert_int_equal(slot_claim(slot, 4 * MIB, &err), ST_LIMIT); /* all claims together */
    assert_int_equal(slot_pool_bytes(pool), 5 * MIB);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

/* A slot that was larger before makes room for the claims of its own request. */
static void test_a_claim_beside_an_earlier_use(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(BUDGET * MIB);
    struct slot *slot = acquire(pool);
    struct error err = {0};
    reserve(slot, 7 * MIB);
    slot_give_back(slot);
    slot = acquire(pool);
    reserve(slot, MIB);
    assert_int_equal(slot->reserved, 7 * MIB);
    assert_int_equal(slot_claim(slot, 7 * MIB, &err), ST_OK);
    assert_int_equal(slot->reserved, MIB);
    assert_int_equal(slot_pool_held(pool, SLOT_WORK), MIB);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

/* Slots keep what is warm while they hold a quarter of the budget; then each is fitted to what it needs. */
static void test_small_pictures_in_slots_of_large_ones(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(BUDGET * MIB);
    struct slot *slot[2] = {acquire(pool), acquire(pool)};
    reserve(slot[0], 2 * MIB);
    reserve(slot[1], 3 * MIB);
    slot_give_back(slot[0]);
    slot_give_back(slot[1]);
    slot[1] = acquire(pool);
    slot[0] = acquire(pool);
    reserve(slot[0], STEP);
    assert_int_equal(slot[0]->reserved + slot[1]->reserved, 5 * MIB);
    slot_fit(slot[0], 2 * STEP);
    assert_int_equal(slot[0]->reserved, 2 * STEP);
    assert_int_equal(slot_pool_held(pool, SLOT_WORK), 3 * MIB + 2 * STEP);
    slot_fit(slot[0], 0); /* but not what is in use */
    assert_int_equal(slot[0]->reserved, STEP);
    slot_give_back(slot[1]);
    reserve(slot[0], 2 * MIB);
    slot[0]->used = STEP;
    slot_fit(slot[0], STEP);
    assert_int_equal(slot[0]->reserved, 2 * MIB); /* there is enough for others */
    slot_give_back(slot[0]);
    slot_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size_around_the_limit),
        cmocka_unit_test(test_what_the_refusals_say),
        cmocka_unit_test(test_a_claim_beside_an_earlier_use),
        cmocka_unit_test(test_small_pictures_in_slots_of_large_ones),
    };
    return cmocka_run_group_tests_name("slot_limits", tests, NULL, NULL);
}
