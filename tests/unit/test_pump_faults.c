/* SPDX-License-Identifier: MIT
 * JPEG to JPEG on the GPU when calls fail, with the fake driver and the fake nvJPEG: the status sends the
 * picture to the CPU, the lane goes on, and nothing is left behind. */
#include "tests/unit/pump_fixture.h"

#include <pthread.h>

enum { EXECUTION_FAILED = 6, OUT_OF_MEMORY = 2 };
enum { THREADS = 4, PICTURES = 10, FAILS_AT = 7, FAILS_AFTER_MS = 30 };

/* --- calls --------------------------------------------------------------------------------- */
static const char *const nvjpeg_calls[] = {
#define NVJPEG(name, ...) #name,
#include "gpu/nvjpeg.def"
#undef NVJPEG
};

/* From opening to a picture and back to nothing. */
static void fails_with(const struct buf *file, const char *call, int result, enum status expected) {
    size_t before, after, total;
    struct error err = {0};
    cuda.cuMemGetInfo(&before, &total);
    arm(call, 1, result, 0);
    enum status status = open_desk(&err);
    status = status == ST_OK ? run(file, QUALITY) : status;
    close_desk();
    if (status != expected || !happened() || objects() != 0) {
        fail_msg("%s, %d: %s, %d objects are left", call, result, status_name(status), objects());
    }
    cuda.cuMemGetInfo(&after, &total);
    assert_int_equal(before, after);
}

static void test_each_call_once(void **state) {
    (void)state;
    static const struct {
        int result;
        enum status status;
    } cases[] = {{EXECUTION_FAILED, ST_DEVICE},
                 {NVJPEG_ALLOCATOR_FAILURE, ST_BUSY},
                 {NVJPEG_ARCH_MISMATCH, ST_UNSUPPORTED},
                 {NVJPEG_BAD_JPEG, ST_UNSUPPORTED}};
    struct buf file = recipe_file(&plain);
    close_desk();
    for (size_t c = 0; c < COUNT(cases); c++) {
        for (size_t i = 0; i < COUNT(nvjpeg_calls); i++) {
            bool at_the_end = strstr(nvjpeg_calls[i], "Destroy") != NULL;
            fails_with(&file, nvjpeg_calls[i], cases[c].result, at_the_end ? ST_OK : cases[c].status);
        }
    }
    struct error err = {0};
    assert_int_equal(open_desk(&err), ST_OK);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* The next picture on the same lane is right again. */
static void test_the_lane_goes_on(void **state) {
    (void)state;
    static const struct {
        const char *call;
        int times; /* a picture has it */
    } cases[] = {{"nvjpegJpegStreamParse", 1},
                 {"nvjpegDecoderJpegSupported", 1},
                 {"nvjpegDecodeJpegHost", 1},
                 {"nvjpegDecodeJpegTransferToDevice", 1},
                 {"nvjpegDecodeJpegDevice", 1},
                 {"nvjpegEncoderParamsSetQuality", 1},
                 {"nvjpegEncoderParamsSetOptimizedHuffman", 1},
                 {"nvjpegEncoderParamsSetSamplingFactors", 1},
                 {"nvjpegEncodeYUV", 1},
                 {"nvjpegEncodeRetrieveBitstream", 2},
                 {"cuLaunchKernel", 1},
                 {"cuEventRecord", 4},
                 {"cuStreamWriteValue32", 3},
                 {"cuEventElapsedTime", 3}};
    struct buf file = recipe_file(&plain);
    uint8_t quality = 50; /* another one each time, so that it is set */
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int n = 1; n <= cases[i].times; n++) {
            arm(cases[i].call, n, EXECUTION_FAILED, 0);
            if (run(&file, ++quality) != ST_DEVICE || !happened()) {
                fail_msg("%s, call %d, changes nothing", cases[i].call, n);
            }
            assert_int_equal(run(&file, quality), ST_OK);
        }
    }
    buf_finish(&file);
}

