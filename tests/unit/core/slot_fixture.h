/* SPDX-License-Identifier: MIT
 * A pool of slots, and functions for tests of it. */
#ifndef BLURD_TESTS_SLOT_FIXTURE_H
#define BLURD_TESTS_SLOT_FIXTURE_H

#include "core/slot.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define MIB ((size_t)1 << 20)

static inline struct slot_pool *make_pool(size_t budget) {
    struct slot_pool *pool = slot_pool_create(budget);
    assert_non_null(pool);
    assert_int_equal(slot_pool_bytes(pool), 0);
    return pool;
}

static inline struct slot *acquire_kind(struct slot_pool *pool, enum slot_kind kind) {
    struct slot *slot = NULL;
    struct error err = {0};
    if (slot_acquire(pool, kind, &slot, &err) != ST_OK) {
        fail_msg("acquire: %s", err.text);
    }
    assert_non_null(slot);
    assert_int_equal(slot->used, 0);
    return slot;
}

static inline struct slot *acquire(struct slot_pool *pool) {
    return acquire_kind(pool, SLOT_WORK);
}

static inline void reserve(struct slot *slot, size_t size) {
    struct error err = {0};
    if (slot_reserve(slot, size, &err) != ST_OK) {
        fail_msg("reserve: %s", err.text);
    }
    assert_true(slot->reserved >= size);
}

/* Memory behind the slot, as the system counts it. */
static inline size_t backed(const struct slot *slot) {
    struct stat info;
    assert_int_equal(fstat(slot->fd, &info), 0);
    return (size_t)info.st_blocks * 512;
}

#endif
