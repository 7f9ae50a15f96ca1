/* SPDX-License-Identifier: MIT
 * The thread that takes work off the first requests: JPEGs in slots that are not registered yet, or never,
 * equal the CPU's. On a fake driver that knows which memory the device reaches. */
#include "tests/unit/gpu/engine/engine_jpeg_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <time.h>

enum { RUNS = 40, WAIT_MS = 5000 };

static const char *fault_path;

static void *attend(void *ignored) {
    engine_attend(engine);
    return ignored;
}

/* The next call of that name fails. */
static void arm(const char *call) {
    FILE *file_of_faults = fopen(fault_path, "w");
    assert_non_null(file_of_faults);
    fprintf(file_of_faults, "%s:1:2", call);
    fclose(file_of_faults);
}

static bool happened(void) {
    for (unsigned ms = 0; ms < WAIT_MS; ms++) {
        if (access(fault_path, F_OK) != 0) {
            return true;
        }
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return false;
}

static struct wire_run run_in(uint64_t serial) {
    struct wire_run run = good_run();
    run.slot_serial = serial;
    return run;
}

static void test_attended(void **state) {
    (void)state;
    pthread_t thread;
    struct wire_run run = run_in(1000);
    assert_done(&run, &shape); /* registered at once */
    assert_int_equal(pthread_create(&thread, NULL, attend, NULL), 0);
    for (uint64_t i = 0; i < RUNS; i++) {
        run = run_in(2000 + i);
        assert_done(&run, &shape);
        assert_done(&run, &shape);
    }
    for (uint64_t i = 0; i < RUNS; i++) { /* while it is being registered, or waits for that */
        run = run_in(3000);
        run.slot_generation = i;
        run.slot_span = SLOT_SIZE - 4096 * (i % 3);
        assert_done(&run, &shape);
    }
    arm("cuMemHostRegister");
    run = run_in(4000);
    assert_done(&run, &shape);
    assert_true(happened());
    assert_done(&run, &shape); /* this one stays unregistered */
    engine_leave(engine);
    assert_int_equal(pthread_join(thread, NULL), 0);
    run = run_in(5000);
    assert_done(&run, &shape);
}

/* When there is no memory for more streams, the open streams do all the work. */
static void test_no_memory(void **state) {
    (void)state;
    static const char *const calls[] = {"cuMemHostAlloc", "cuMemAlloc", "cuStreamCreate"};
    for (size_t i = 0; i < COUNT(calls); i++) {
        struct engine *usual = engine;
        struct engine_session *its = lane;
        struct wire_ready ready;
        struct error err = {0};
        pthread_t thread;
        assert_int_equal(engine_open(&engine, &options, &ready, &err), ST_OK);
        assert_int_equal(engine_session_create(&lane, engine, &err), ST_OK);
        arm(calls[i]);
        assert_int_equal(pthread_create(&thread, NULL, attend, NULL), 0);
        assert_true(happened());
        engine_leave(engine);
        assert_int_equal(pthread_join(thread, NULL), 0);
        struct wire_run run = run_in(1);
        struct buf expected = by_cpu(&run, &shape);
        struct wire_done done = run_on(&run);
        assert_int_equal(done.error.status, ST_OK);
        assert_int_equal(done.size, expected.size);
        buf_finish(&expected);
        engine_session_destroy(lane);
        engine_close(engine);
        engine = usual;
        lane = its;
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attended),
        cmocka_unit_test(test_no_memory),
    };
    char path[] = "/tmp/test_engine_attend-XXXXXX";
    int made = mkstemp(path);
    if (made < 0) {
        return 1;
    }
    close(made);
    unlink(path);
    fault_path = path;
    setenv("FAKE_CUDA_FAULT_FILE", path, 1);
    setenv("FAKE_CUDA_STRICT", "1", 1);
    int failed = cmocka_run_group_tests(tests, open_engine, close_engine);
    unlink(path);
    return failed;
}
