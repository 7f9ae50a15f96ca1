/* SPDX-License-Identifier: MIT
 * Slots in the engine: when their memory is registered and released. The driver is two functions. One of
 * them waits until the device has ended its kernels, as the real one does. */
#include "core/tuned.h"
#include "gpu/engine/mapping.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/slot_file.h"

enum {
    PAGE = 4096,
    MIB = 1 << 20,
    SLOT = 8 * MIB,
    LARGE = 300 * MIB /* more than may be left to the thread that attends */
};

static _Atomic unsigned registered, released;
static _Thread_local unsigned registered_here;
static _Atomic bool device_is_busy, driver_refuses;
static sem_t device_is_idle, has_released;

static CUresult do_register(void *memory, size_t size, unsigned flags) {
    (void)flags;
    if (atomic_load(&driver_refuses)) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memset(memory, 1, size);
    atomic_fetch_add(&registered, 1);
    registered_here++;
    return CUDA_SUCCESS;
}

static CUresult do_unregister(void *memory) {
    assert_non_null(memory);
    if (atomic_load(&device_is_busy)) {
        sem_wait(&device_is_idle);
    }
    ((volatile uint8_t *)memory)[0] = 2; /* it is still mapped */
    atomic_fetch_add(&released, 1);
    sem_post(&has_released);
    return CUDA_SUCCESS;
}

static CUresult describe(CUresult result, const char **text) {
    (void)result;
    *text = "it refuses";
    return CUDA_SUCCESS;
}

static const struct cuda cuda = {.cuGetErrorName = describe,
                                 .cuGetErrorString = describe,
                                 .cuMemHostRegister = do_register,
                                 .cuMemHostUnregister = do_unregister};

struct fixture {
    struct mappings *mappings;
    pthread_t thread;
    int fd;
};

static void *attend(void *mappings) {
    mappings_attend(mappings);
    return NULL;
}

/* Runs once with a slot of that size, whose memory has to be registered for it unless `later`. */
static uint8_t *run(struct fixture *fixture, uint64_t generation, uint64_t span, bool later) {
    const struct slot_view view = {.serial = 1, .generation = generation, .span = span};
    struct mapping *mapping;
    struct error err = {0};
    uint8_t *memory = NULL;
    assert_int_equal(mappings_get(fixture->mappings, &view, later, fixture->fd, &mapping, &memory, &err),
                     ST_OK);
    memory[span - 1] = 3;
    mappings_put(fixture->mappings, mapping);
    return memory;
}

/* Until the thread attends, a run registers a slot itself. */
static void await_attendance(struct fixture *fixture) {
    unsigned before;
    uint64_t serial = 2;
    do {
        const struct slot_view view = {.serial = serial++, .generation = 1, .span = PAGE};
        struct mapping *mapping;
        struct error err;
        uint8_t *memory;
        before = registered_here;
        assert_int_equal(mappings_get(fixture->mappings, &view, true, fixture->fd, &mapping, &memory, &err),
                         ST_OK);
        mappings_put(fixture->mappings, mapping);
        sched_yield();
    } while (registered_here > before);
}

static void set_up(struct fixture *fixture, bool attended) {
    atomic_store(&registered, 0);
    atomic_store(&released, 0);
    atomic_store(&device_is_busy, false);
    sem_init(&device_is_idle, 0, 0);
    sem_init(&has_released, 0, 0);
    fixture->fd = slot_file(2 * (size_t)LARGE);
    assert_true(fixture->fd >= 0);
    fixture->mappings = mappings_create(&cuda);
    assert_non_null(fixture->mappings);
    if (attended) {
        assert_int_equal(pthread_create(&fixture->thread, NULL, attend, fixture->mappings), 0);
        await_attendance(fixture);
    }
}

static void tear_down(struct fixture *fixture, bool attended) {
    if (attended) {
        mappings_leave(fixture->mappings);
        pthread_join(fixture->thread, NULL);
    }
    mappings_destroy(fixture->mappings);
    assert_int_equal(registered, released);
    close(fixture->fd);
}

/* A slot that grows is registered again. */
static void test_grows(void **state) {
    (void)state;
    struct fixture fixture;
    set_up(&fixture, false);
    run(&fixture, 1, MIB, false);
    run(&fixture, 1, MIB, false);
    assert_int_equal(registered, 1);
    run(&fixture, 1, SLOT, false);
    assert_int_equal(registered, 2);
    assert_int_equal(released, 1);
    run(&fixture, 1, MIB, false);
    assert_int_equal(registered, 2);
    run(&fixture, 2, MIB, false); /* other pages */
    assert_int_equal(registered, 3);
    assert_int_equal(released, 2);
    tear_down(&fixture, false);
}