/* Some of the new settings have reached nvJPEG, some have not: the old ones are set anew. */
static void test_settings_that_failed(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    size_t size = desk.size;
    arm("nvjpegEncoderParamsSetOptimizedHuffman", 1, EXECUTION_FAILED, 0);
    assert_int_equal(run(&file, QUALITY - 40), ST_DEVICE);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    assert_int_equal(desk.size, size);
    assert_int_equal(run(&file, QUALITY - 40), ST_OK);
    assert_true(desk.size < size);
    buf_finish(&file);
}

static void test_new_memory(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    arm("cuMemAlloc", 2, OUT_OF_MEMORY, 0);
    assert_int_equal(run(&file, QUALITY), ST_BUSY);
    arm("cuStreamSynchronize", 1, EXECUTION_FAILED, 0);
    assert_int_equal(run(&file, QUALITY), ST_DEVICE);
    arm("cuStreamSynchronize", 1, EXECUTION_FAILED, 0); /* the memory is new until that has worked */
    assert_int_equal(run(&file, QUALITY), ST_DEVICE);
    assert_true(happened());
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* --- threads ------------------------------------------------------------------------------- */
struct worker {
    pthread_t thread;
    struct gpu_lane lane;
    const struct gpu_transcode *job; /* but for the output */
    uint8_t output[ROOM];
    unsigned wrong, failed; /* pictures: unlike the expected one; with a status of failure */
};

static void *work(void *argument) {
    struct worker *worker = argument;
    struct gpu_transcode job = *worker->job;
    struct error err = {0};
    gpu_device_enter(&device, &err);
    job.output = worker->output;
    for (unsigned i = 0; i < PICTURES; i++) {
        struct lane_timing timing;
        size_t size = 0;
        enum status status = gpu_pump_run(desk.pump, &worker->lane, &job, &size, &timing, &err);
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
    struct gpu_transcode job = make_job(&file, &plain_shape, &chain);
    unsigned failed = 0;
    assert_int_equal(run_job(&job, &err), ST_OK);
    arm("nvjpegDecodeJpegDevice", FAILS_AT, EXECUTION_FAILED, FAILS_AFTER_MS);
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].job = &job;
        assert_int_equal(gpu_lane_init(&workers[i].lane, &device, &err), ST_OK);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        gpu_lane_finish(&workers[i].lane);
        assert_int_equal(workers[i].wrong, 0);
        failed += workers[i].failed;
    }
    assert_int_equal(failed, 1);
    buf_finish(&file);
}

/* --- opening ------------------------------------------------------------------------------- */
static void test_what_is_missing(void **state) {
    (void)state;
    struct nvjpeg nvjpeg;
    struct error err = {0};
    struct cuda old = cuda;
    assert_int_equal(nvjpeg_open(&nvjpeg, &cuda, "libblurd-has-no-such.so.1", &err), ST_UNSUPPORTED);
    assert_non_null(strstr(err.text, "libblurd-has-no-such.so.1"));
    assert_int_equal(nvjpeg_open(&nvjpeg, &cuda, "libm.so.6", &err), ST_UNSUPPORTED);
    assert_string_equal(err.text, "this nvJPEG lacks the function nvjpegCreateEx");
    old.version = 11080;
    assert_int_equal(nvjpeg_open(&nvjpeg, &old, NULL, &err), ST_UNSUPPORTED);
    assert_string_equal(err.text, "there is no libnvjpeg.so that fits the driver");
    old.cuStreamWriteValue32 = NULL;
    struct gpu_device plain_device = {.cuda = &old};
    assert_int_equal(gpu_device_open_jpeg(&plain_device, nvjpeg_path, &err), ST_UNSUPPORTED);
    assert_string_equal(err.text, "this driver lacks the function cuStreamWriteValue32");
}

static void test_a_lane_without_decoders(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    struct error err = {0};
    close_desk();
    assert_int_equal(gpu_lane_init(&desk.lane, &device, &err), ST_OK);
    assert_int_equal(gpu_pump_create(&desk.pump, &device, 2, 1, &err), ST_OK);
    assert_int_equal(run(&file, QUALITY), ST_UNSUPPORTED);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_call_once, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_the_lane_goes_on, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_settings_that_failed, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_new_memory, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_a_failure_among_others, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_what_is_missing, open_test, close_test),
        cmocka_unit_test_setup_teardown(test_a_lane_without_decoders, open_test, close_test),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
