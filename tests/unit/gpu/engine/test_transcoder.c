/* SPDX-License-Identifier: MIT
 * JPEGs by any thread, with the fake driver: more threads than places, and starts that fail at each possible
 * call without a leak. */
#include "gpu/engine/transcoder.h"
#include "tests/unit/gpu/engine/submitter_fixture.h"

#include <pthread.h>
#include <stdatomic.h>

enum { PLACES = 3, THREADS = 8, ROUNDS = 6, CALLS_MAX = 200, EXECUTION_FAILED = 6, OUT_OF_MEMORY = 2 };

/* --- the start ------------------------------------------------------------------------------ */
static size_t memory_free(void) {
    size_t now, total;
    assert_int_equal(cuda.cuMemGetInfo(&now, &total), CUDA_SUCCESS);
    return now;
}

static enum status create(struct gpu_transcoder **made, unsigned pictures) {
    struct error err = {0};
    *made = NULL;
    enum status status = gpu_transcoder_create(made, &device, pictures, &err);
    assert_true(status == ST_OK ? *made != NULL : *made == NULL && err.text[0]);
    return status;
}

static void test_how_many(void **state) {
    (void)state;
    static const struct {
        unsigned asked, made;
    } cases[] = {{1, 1}, {2, 2}, {GPU_TRANSCODER_PICTURES_MAX + 5, GPU_TRANSCODER_PICTURES_MAX}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct gpu_transcoder *transcoder;
        size_t before = memory_free();
        assert_int_equal(create(&transcoder, cases[i].asked), ST_OK);
        assert_int_equal(gpu_transcoder_pictures(transcoder), cases[i].made);
        gpu_transcoder_destroy(transcoder);
        assert_int_equal(memory_free(), before);
    }
    gpu_transcoder_destroy(NULL);
}

static void test_an_old_driver(void **state) {
    (void)state;
    struct cuda old = cuda;
    struct gpu_transcoder *transcoder;
    size_t before = memory_free();
    old.cuStreamWriteValue32 = NULL;
    device.cuda = &old;
    enum status status = create(&transcoder, PLACES);
    device.cuda = &cuda;
    assert_int_equal(status, ST_UNSUPPORTED);
    assert_int_equal(memory_free(), before);
}

/* The n-th use of each call fails, for every n that there is. The submitter's thread makes the context
 * current, too, perhaps before `create` returns: that one is for the first job to see. */
static void fails_at_each(const char *call, int result, enum status expected) {
    for (int n = 1; n <= CALLS_MAX; n++) {
        struct gpu_transcoder *transcoder;
        size_t before = memory_free();
        arm(call, n, result, 0);
        enum status status = create(&transcoder, PLACES);
        bool met = happened() && (n == 1 || strcmp(call, "cuCtxSetCurrent") != 0);
        if (met && status != expected) {
            fail_msg("%s, call %d: %s", call, n, status_name(status));
        }
        gpu_transcoder_destroy(transcoder);
        unlink(fault_path);
        assert_int_equal(memory_free(), before);
        if (!met) {
            assert_true(n > 1);
            assert_int_equal(status, ST_OK);
            return;
        }
    }
    fail_msg("%s is called for ever", call);
}

static void test_a_start_that_fails(void **state) {
    (void)state;
    static const char *const calls[] = {"cuStreamCreate", "cuEventCreate", "cuMemHostAlloc",
                                        "cuMemHostGetDevicePointer", "cuMemAlloc"};
    for (size_t i = 0; i < COUNT(calls); i++) {
        fails_at_each(calls[i], EXECUTION_FAILED, ST_DEVICE);
        fails_at_each(calls[i], OUT_OF_MEMORY, ST_BUSY);
    }
    fails_at_each("cuCtxSetCurrent", EXECUTION_FAILED, ST_DEVICE);
}

/* --- runs ----------------------------------------------------------------------------------- */
struct worker {
    pthread_t thread;
    struct gpu_transcoder *transcoder;
    const struct buf *file;
    bool hasty; /* has less room than the result takes */
    uint8_t output[ROOM];
    size_t size;
    unsigned wrong;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    struct chain chain;
    struct error err = {0};
    struct lane_timing timing;
    struct transcode job = make_job(worker->file, &plain_shape, &chain);
    job.output = worker->output;
    job.room = worker->hasty ? 10 : ROOM;
    enum status expected = worker->hasty ? ST_UNSUPPORTED : ST_OK;
    worker->wrong = gpu_device_enter(&device, &err) != ST_OK;
    for (unsigned i = 0; i < ROUNDS; i++) {
        worker->wrong +=
            gpu_transcoder_run(worker->transcoder, &job, &worker->size, &timing, &err) != expected;
    }
    return NULL;
}

static void run_threads(struct worker *workers, struct gpu_transcoder *transcoder, const struct buf *file) {
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.transcoder = transcoder, .file = file, .hasty = i % 3 == 1};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
}

