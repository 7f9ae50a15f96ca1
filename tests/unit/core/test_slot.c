/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/unit/core/slot_fixture.h"

static uint8_t pattern(size_t i) {
    return (uint8_t)(i * 31 + i / 4096);
}

static void test_growth(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(16 * MIB);
    struct slot *slot = acquire(pool);
    uint8_t *memory = slot->memory;
    assert_int_equal((uintptr_t)memory % 4096, 0);
    size_t filled = 0;
    for (size_t size = 1; size <= 16 * MIB; size = size * 3 + 1) {
        reserve(slot, size);
        assert_ptr_equal(slot->memory, memory);
        assert_int_equal(slot->used, size);
        assert_int_equal(slot_pool_bytes(pool), slot->reserved);
        assert_int_equal(backed(slot), slot->reserved);
        for (size_t i = 0; i < filled; i += 997) {
            assert_int_equal(memory[i], pattern(i));
        }
        for (; filled < size; filled++) {
            memory[filled] = pattern(filled);
        }
    }
    reserve(slot, 5); /* less than before: nothing is taken away */
    assert_true(slot->used >= filled && slot->reserved >= filled);
    reserve(slot, 16 * MIB);
    assert_int_equal(slot_pool_bytes(pool), 16 * MIB);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

static void test_take(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(4 * MIB);
    struct slot *slot = acquire(pool);
    struct error err = {0};
    reserve(slot, 100);
    uint8_t *first = slot_take(slot, 10, &err);
    uint8_t *second = slot_take(slot, MIB, &err);
    uint8_t *third = slot_take(slot, 0, &err);
    assert_ptr_equal(first, slot->memory + 128);
    assert_ptr_equal(second, slot->memory + 192);
    assert_ptr_equal(third, slot->memory + 192 + MIB);
    memset(second, 1, MIB);
    assert_int_equal(slot->used, 192 + MIB);
    size_t span = slot_span(slot);
    assert_true(span >= slot->used && span <= slot->reserved);
    assert_null(slot_take(slot, 4 * MIB, &err));
    assert_int_equal(err.status, ST_LIMIT);
    assert_null(slot_take(slot, SIZE_MAX, &err));
    assert_int_equal(err.status, ST_LIMIT);
    assert_null(slot_take(slot, SIZE_MAX - slot->used - 64, &err));
    assert_int_equal(err.status, ST_LIMIT);
    assert_int_equal(slot->used, 192 + MIB);
    slot_give_back(slot);
    slot = acquire(pool); /* the same one, with its memory, of which this life needs less */
    assert_int_equal(slot_span(slot), 0);
    reserve(slot, 100);
    assert_true(slot_span(slot) >= 100 && slot_span(slot) < span);
    assert_true(slot->reserved >= span);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

/* Refused for now or for good: the slot is as it was, and so is the count. */
static void test_refusals(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(4 * MIB);
    struct slot *one = acquire(pool), *two = acquire(pool);
    struct error err = {0};
    reserve(one, 3 * MIB);
    reserve(two, MIB / 2);
    memset(two->memory, 0x5A, MIB / 2);
    struct slot before = *two;
    static const struct {
        size_t size;
        enum status status;
    } table[] = {{MIB + 1, ST_BUSY},      {2 * MIB, ST_BUSY},       {4 * MIB, ST_BUSY},
                 {4 * MIB + 1, ST_LIMIT}, {SIZE_MAX / 2, ST_LIMIT}, {SIZE_MAX, ST_LIMIT}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        assert_int_equal(slot_reserve(two, table[i].size, &err), table[i].status);
        assert_int_equal(err.status, table[i].status);
        assert_memory_equal(two, &before, sizeof before);
        assert_int_equal(two->memory[MIB / 2 - 1], 0x5A);
        assert_int_equal(slot_pool_bytes(pool), 3 * MIB + MIB / 2);
    }
    reserve(two, MIB);
    slot_give_back(one);
    reserve(two, 4 * MIB); /* the memory of the idle slot is available again */
    assert_int_equal(slot_pool_bytes(pool), 4 * MIB);
    slot_give_back(two);
    slot_give_back(NULL);
    slot_pool_destroy(pool);
}

static void test_reuse(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(8 * MIB);
    struct slot *one = acquire(pool), *two = acquire(pool);
    assert_ptr_not_equal(one, two);
    assert_ptr_not_equal(one->memory, two->memory);
    reserve(one, MIB);
    reserve(two, 2 * MIB);
    slot_give_back(two);
    slot_give_back(one);
    assert_int_equal(slot_pool_bytes(pool), 3 * MIB);
    struct slot *again = acquire(pool); /* the last one used, with its memory */
    assert_ptr_equal(again, one);
    assert_int_equal(again->reserved, MIB);
    assert_ptr_equal(acquire(pool), two);
    slot_give_back(one);
    slot_give_back(two);
    slot_pool_destroy(pool);
}

/* Idle slots are emptied for a busy one, no more of them than needed. */
static void test_pressure(void **state) {
    (void)state;
    enum { COUNT = 4 };
    struct slot_pool *pool = make_pool(8 * MIB);
    struct slot *slot[COUNT];
    for (int i = 0; i < COUNT; i++) {
        slot[i] = acquire(pool);
        reserve(slot[i], 2 * MIB);
    }
    for (int i = 1; i < COUNT; i++) {
        slot_give_back(slot[i]);
    }
    reserve(slot[0], 4 * MIB);
    assert_int_equal(slot_pool_bytes(pool), 8 * MIB);
    size_t held = 0;
    for (int i = 0; i < COUNT; i++) {
        held += backed(slot[i]);
    }
    assert_int_equal(held, 8 * MIB);
    reserve(slot[0], 8 * MIB);
    assert_int_equal(backed(slot[0]), 8 * MIB);
    struct slot *empty = acquire(pool);
    struct error err = {0};
    assert_int_equal(empty->reserved, 0);
    assert_int_equal(slot_reserve(empty, 1, &err), ST_BUSY);
    slot_give_back(slot[0]);
    reserve(empty, MIB);
    slot_give_back(empty);
    slot_pool_destroy(pool);
}

static void test_excess(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(256 * MIB);
    struct slot *slot = acquire(pool);
    reserve(slot, 200 * MIB);
    slot->memory[0] = 1;
    assert_int_equal(slot_pool_bytes(pool), 200 * MIB);
    slot_give_back(slot);
    assert_int_equal(slot_pool_bytes(pool), 128 * MIB);
    slot = acquire(pool);
    assert_int_equal(slot->reserved, 128 * MIB);
    assert_int_equal(backed(slot), 128 * MIB);
    reserve(slot, 129 * MIB);
    slot->memory[129 * MIB - 1] = 1;
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

static uint32_t next_random(uint32_t *seed) {
    *seed ^= *seed << 13, *seed ^= *seed >> 17, *seed ^= *seed << 5;
    return *seed;
}

struct visitor {
    pthread_t thread;
    struct slot_pool *pool;
    uint32_t seed;
    unsigned served, busy, wrong;
};

/* One request after the other: grows its slot, marks it, and finds its marks. */
static void *visit(void *argument) {
    struct visitor *visitor = argument;
    for (unsigned round = 0; round < 300; round++) {
        struct slot *slot = NULL;
        if (slot_acquire(visitor->pool, SLOT_WORK, &slot, NULL) != ST_OK) {
            visitor->wrong++;
            return NULL;
        }
        uint8_t mark = (uint8_t)visitor->seed;
        size_t size = 0;
        for (unsigned step = 0; step < 4; step++) {
            size_t want = size + 1 + next_random(&visitor->seed) % MIB;
            enum status status = slot_reserve(slot, want, NULL);
            visitor->busy += status == ST_BUSY;
            visitor->wrong += status != ST_OK && status != ST_BUSY;
            if (status != ST_OK) {
                break;
            }
            visitor->wrong += size && (slot->memory[0] != mark || slot->memory[size - 1] != mark);
            memset(slot->memory + size, mark, want - size);
            size = want;
            visitor->served++;
        }
        slot_give_back(slot);
    }
    return NULL;
}

static void test_threads(void **state) {
    (void)state;
    enum { THREADS = 8 };
    unsigned served = 0;
    struct visitor visitor[THREADS] = {{0}};
    struct slot_pool *pool = make_pool(6 * MIB);
    for (uint32_t i = 0; i < THREADS; i++) {
        visitor[i].pool = pool;
        visitor[i].seed = 77 + i * 1000;
        assert_int_equal(pthread_create(&visitor[i].thread, NULL, visit, &visitor[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(visitor[i].thread, NULL), 0);
        assert_int_equal(visitor[i].wrong, 0);
        served += visitor[i].served;
    }
    assert_true(served > 300); /* not all: threads that wait for the processor may hold all the memory */
    size_t held = 0;           /* the count is the sum over the slots */
    struct slot *slot[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        slot[i] = acquire(pool);
        held += slot[i]->reserved;
        assert_int_equal(backed(slot[i]), slot[i]->reserved);
    }
    assert_int_equal(slot_pool_bytes(pool), held);
    assert_true(held <= 6 * MIB);
    for (unsigned i = 0; i < THREADS; i++) {
        slot_give_back(slot[i]);
    }
    slot_pool_destroy(pool);
}

static void test_claims(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(16 * MIB);
    struct slot *slot = acquire(pool), *other = acquire(pool);
    struct error err = {0};
    reserve(slot, 4 * MIB);
    assert_int_equal(slot_claim(slot, 8 * MIB, &err), ST_OK);
    assert_int_equal(slot_pool_bytes(pool), 12 * MIB);
    assert_int_equal(slot_claim(slot, 5 * MIB, &err), ST_LIMIT); /* never */
    assert_int_equal(slot_claim(slot, SIZE_MAX, &err), ST_LIMIT);
    assert_int_equal(slot_claim(other, 5 * MIB, &err), ST_BUSY); /* not now */
    assert_int_equal(slot_reserve(other, 5 * MIB, &err), ST_BUSY);
    slot_give_back(slot);
    assert_int_equal(slot_claim(other, 5 * MIB, &err), ST_OK);
    slot_pool_count(pool, 20 * (int64_t)MIB); /* an answer that is larger than was thought */
    assert_int_equal(slot_claim(other, 1, &err), ST_BUSY);
    slot_pool_count(pool, -20 * (int64_t)MIB);
    assert_int_equal(slot_claim(other, 1, &err), ST_OK);
    slot_give_back(other);
    assert_int_equal(slot_pool_budget(pool), 16 * MIB);
    slot_pool_destroy(pool);
}

/* Each takes addresses for all that it may hold: 600 times 256 GiB is more than a process has. */
static void test_a_limit_for_each(void **state) {
    (void)state;
    enum { SLOTS = 600 };
    static struct slot *slots[SLOTS];
    struct error err = {0};
    struct slot_pool *pool = make_pool(256 * 1024 * MIB);
    slot_pool_limit(pool, 1024 * MIB);
    for (unsigned i = 0; i < SLOTS; i++) {
        slots[i] = acquire(pool);
    }
    reserve(slots[0], 2 * MIB);
    assert_int_equal(slot_reserve(slots[1], 1025 * MIB, &err), ST_LIMIT);
    assert_string_equal(err.text,
                        "the picture needs 1025 MiB of memory, more than a request's share of 1024 MiB");
    for (unsigned i = 0; i < SLOTS; i++) {
        slot_give_back(slots[i]);
    }
    slot_pool_destroy(pool);
    pool = make_pool(2 * MIB);
    slot_pool_limit(pool, 1024 * MIB); /* the budget remains */
    slots[0] = acquire(pool);
    assert_int_equal(slot_reserve(slots[0], 3 * MIB, &err), ST_LIMIT);
    assert_string_equal(err.text, "the picture needs 3 MiB of memory, more than the budget of 2 MiB");
    slot_give_back(slots[0]);
    slot_pool_destroy(pool);
}

/* Memory that a process of codecs has seen never comes back, and no other kind of slot becomes an exchange.
 */
static void test_exchanges_end(void **state) {
    struct slot_pool *pool = make_pool(8 * MIB);
    struct slot *exchange = NULL, *again = NULL, *work = acquire(pool);
    struct error err = {0};
    (void)state;
    reserve(work, MIB);
    slot_give_back(work);
    assert_int_equal(slot_acquire(pool, SLOT_EXCHANGE, &exchange, &err), ST_OK);
    assert_true(exchange != work);
    uint64_t serial = exchange->serial;
    int fd = dup(exchange->fd); /* as a process that is about to end has it */
    reserve(exchange, 2 * MIB);
    memset(exchange->memory, 1, 2 * MIB);
    assert_int_equal(slot_pool_bytes(pool), 3 * MIB);
    assert_int_equal(slot_pool_held(pool, SLOT_EXCHANGE), 2 * MIB);
    slot_give_back(exchange);
    assert_int_equal(slot_pool_bytes(pool), MIB);
    assert_int_equal(slot_pool_held(pool, SLOT_EXCHANGE), 0);
    assert_int_equal(slot_acquire(pool, SLOT_EXCHANGE, &again, &err), ST_OK);
    assert_true(again->serial > serial);
    assert_int_equal(again->reserved, 0);
    slot_give_back(again);
    close(fd);
    slot_pool_destroy(pool);
}

/* What another process touched beyond the reserved bytes is released, too. */
static void test_touched_memory(void **state) {
    struct slot_pool *pool = make_pool(8 * MIB);
    struct slot *slot = acquire(pool);
    (void)state;
    reserve(slot, MIB);
    slot->memory[6 * MIB] = 1;
    slot_cut(slot, 0);
    assert_int_equal(backed(slot), 0);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_claims),
        cmocka_unit_test(test_growth),
        cmocka_unit_test(test_take),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_pressure),
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_a_limit_for_each),
        cmocka_unit_test(test_exchanges_end),
        cmocka_unit_test(test_touched_memory),
    };
    return cmocka_run_group_tests_name("slot", tests, NULL, NULL);
}
