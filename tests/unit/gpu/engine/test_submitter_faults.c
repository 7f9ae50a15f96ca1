/* SPDX-License-Identifier: MIT
 * JPEG to JPEG on the GPU when calls fail, with the fake driver: the status sends the
 * picture to the CPU, the lane goes on, and nothing leaks. */
#include "tests/unit/gpu/engine/submitter_fixture.h"

#include <pthread.h>

#include "gpu/filters/filters.h"

enum { EXECUTION_FAILED = 6, OUT_OF_MEMORY = 2 };
enum { THREADS = 4, PICTURES = 10, FAILS_AT = 7, FAILS_AFTER_MS = 30 };

/* --- calls --------------------------------------------------------------------------------- */
/* Calls that a lane and a picture need, in no order. */
static const char *const calls[] = {"cuStreamCreate",  "cuEventCreate",        "cuMemHostAlloc",
                                    "cuMemAlloc",      "cuMemcpyHtoDAsync",    "cuLaunchKernel",
                                    "cuMemsetD8Async", "cuStreamWriteValue32", "cuMemAllocAsync"};

/* Opens a lane, runs a picture and closes the lane. */
static void fails_with(const struct buf *file, const char *call, int result, enum status expected) {
    size_t before, after, total;
    struct error err = {0};
    cuda.cuMemGetInfo(&before, &total);
    arm(call, 1, result, 0);
    enum status status = open_desk(&err);
    status = status == ST_OK ? run(file, QUALITY) : status;
    close_desk();
    if (status != expected || !happened()) {
        fail_msg("%s, %d: %s", call, result, status_name(status));
    }
    gpu_buffer_empty_pool(&device);
    cuda.cuMemGetInfo(&after, &total);
    assert_int_equal(before, after);
}

static void test_each_call_once(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    close_desk();
    for (size_t i = 0; i < COUNT(calls); i++) {
        fails_with(&file, calls[i], EXECUTION_FAILED, ST_DEVICE);
        fails_with(&file, calls[i], OUT_OF_MEMORY, ST_BUSY);
    }
    struct error err = {0};
    assert_int_equal(open_desk(&err), ST_OK);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* The next picture on the same lane is right again. */
static void goes_on(bool optimal) {
    static const struct {
        const char *call;
        int times; /* a picture has it */
    } cases[] = {{"cuMemcpyHtoDAsync", 2}, {"cuLaunchKernel", 10}, {"cuStreamWriteValue32", 1}};
    struct buf file = recipe_file(&plain);
    desk.optimal = optimal;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int n = 1; n <= cases[i].times; n++) {
            arm(cases[i].call, n, EXECUTION_FAILED, 0);
            if (run(&file, QUALITY) != ST_DEVICE || !happened()) {
                fail_msg("%s, call %d, changes nothing", cases[i].call, n);
            }
            assert_int_equal(run(&file, QUALITY), ST_OK);
        }
    }
    desk.optimal = false;
    buf_finish(&file);
}

static void test_the_lane_goes_on(void **state) {
    (void)state;
    goes_on(false);
    goes_on(true);
}

static void test_new_memory(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    arm("cuMemAllocAsync", 2, OUT_OF_MEMORY, 0);
    assert_int_equal(run(&file, QUALITY), ST_BUSY);
    arm("cuMemAllocAsync", 2, OUT_OF_MEMORY, 0); /* for the walk, as there is one already */
    assert_int_equal(run(&file, QUALITY), ST_BUSY);
    arm("cuMemAllocAsync", 2, OUT_OF_MEMORY, 0); /* for the coefficients */
    assert_int_equal(run(&file, QUALITY), ST_BUSY);
    assert_true(happened());
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* A filter that finds no memory of its own says so itself: a chain that is told of success would answer with
 * a picture that nothing wrote. Small blurs need no such memory. */
static void test_no_memory_for_a_filter(void **state) {
    (void)state;
    static _Alignas(IMAGE_ALIGNMENT) uint8_t pixels[2][ROOM];
    const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = WIDTH, .height = HEIGHT};
    const struct blur_arguments wide = {.sigma = 30};
    struct image image[2];
    struct chain chain = {0};
    struct error err = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &wide, &shape, NULL), ST_OK);
    for (size_t i = 0; i < COUNT(image); i++) {
        assert_in_range(image_layout(&image[i], &shape), WIDTH * HEIGHT, ROOM);
        image_place(&image[i], pixels[i]);
    }
    const struct blur_plan *plan = &chain.step[0].blur;
    arm("cuMemAllocAsync", 1, OUT_OF_MEMORY, 0);
    assert_int_equal(gpu_blur(&lane.stream, plan, &image[0], &image[1], &err), ST_BUSY);
    assert_true(happened());
    assert_int_equal(gpu_blur(&lane.stream, plan, &image[0], &image[1], &err), ST_OK);
}