/* The span is what the front says; the file is the front's, too. */
static void test_a_slot_that_is_too_short(void **state) {
    (void)state;
    struct fixture fixture;
    set_up(&fixture, false);
    const struct slot_view view = {.serial = 1, .generation = 1, .span = 2 * (uint64_t)LARGE + 1};
    struct mapping *mapping;
    struct error err = {0};
    uint8_t *memory;
    assert_int_equal(mappings_get(fixture.mappings, &view, false, fixture.fd, &mapping, &memory, &err),
                     ST_INTERNAL);
    run(&fixture, 1, MIB, false); /* the refusal left the slot free for the next run */
    tear_down(&fixture, false);
}

/* Whether the slots are busy while a run has one. */
static bool is_busy(struct fixture *fixture, uint64_t serial, uint64_t span) {
    const struct slot_view view = {.serial = serial, .generation = 1, .span = span};
    struct mapping *mapping;
    struct error err = {0};
    uint8_t *memory;
    assert_int_equal(mappings_get(fixture->mappings, &view, false, fixture->fd, &mapping, &memory, &err),
                     ST_OK);
    bool busy = mappings_are_busy(fixture->mappings);
    mappings_put(fixture->mappings, mapping);
    assert_false(mappings_are_busy(fixture->mappings));
    return busy;
}

/* Copies of a large slot that the driver does not register block their threads for long. */
static void test_a_driver_that_refuses(void **state) {
    (void)state;
    struct fixture fixture;
    set_up(&fixture, false);
    assert_false(is_busy(&fixture, 1, TUNED_GPU_REGISTER_LATER + PAGE));
    atomic_store(&driver_refuses, true);
    assert_true(is_busy(&fixture, 2, TUNED_GPU_REGISTER_LATER + PAGE));
    assert_true(is_busy(&fixture, 2, TUNED_GPU_REGISTER_LATER + PAGE));
    assert_false(is_busy(&fixture, 3, TUNED_GPU_REGISTER_LATER));
    assert_false(is_busy(&fixture, 1, TUNED_GPU_REGISTER_LATER + PAGE));
    atomic_store(&driver_refuses, false);
    tear_down(&fixture, false);
}

/* No run waits until the driver has let memory go that its slot has grown out of. */
static void test_grows_while_the_device_works(void **state) {
    (void)state;
    struct fixture fixture;
    set_up(&fixture, true);
    run(&fixture, 1, MIB, false);
    atomic_store(&device_is_busy, true);
    for (uint64_t size = 2 * MIB; size <= SLOT; size += MIB) {
        run(&fixture, 1, size, false);
    }
    run(&fixture, 2, SLOT, false);
    assert_int_equal(released, 0);
    atomic_store(&device_is_busy, false);
    sem_post(&device_is_idle);
    for (unsigned i = 0; i < SLOT / MIB; i++) {
        sem_wait(&has_released);
    }
    assert_int_equal(released, SLOT / MIB);
    tear_down(&fixture, true);
}

/* Beyond a limit of bytes a run releases what it leaves. */
static void test_leaves_no_more_than_the_limit(void **state) {
    (void)state;
    struct fixture fixture;
    set_up(&fixture, true);
    run(&fixture, 1, LARGE, false);
    run(&fixture, 1, LARGE + MIB, false);
    assert_int_equal(released, 1);
    tear_down(&fixture, true);
}

/* What is left when the engine ends is released, too. */
static void test_ends_with_memory_left(void **state) {
    (void)state;
    struct fixture fixture;
    set_up(&fixture, true);
    run(&fixture, 1, MIB, false);
    atomic_store(&device_is_busy, true);
    run(&fixture, 1, 2 * MIB, false);
    run(&fixture, 1, 3 * MIB, false);
    atomic_store(&device_is_busy, false);
    sem_post(&device_is_idle);
    tear_down(&fixture, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows),
        cmocka_unit_test(test_a_slot_that_is_too_short),
        cmocka_unit_test(test_a_driver_that_refuses),
        cmocka_unit_test(test_grows_while_the_device_works),
        cmocka_unit_test(test_leaves_no_more_than_the_limit),
        cmocka_unit_test(test_ends_with_memory_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
