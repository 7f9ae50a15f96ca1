/* SPDX-License-Identifier: MIT
 * Slots when the system has no memory for them, and while it takes memory back. This program has a fallocate
 * of its own. */
#include "core/slot.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h> /* after our headers: it has a macro called fail */

#define MIB ((size_t)1 << 20)

enum { VISITORS = 3, ASLEEP_MS = 30, TIMEOUT_S = 10 };

static struct {
    _Atomic bool refuses;   /* to give memory */
    _Atomic bool keeps;     /* what is given back */
    _Atomic bool is_slow;   /* in taking back */
    sem_t begun, may_go_on; /* taking back */
} machine;

int fallocate(int fd, int mode, off_t offset, off_t length) {
    bool back = mode & FALLOC_FL_PUNCH_HOLE;
    if (back && machine.is_slow) {
        sem_post(&machine.begun);
        sem_wait(&machine.may_go_on);
    }
    if (back ? machine.keeps : machine.refuses) {
        errno = ENOSPC;
        return -1;
    }
    return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

static struct slot_pool *make_pool(size_t budget) {
    struct slot_pool *pool = slot_pool_create(budget);
    assert_non_null(pool);
    machine.refuses = machine.keeps = machine.is_slow = false;
    return pool;
}

static struct slot *acquire(struct slot_pool *pool) {
    struct slot *slot = NULL;
    assert_int_equal(slot_acquire(pool, SLOT_WORK, &slot, NULL), ST_OK);
    return slot;
}

/* Memory that was refused is not counted, after any number of attempts. */
static void test_no_memory(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(4 * MIB);
    struct slot *slot = acquire(pool);
    struct error err = {0};
    assert_int_equal(slot_reserve(slot, MIB, &err), ST_OK);
    const struct slot before = *slot;
    for (int i = 0; i < 5; i++) {
        machine.refuses = true;
        assert_int_equal(slot_reserve(slot, 3 * MIB, &err), ST_BUSY);
        assert_string_equal(err.text, "no memory for the picture: No space left on device");
        assert_null(slot_take(slot, MIB, &err));
        assert_memory_equal(slot, &before, sizeof before);
        assert_int_equal(slot_pool_bytes(pool), MIB);
        assert_int_equal(slot_pool_held(pool, SLOT_WORK), MIB);
    }
    machine.refuses = false;
    assert_int_equal(slot_reserve(slot, 4 * MIB, &err), ST_OK);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

/* Memory that the system does not take back is still there, and counted. */
static void test_memory_that_stays(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(4 * MIB);
    struct slot *idle = acquire(pool), *slot = acquire(pool);
    struct error err = {0};
    assert_int_equal(slot_reserve(idle, 3 * MIB, &err), ST_OK);
    slot_give_back(idle);
    machine.keeps = true;
    assert_int_equal(slot_reserve(slot, 2 * MIB, &err), ST_BUSY);
    assert_string_equal(err.text, "the memory budget of 4 MiB is in use");
    assert_int_equal(idle->reserved, 3 * MIB);
    assert_int_equal(slot_pool_bytes(pool), 3 * MIB);
    machine.keeps = false;
    assert_int_equal(slot_reserve(slot, 2 * MIB, &err), ST_OK);
    assert_int_equal(slot_pool_bytes(pool), 2 * MIB);
    slot_give_back(slot);
    slot_pool_destroy(pool);
}

struct visitor {
    pthread_t thread;
    struct slot *slot;
    enum status status;
};

static void *reserve(void *argument) {
    struct visitor *visitor = argument;
    visitor->status = slot_reserve(visitor->slot, 2 * MIB, NULL);
    return NULL;
}

static void send_visitor(struct visitor *visitor) {
    assert_int_equal(pthread_create(&visitor->thread, NULL, reserve, visitor), 0);
}

static void await_visitor(struct visitor *visitor) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += TIMEOUT_S;
    assert_int_equal(pthread_timedjoin_np(visitor->thread, NULL, &until), 0);
    assert_int_equal(visitor->status, ST_OK);
}

/* One of three threads gives idle memory back; the others wait for that, and all get their memory. */
static void test_memory_on_its_way_back(void **state) {
    (void)state;
    static struct visitor visitors[VISITORS];
    struct slot_pool *pool = make_pool(8 * MIB);
    struct slot *idle = acquire(pool);
    sem_init(&machine.begun, 0, 0);
    sem_init(&machine.may_go_on, 0, 0);
    for (unsigned i = 0; i < VISITORS; i++) {
        visitors[i].slot = acquire(pool);
    }
    assert_int_equal(slot_reserve(idle, 8 * MIB, NULL), ST_OK);
    slot_give_back(idle);
    machine.is_slow = true;
    send_visitor(&visitors[0]);
    sem_wait(&machine.begun);
    for (unsigned i = 1; i < VISITORS; i++) {
        send_visitor(&visitors[i]);
    }
    nanosleep(&(struct timespec){.tv_nsec = ASLEEP_MS * 1000000L}, NULL); /* until they wait */
    sem_post(&machine.may_go_on);
    for (unsigned i = 0; i < VISITORS; i++) {
        await_visitor(&visitors[i]);
    }
    assert_int_equal(slot_pool_bytes(pool), VISITORS * 2 * MIB);
    for (unsigned i = 0; i < VISITORS; i++) {
        slot_give_back(visitors[i].slot);
    }
    slot_pool_destroy(pool);
}

static void *cut(void *argument) {
    slot_cut(argument, 0);
    return NULL;
}

/* Who finds room does not wait for memory that others give back. */
static void test_room_beside_memory_on_its_way_back(void **state) {
    (void)state;
    struct slot_pool *pool = make_pool(8 * MIB);
    struct slot *large = acquire(pool);
    struct visitor visitor = {.slot = acquire(pool)};
    pthread_t cutter;
    sem_init(&machine.begun, 0, 0);
    sem_init(&machine.may_go_on, 0, 0);
    assert_int_equal(slot_reserve(large, 6 * MIB, NULL), ST_OK);
    machine.is_slow = true;
    assert_int_equal(pthread_create(&cutter, NULL, cut, large), 0);
    sem_wait(&machine.begun);
    send_visitor(&visitor);
    await_visitor(&visitor);
    assert_int_equal(slot_pool_bytes(pool), 8 * MIB);
    sem_post(&machine.may_go_on);
    assert_int_equal(pthread_join(cutter, NULL), 0);
    assert_int_equal(slot_pool_bytes(pool), 2 * MIB);
    machine.is_slow = false;
    slot_give_back(large);
    slot_give_back(visitor.slot);
    slot_pool_destroy(pool);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory),
        cmocka_unit_test(test_memory_that_stays),
        cmocka_unit_test(test_memory_on_its_way_back),
        cmocka_unit_test(test_room_beside_memory_on_its_way_back),
    };
    return cmocka_run_group_tests_name("slot calls", tests, NULL, NULL);
}