/* The result is copied then. */
static void test_memory_that_the_device_does_not_see(void **state) {
    (void)state;
    static uint8_t direct[ROOM];
    struct buf file = recipe_file(&plain);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    size_t size = desk.size;
    memcpy(direct, desk.output, size);
    memset(desk.output, 0, size);
    arm("cuMemHostGetDevicePointer", 1, EXECUTION_FAILED, 0);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    assert_true(happened());
    assert_int_equal(desk.size, size);
    assert_memory_equal(desk.output, direct, size);
    buf_finish(&file);
}

/* Of the marks, of the walk, of the encoder. */
static void test_no_pinned_memory(void **state) {
    (void)state;
    static const char *const pinned[] = {"cuMemHostAlloc", "cuMemHostGetDevicePointer"};
    struct buf file = recipe_file(&plain);
    struct error err = {0};
    close_desk();
    for (size_t i = 0; i < COUNT(pinned); i++) {
        for (int n = 1; n <= 3; n++) {
            arm(pinned[i], n, OUT_OF_MEMORY, 0);
            assert_int_equal(open_desk(&err), ST_BUSY);
            assert_true(happened());
            close_desk();
        }
    }
    assert_int_equal(open_desk(&err), ST_OK);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* --- threads ------------------------------------------------------------------------------- */
struct worker {
    pthread_t thread;
    struct jpeg_stream lane;
    const struct transcode *job; /* but for the output */
    uint8_t output[ROOM];
    unsigned wrong, failed; /* pictures: unlike the expected one; with a status of failure */
};

static void *work(void *argument) {
    struct worker *worker = argument;
    struct transcode job = *worker->job;
    struct error err = {0};
    gpu_device_enter(&device, &err);
    job.output = worker->output;
    for (unsigned i = 0; i < PICTURES; i++) {
        struct lane_timing timing;
        size_t size = 0;
        enum status status = submitter_run(desk.submitter, &worker->lane, &job, &size, &timing, &err);
        worker->failed += status == ST_DEVICE;
        worker->wrong += status != ST_DEVICE && (status != ST_OK || size != desk.size ||
                                                 memcmp(worker->output, desk.output, size) != 0);
    }
    return NULL;
}

/* One fails, late, among others: they get theirs. */
static void test_a_failure_among_others(void **state) {
    (void)state;
    static struct worker workers[THREADS];
    struct buf file = recipe_file(&plain);
    struct chain chain;
    struct error err = {0};
    struct transcode job = make_job(&file, &plain_shape, &chain);
    unsigned failed = 0;
    assert_int_equal(run_job(&job, &err), ST_OK);
    arm("cuLaunchKernel", FAILS_AT, EXECUTION_FAILED, FAILS_AFTER_MS);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].job = &job;
        assert_int_equal(jpeg_stream_init(&workers[i].lane, &device, &err), ST_OK);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        jpeg_stream_finish(&workers[i].lane);
        assert_int_equal(workers[i].wrong, 0);
        failed += workers[i].failed;
    }
    assert_int_equal(failed, 1);
    buf_finish(&file);
}

/* --- a device that fails without a word ----------------------------------------------------- */
/* Kernels that never end, and no call that would be told: the driver is asked now and then. */
static void test_a_device_that_stops(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    const struct cuda whole = cuda;
    cuda.cuStreamWriteValue32 = lost_write;
    cuda.cuStreamQuery = knows_later;
    asked = 0;
    assert_int_equal(run(&file, QUALITY), ST_DEVICE);
    assert_int_equal(asked, ASKED_IN_VAIN + 1);
    cuda = whole;
    lane.stream.marks->fence = lane.stream.steps; /* which that device did not do */
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* --- opening ------------------------------------------------------------------------------- */
static void test_what_is_missing(void **state) {
    (void)state;
    struct error err = {0};
    struct cuda old = cuda;
    struct gpu_device plain_device = device;
    struct jpeg_stream plain_lane;
    old.cuStreamWriteValue32 = NULL;
    plain_device.cuda = &old;
    assert_int_equal(jpeg_stream_init(&plain_lane, &plain_device, &err), ST_UNSUPPORTED);
    assert_string_equal(err.text, "this driver lacks the function cuStreamWriteValue32");
    jpeg_stream_finish(&plain_lane);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_call_once, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_the_lane_goes_on, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_new_memory, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_no_memory_for_a_filter, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_memory_that_the_device_does_not_see, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_no_pinned_memory, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_a_failure_among_others, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_a_device_that_stops, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_what_is_missing, open_test, close_test),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
