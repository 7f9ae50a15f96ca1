/* SPDX-License-Identifier: MIT
 * A slot gets new memory while a process that is about to end may still write to the old one. This program
 * replaces the system calls that can fail. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpu/front/orphans.h"
#include "tests/unit/core/slot_fixture.h"

enum { KEPT = 300000, STEP = 256 << 10, LATER_MS = 30 };

static struct {
    bool no_memory, no_mapping; /* from fallocate; at the slot's own addresses, but for the file it had */
    int old;                    /* that file */
} machine;

int fallocate(int fd, int mode, off_t offset, off_t length) {
    if (machine.no_memory) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

void *mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset) {
    if (machine.no_mapping && (flags & MAP_FIXED) && fd != machine.old) {
        munmap(at, size); /* the worst that Linux does */
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, size, rights, flags, fd, offset);
}

/* The other process's view of the slot. */
static uint8_t *map_elsewhere(const struct slot *slot) {
    uint8_t *memory = mmap(NULL, slot->reserved, PROT_READ | PROT_WRITE, MAP_SHARED, slot->fd, 0);
    assert_true(memory != MAP_FAILED);
    return memory;
}

static struct slot *filled_slot(struct slot_pool *pool) {
    struct slot *slot = acquire(pool);
    reserve(slot, MIB);
    for (size_t i = 0; i < MIB; i++) {
        slot->memory[i] = (uint8_t)(i * 7 + i / 4096);
    }
    slot->shared = true; /* as slot_lend does */
    return slot;
}

static void assert_kept(const struct slot *slot, size_t size) {
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(slot->memory[i], (uint8_t)(i * 7 + i / 4096));
    }
}

/* The other process writes to the old memory, of which the slot sees nothing any more. */
static void test_the_old_memory_is_left(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(16 * MIB);
    struct slot *slot = filled_slot(pool);
    const struct slot before = *slot;
    uint8_t *elsewhere = map_elsewhere(slot);
    size_t left = 0;
    struct error err = {0};
    assert_int_equal(slot_renew(slot, KEPT, &left, &err), ST_OK);
    memset(elsewhere, 0xee, MIB);
    assert_ptr_equal(slot->memory, before.memory);
    assert_kept(slot, KEPT);
    assert_int_equal(left, MIB);
    assert_int_equal(slot->used, KEPT);
    assert_int_equal(slot->reserved, 2 * STEP);
    assert_true(slot->serial > before.serial);
    assert_false(slot->shared);
    assert_int_equal(backed(slot), slot->reserved);
    assert_int_equal(slot_pool_bytes(pool), MIB + 2 * STEP);
    assert_int_equal(slot_pool_held(pool, SLOT_WORK), 2 * STEP);
    reserve(slot, 3 * MIB); /* it grows as any slot */
    memset(slot->memory + KEPT, 1, 3 * MIB - KEPT);
    assert_kept(slot, KEPT);
    assert_int_equal(elsewhere[KEPT], 0xee);
    munmap(elsewhere, MIB);
    slot_pool_count(pool, -(int64_t)left);
    slot_give_back(slot);
    assert_int_equal(slot_pool_bytes(pool), 3 * MIB);
    slot_pool_destroy(pool);
}

static void test_nothing_is_kept(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(16 * MIB);
    struct slot *slot = filled_slot(pool);
    size_t left = 0;
    assert_int_equal(slot_renew(slot, 0, &left, NULL), ST_OK);
    assert_int_equal(slot->used, 0);
    assert_int_equal(slot->reserved, STEP);
    slot_pool_count(pool, -(int64_t)left);
    slot_give_back(slot);
    assert_int_equal(slot_pool_bytes(pool), STEP);
    slot_pool_destroy(pool);
}

static void refused(struct slot *slot, const char *text) {
    const struct slot before = *slot;
    size_t left = 77, bytes = slot_pool_bytes(slot->pool), held = slot_pool_held(slot->pool, SLOT_WORK);
    struct error err = {0};
    machine.old = slot->fd;
    assert_int_equal(slot_renew(slot, KEPT, &left, &err), ST_BUSY);
    assert_string_equal(err.text, text);
    assert_memory_equal(slot, &before, sizeof before);
    assert_kept(slot, MIB);
    assert_int_equal(left, 77);
    assert_int_equal(slot_pool_bytes(slot->pool), bytes);
    assert_int_equal(slot_pool_held(slot->pool, SLOT_WORK), held);
    machine.no_memory = machine.no_mapping = false;
}

static void test_refusals(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(4 * MIB);
    struct slot *slot = filled_slot(pool), *other = acquire(pool);
    machine.no_memory = true;
    refused(slot, "no memory for a copy of the picture: No space left on device");
    machine.no_mapping = true;
    refused(slot, "no memory for a copy of the picture: Cannot allocate memory");
    reserve(other, STEP * 3); /* with the copy more than half of the budget */
    refused(slot, "half of the memory budget of 4 MiB is in use");
    slot_give_back(other);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

/* ---- orphans: what a lost engine leaves ---- */

static void test_bytes_count_until_the_engine_is_gone(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(16 * MIB);
    struct slot *slot = filled_slot(pool), *other = filled_slot(pool);
    struct orphans orphans;
    orphans_init(&orphans);
    orphans_clear(&orphans, 1);
    orphans_leave(&orphans, 1, slot, KEPT); /* is gone already: nothing is counted */
    assert_int_equal(slot_pool_bytes(pool), MIB + 2 * STEP);
    orphans_leave(&orphans, 2, slot, KEPT);
    orphans_leave(&orphans, 2, other, KEPT);
    assert_int_equal(slot->used, KEPT);
    assert_kept(slot, KEPT);
    assert_int_equal(slot_pool_bytes(pool), MIB + 3 * 2 * STEP);
    orphans_clear(&orphans, 2);
    assert_int_equal(slot_pool_bytes(pool), 2 * 2 * STEP);
    orphans_clear(&orphans, 3);
    assert_int_equal(slot_pool_bytes(pool), 2 * 2 * STEP);
    orphans_finish(&orphans);
    slot_give_back(slot);
    slot_give_back(other);
    slot_pool_destroy(pool);
}

static void *clear_later(void *orphans) {
    nanosleep(&(struct timespec){.tv_nsec = LATER_MS * 1000000L}, NULL);
    orphans_clear(orphans, 5);
    return NULL;
}

/* Without memory for a copy, the caller waits for the engine's end and keeps its slot. */
static void test_waiting(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(MIB);
    struct slot *slot = filled_slot(pool);
    const struct slot before = *slot;
    struct orphans orphans;
    pthread_t thread;
    orphans_init(&orphans);
    assert_int_equal(pthread_create(&thread, NULL, clear_later, &orphans), 0);
    orphans_leave(&orphans, 5, slot, KEPT);
    assert_int_equal(orphans.gone, 5);
    assert_memory_equal(slot, &before, sizeof before);
    assert_kept(slot, MIB);
    pthread_join(thread, NULL);
    orphans_finish(&orphans);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_old_memory_is_left),
        cmocka_unit_test(test_nothing_is_kept),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bytes_count_until_the_engine_is_gone),
        cmocka_unit_test(test_waiting),
    };
    return cmocka_run_group_tests_name("slot renew", tests, NULL, NULL);
}
