/* SPDX-License-Identifier: MIT
 * Slots of both kinds, and memory that goes back to the system. */
#include <poll.h>
#include <stdbool.h>
#include <string.h>

#include "core/clock.h"
#include "tests/unit/core/slot_fixture.h"

static struct slot *acquire_body(struct slot_pool *pool) {
    return acquire_kind(pool, SLOT_BODY);
}

/* A body never gets the memory that a picture was worked on in, and little of another's once they hold much.
 */
static void test_bodies(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(64 * MIB); /* of which bodies may be generous with 4 */
    struct slot *picture = acquire(pool);
    reserve(picture, 16 * MIB);
    slot_give_back(picture);
    struct slot *body = acquire_body(pool);
    assert_ptr_not_equal(body, picture);
    assert_int_equal(body->reserved, 0);
    assert_int_equal(slot_pool_held(pool, SLOT_BODY), 0);
    reserve(body, 3 * MIB);
    assert_int_equal(slot_pool_held(pool, SLOT_BODY), 3 * MIB);
    slot_give_back(body);
    assert_int_equal(slot_pool_held(pool, SLOT_BODY), 0);
    assert_int_equal(slot_pool_bytes(pool), 19 * MIB);
    assert_ptr_equal(acquire_body(pool), body); /* warm */
    assert_int_equal(body->reserved, 3 * MIB);
    struct slot *other = acquire_body(pool);
    reserve(other, 2 * MIB);
    slot_give_back(other);
    assert_ptr_equal(acquire_body(pool), other);
    assert_int_equal(other->reserved, SLOT_BODY_LEAST);
    assert_int_equal(backed(other), SLOT_BODY_LEAST);
    assert_int_equal(slot_pool_held(pool, SLOT_BODY), 3 * MIB + SLOT_BODY_LEAST);
    slot_give_back(other);
    slot_give_back(body);
    assert_int_equal(slot_pool_held(pool, SLOT_BODY), 0);
    slot_pool_destroy(pool);
}

static void test_cut(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(16 * MIB);
    struct slot *slot = acquire_body(pool);
    reserve(slot, 100);
    memset(slot->memory, 0x5A, 100);
    assert_non_null(slot_take(slot, 8 * MIB, NULL));
    uint64_t generation = slot->generation;
    slot_cut(slot, 100);
    assert_int_equal(slot->used, 100);
    assert_int_equal(slot->memory[99], 0x5A);
    assert_true(slot->generation > generation);
    assert_true(backed(slot) < MIB);
    assert_int_equal(slot_pool_held(pool, SLOT_BODY), slot->reserved);
    assert_int_equal(slot_pool_bytes(pool), slot->reserved);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

static bool is_readable(int fd) {
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    return poll(&poll_fd, 1, 0) == 1;
}

/* Idle memory goes back to the system after its time, except memory that another process holds. */
static void test_trim(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(64 * MIB);
    struct slot *slot[3] = {acquire(pool), acquire_kind(pool, SLOT_LENT_WORK), acquire_body(pool)};
    assert_false(is_readable(slot_pool_event(pool)));
    assert_int_equal(slot_pool_trim(pool, INT64_MAX / 2), -1);
    for (unsigned i = 0; i < 3; i++) {
        reserve(slot[i], MIB << i);
    }
    assert_int_equal(slot_pool_trim(pool, INT64_MAX / 2), -1); /* they are in use */
    assert_int_equal(slot_lend(slot[1]), slot[1]->fd);
    for (unsigned i = 0; i < 3; i++) {
        slot_give_back(slot[i]);
    }
    assert_true(is_readable(slot_pool_event(pool)));
    int64_t now = clock_ns(), wait = slot_pool_trim(pool, now);
    assert_true(wait > 0 && wait <= SLOT_IDLE_NS);
    assert_false(is_readable(slot_pool_event(pool)));
    assert_int_equal(slot_pool_bytes(pool), 7 * MIB);
    uint64_t generation = slot[0]->generation;
    assert_int_equal(slot_pool_trim(pool, now + SLOT_IDLE_NS), -1);
    assert_int_equal(slot_pool_bytes(pool), 2 * MIB);
    assert_int_equal(backed(slot[0]) + backed(slot[2]), 0);
    assert_true(slot[0]->generation > generation);
    slot_give_back(acquire(pool));
    assert_true(is_readable(slot_pool_event(pool)));
    slot_pool_destroy(pool);
}

/* Under load the pool makes no system call after each request, even if no other request is waiting: slots of
 * a GPU keep their memory, and others are in use again. */
static void test_trim_under_load(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(64 * MIB);
    struct slot *slot = acquire_kind(pool, SLOT_LENT_WORK);
    int64_t now = clock_ns();
    reserve(slot, MIB);
    assert_int_equal(slot_lend(slot), slot->fd);
    slot_give_back(slot);
    assert_true(is_readable(slot_pool_event(pool)));
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(slot_pool_trim(pool, now), SLOT_IDLE_NS);
        slot_give_back(acquire_kind(pool, SLOT_LENT_WORK));
        assert_false(is_readable(slot_pool_event(pool)));
    }
    assert_int_equal(slot_pool_trim(pool, now), SLOT_IDLE_NS);
    assert_int_equal(slot_pool_trim(pool, now + SLOT_IDLE_NS), -1);
    slot_give_back(acquire(pool));
    assert_true(is_readable(slot_pool_event(pool)));
    slot_pool_destroy(pool);
}