static void test_more_threads_than_places(void **state) {
    (void)state;
    static struct worker workers[THREADS];
    struct buf file = recipe_file(&plain);
    for (unsigned places = 1; places <= PLACES; places++) {
        struct gpu_transcoder *transcoder;
        assert_int_equal(create(&transcoder, places), ST_OK);
        run_threads(workers, transcoder, &file);
        for (unsigned i = 0; i < THREADS; i++) {
            assert_int_equal(workers[i].wrong, 0);
            if (!workers[i].hasty) {
                assert_int_equal(workers[i].size, workers[0].size);
                assert_memory_equal(workers[i].output, workers[0].output, workers[0].size);
            }
        }
        gpu_transcoder_destroy(transcoder);
    }
    buf_finish(&file);
}

/* The place is free again: with one of them a second failure would wait for ever. */
static void test_places_come_back(void **state) {
    (void)state;
    static uint8_t output[ROOM];
    static const char *const calls[] = {"cuMemcpyHtoDAsync", "cuLaunchKernel", "cuStreamWriteValue32"};
    struct buf file = recipe_file(&plain);
    struct gpu_transcoder *transcoder;
    struct chain chain;
    struct lane_timing timing;
    struct error err = {0};
    size_t size;
    assert_int_equal(create(&transcoder, 1), ST_OK);
    struct transcode job = make_job(&file, &plain_shape, &chain);
    job.output = output;
    for (unsigned i = 0; i < 2 * COUNT(calls); i++) {
        arm(calls[i / 2], 1, EXECUTION_FAILED, 0);
        assert_int_not_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_OK);
        assert_true(happened() && err.text[0]);
    }
    assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_OK);
    gpu_transcoder_destroy(transcoder);
    buf_finish(&file);
}

/* Memory that all lanes of the device have taken. */
static size_t kept(void) {
    return atomic_load(&device.memory_kept);
}

/* Beyond the device's share, and where there was none left, memory goes back; pictures are right all the
 * same. */
static void test_memory_goes_back(void **state) {
    (void)state;
    static uint8_t output[ROOM];
    struct buf file = recipe_file(&plain);
    struct gpu_transcoder *transcoder;
    struct chain chain;
    struct lane_timing timing;
    struct error err = {0};
    size_t size, share = device.memory_share, total, available;
    assert_int_equal(cuda.cuMemGetInfo(&available, &total), CUDA_SUCCESS);
    assert_int_equal(share, total / GPU_MEMORY_PARTS);
    assert_int_equal(create(&transcoder, 1), ST_OK);
    struct transcode job = make_job(&file, &plain_shape, &chain);
    job.output = output;
    assert_int_equal(kept(), 0);
    assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_OK);
    size_t taken = kept();
    assert_true(taken > 0 && taken <= share);

    device.memory_share = taken; /* just enough */
    assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_OK);
    assert_int_equal(kept(), taken);
    for (unsigned i = 0; i < 3; i++) {
        device.memory_share = taken - 1;
        assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_OK);
        assert_int_equal(kept(), 0);
    }
    device.memory_share = share;
    arm("cuMemAllocAsync", 3, OUT_OF_MEMORY, 0);
    assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_BUSY);
    assert_true(happened());
    assert_int_equal(kept(), 0);
    assert_int_equal(gpu_transcoder_run(transcoder, &job, &size, &timing, &err), ST_OK);
    assert_int_equal(kept(), taken);
    gpu_transcoder_destroy(transcoder);
    assert_int_equal(kept(), 0);
    buf_finish(&file);
}

/* Memory that idle lanes kept from busier times is freed when there is too much. */
static void test_hoards_go(void **state) {
    (void)state;
    static struct worker workers[THREADS];
    struct buf file = recipe_file(&plain);
    struct gpu_transcoder *transcoder;
    size_t share = device.memory_share;
    assert_int_equal(create(&transcoder, PLACES), ST_OK);
    workers[0] = (struct worker){.transcoder = transcoder, .file = &file};
    work(&workers[0]);
    size_t taken = kept(); /* by one lane */
    run_threads(workers, transcoder, &file);
    print_message("%zu lanes have memory\n", kept() / taken);
    device.memory_share = taken;
    workers[0] = (struct worker){.transcoder = transcoder, .file = &file};
    work(&workers[0]); /* each lane once, and more */
    assert_int_equal(workers[0].wrong, 0);
    assert_int_equal(kept(), taken);
    device.memory_share = share;
    gpu_transcoder_destroy(transcoder);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_how_many),           cmocka_unit_test(test_an_old_driver),
        cmocka_unit_test(test_a_start_that_fails), cmocka_unit_test(test_more_threads_than_places),
        cmocka_unit_test(test_places_come_back),   cmocka_unit_test(test_memory_goes_back),
        cmocka_unit_test(test_hoards_go),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
