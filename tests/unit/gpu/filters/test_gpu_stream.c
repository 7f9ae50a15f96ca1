/* SPDX-License-Identifier: MIT
 * Waiting for runs on pixels, with the fake driver: a device that stops is given up by the clock, and no call
 * waits for a driver that has not noticed. */
#include "gpu/filters/gpu_chain.h"

#include <time.h>

#include "core/clock.h"
#include "tests/unit/gpu/engine/lane_fixture.h"
#include "tests/unit/time_limit.h"

unsigned time_limit_seconds = 300; /* kernels on the host, fiber by fiber */

enum {
    SIDE = 16,
    SLOW_QUERIES = 40,
    LATE_MS = 30,
    RUNS = HANG_RUNS,
};

static const struct blur_arguments blur = {.sigma = 2};
static const struct median_arguments median = {.radius = 1};

static struct cuda whole;
static struct image source, target;

static int open_stream(void **state) {
    const struct image_shape shape = fixture_shape(PIXEL_RGB, 8, SIDE, SIDE);
    if (open_lane(state) != 0) {
        return -1;
    }
    source = fixture_painted(shape);
    target = fixture_image(shape);
    whole = cuda;
    return 0;
}

static int close_stream(void **state) {
    fixture_image_free(&source);
    fixture_image_free(&target);
    return close_lane(state);
}

/* A device without history, and a driver that does its work. */
static int reset(void **state) {
    (void)state;
    cuda = whole;
    device.detector = (struct hang_detector){0};
    lane.stream.marks->fence = lane.stream.steps;
    return 0;
}

static enum status run_filter(enum filter_id filter, const void *arguments, struct error *err) {
    const struct image_shape shape = image_shape(&source);
    struct chain chain = {0};
    struct lane_timing timing;
    assert_int_equal(chain_append(&chain, filter_get(filter), arguments, &shape, err), ST_OK);
    const struct chain_run run = {.chain = &chain, .source = &source, .target = &target};
    return gpu_chain_run(&lane.stream, &run, &timing, err);
}

static void do_runs(enum filter_id filter, const void *arguments, unsigned count) {
    struct error err = {0};
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(run_filter(filter, arguments, &err), ST_OK);
    }
    assert_int_equal(device.detector.runs, 0);
}

/* --- a driver that notices nothing --------------------------------------------------------------- */
static CUresult CUDAAPI never_ask(CUstream stream) {
    (void)stream;
    fail_msg("the driver was asked, which takes a second");
    return CUDA_SUCCESS;
}

static void test_a_device_that_stops(void **state) {
    (void)state;
    struct error err = {0};
    do_runs(FILTER_BLUR, &blur, RUNS);
    cuda.cuStreamWriteValue32 = lost_write;
    cuda.cuStreamQuery = cuda.cuStreamSynchronize = never_ask;
    int64_t begin = clock_ns();
    assert_int_equal(run_filter(FILTER_BLUR, &blur, &err), ST_DEVICE);
    assert_true(clock_ns() - begin > HANG_QUIET_NS);
    assert_non_null(strstr(err.text, "the GPU has done nothing for "));
    assert_int_equal(device.detector.runs, 0);
}

/* Of this filter nothing is known yet, or too little. */
static void test_another_filter(void **state) {
    (void)state;
    struct error err = {0};
    do_runs(FILTER_BLUR, &blur, RUNS);
    do_runs(FILTER_MEDIAN, &median, RUNS - 1);
    cuda.cuStreamWriteValue32 = lost_write;
    cuda.cuStreamQuery = knows_later;
    asked = 0;
    assert_int_equal(run_filter(FILTER_MEDIAN, &median, &err), ST_DEVICE);
    assert_int_equal(asked, ASKED_IN_VAIN + 1);
    assert_non_null(strstr(err.text, "cuStreamQuery"));
    assert_int_equal(device.detector.runs, 0);
}

/* --- a device that is slow ----------------------------------------------------------------------- */
static struct {
    CUdeviceptr to;
    cuuint32_t value;
} held;

static CUresult CUDAAPI hold_write(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned flags) {
    (void)stream, (void)flags;
    held.to = to;
    held.value = value;
    return CUDA_SUCCESS;
}

/* The driver is asked every 5 ms or so; the last time the work is done. */
static CUresult CUDAAPI done_later(CUstream stream) {
    (void)stream;
    if (++asked == SLOW_QUERIES) {
        *(volatile cuuint32_t *)(uintptr_t)held.to = held.value;
    }
    return CUDA_ERROR_NOT_READY;
}

/* Nothing is known of the filter, so that the clock does not give the device up. */
static void test_a_device_that_is_slow(void **state) {
    (void)state;
    struct error err = {0};
    cuda.cuStreamWriteValue32 = hold_write;
    cuda.cuStreamQuery = done_later;
    asked = 0;
    int64_t begin = clock_ns();
    assert_int_equal(run_filter(FILTER_BLUR, &blur, &err), ST_OK);
    assert_true(clock_ns() - begin > HANG_QUIET_NS);
    assert_int_equal(asked, SLOW_QUERIES);
    assert_int_equal(device.detector.history[FILTER_BLUR][0].done, 1);
    assert_int_equal(device.detector.runs, 0);
}

/* --- a driver that writes no marks --------------------------------------------------------------- */
static unsigned waits;

static CUresult CUDAAPI count_wait(CUevent event) {
    waits++;
    return whole.cuEventSynchronize(event);
}

static CUresult CUDAAPI done_while_the_thread_waits(CUstream stream) {
    nanosleep(&(struct timespec){.tv_nsec = LATE_MS * 1000000L}, NULL);
    asked = SLOW_QUERIES - 1;
    return done_later(stream);
}

/* The clock does not count the time after the last look that found the run in progress. */
static void test_the_time_of_a_run(void **state) {
    (void)state;
    struct error err = {0};
    cuda.cuStreamWriteValue32 = hold_write;
    cuda.cuStreamQuery = done_while_the_thread_waits;
    int64_t begin = clock_ns();
    assert_int_equal(run_filter(FILTER_BLUR, &blur, &err), ST_OK);
    double rest = (double)(clock_ns() - begin - LATE_MS * INT64_C(1000000));
    assert_int_equal(device.detector.history[FILTER_BLUR][0].done, 1);
    assert_true(device.detector.history[FILTER_BLUR][0].slowest * HANG_BYTES <= rest);
}

static void test_an_old_driver(void **state) {
    (void)state;
    struct gpu_stream plain, marked = lane.stream;
    struct error err = {0};
    cuda.cuStreamWriteValue32 = NULL;
    cuda.cuEventSynchronize = count_wait;
    assert_int_equal(gpu_stream_init(&plain, &device, &err), ST_OK);
    assert_null(plain.marks);
    lane.stream = plain;
    waits = 0;
    do_runs(FILTER_BLUR, &blur, 2);
    gpu_stream_finish(&lane.stream);
    lane.stream = marked;
    assert_int_equal(waits, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_device_that_stops, reset),
        cmocka_unit_test_setup(test_another_filter, reset),
        cmocka_unit_test_setup(test_a_device_that_is_slow, reset),
        cmocka_unit_test_setup(test_the_time_of_a_run, reset),
        cmocka_unit_test_setup(test_an_old_driver, reset),
    };
    return cmocka_run_group_tests(tests, open_stream, close_stream);
}