/* What an engine maps is never used for what it must not see, and the other way round. */
static void test_kinds_do_not_mix(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(64 * MIB);
    struct slot *slot[SLOT_KINDS];
    for (unsigned kind = 0; kind < SLOT_KINDS; kind++) {
        bool lent = kind == SLOT_LENT_FILE || kind == SLOT_LENT_WORK;
        slot[kind] = acquire_kind(pool, (enum slot_kind)kind);
        reserve(slot[kind], MIB);
        assert_int_equal(slot_lend(slot[kind]), lent ? slot[kind]->fd : -1);
        assert_int_equal(slot[kind]->shared, lent);
    }
    assert_int_equal(slot_pool_files(pool), 2 * MIB);
    for (unsigned kind = 0; kind < SLOT_EXCHANGE; kind++) { /* which is not used again */
        uint64_t serial = slot[kind]->serial;
        slot_give_back(slot[kind]);
        for (unsigned other = 0; other < SLOT_KINDS; other++) {
            struct slot *next = acquire_kind(pool, (enum slot_kind)other);
            assert_int_equal(next->serial == serial, other == kind);
            slot_give_back(next);
        }
    }
    slot_give_back(slot[SLOT_EXCHANGE]);
    slot_pool_destroy(pool);
}

/* Answers wait for slow clients as bodies do. */
static void test_lent_files(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(16 * MIB); /* of which they may keep 4 */
    struct slot *first = acquire_kind(pool, SLOT_LENT_FILE), *second = acquire_kind(pool, SLOT_LENT_FILE);
    reserve(first, 2 * MIB);
    reserve(second, 3 * MIB);
    slot_give_back(second);
    second = acquire_kind(pool, SLOT_LENT_FILE);
    assert_int_equal(second->reserved, SLOT_BODY_LEAST);
    slot_give_back(first);
    first = acquire_kind(pool, SLOT_LENT_FILE);
    assert_int_equal(first->reserved, 2 * MIB);
    slot_give_back(first);
    slot_give_back(second);
    slot_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_kinds_do_not_mix),
        cmocka_unit_test(test_lent_files),
        cmocka_unit_test(test_trim),
        cmocka_unit_test(test_trim_under_load),
    };
    return cmocka_run_group_tests_name("slot_idle", tests, NULL, NULL);
}
