/* SPDX-License-Identifier: MIT
 * A device that is late, with the fake driver: its marks come when the test says so, its copies happen when a
 * thread waits for them or asks for them. After a failed call it must not work on memory that is in other
 * use. */
#include "tests/unit/gpu/engine/submitter_fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "core/clock.h"
#include "gpu/filters/gpu_chain.h"

enum { EXECUTION_FAILED = 6, COPIES_MAX = 4, PAGE = 4096 };
enum { AT_A_TIME = 256, WORKERS = AT_A_TIME + 4, EACH = 100, SIDE = 16, SMALL_ROOM = 4096 };
enum { LATER_MS = 30, TIMEOUT_MS = 10000, BEFORE = 40 /* pictures */ };

/* --- pending work of the device --------------------------------------------------------------- */
static struct {
    struct cuda in_time;
    unsigned under_way; /* calls since the last wait */
    struct {
        void *to;
        CUdeviceptr from;
        size_t size;
    } copy[COPIES_MAX]; /* to the host */
    unsigned copies;
    CUdeviceptr mark; /* of a run on pixels, behind its copies; 0: none */
    cuuint32_t value;
} late;

static void arrive(void) {
    for (unsigned i = 0; i < late.copies; i++) {
        memcpy(late.copy[i].to, (const void *)(uintptr_t)late.copy[i].from, late.copy[i].size);
    }
    late.copies = late.under_way = 0;
    if (late.mark) {
        *(volatile cuuint32_t *)(uintptr_t)late.mark = late.value;
    }
    late.mark = 0;
}

static CUresult count_result(CUresult result) {
    late.under_way += result == CUDA_SUCCESS;
    return result;
}

static CUresult CUDAAPI late_launch(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                    CUstream stream, void **parameters, void **extra) {
    return count_result(late.in_time.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y,
                                                    block_z, shared, stream, parameters, extra));
}

/* A launch with a priority, without it. */
static CUresult CUDAAPI launch_plainly(const CUlaunchConfig *config, CUfunction function, void **parameters,
                                       void **extra) {
    return cuda.cuLaunchKernel(function, config->gridDimX, config->gridDimY, config->gridDimZ,
                               config->blockDimX, config->blockDimY, config->blockDimZ,
                               config->sharedMemBytes, config->hStream, parameters, extra);
}

static CUresult CUDAAPI late_upload(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    return count_result(late.in_time.cuMemcpyHtoDAsync(to, from, size, stream));
}

static CUresult CUDAAPI late_download(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    static uint8_t aside[ROOM];
    assert_true(size <= sizeof aside && late.copies < COPIES_MAX);
    CUresult result = count_result(late.in_time.cuMemcpyDtoHAsync(aside, from, size, stream));
    if (result == CUDA_SUCCESS) {
        late.copy[late.copies].to = to;
        late.copy[late.copies].from = from;
        late.copy[late.copies++].size = size;
    }
    return result;
}

static CUresult CUDAAPI late_stream(CUstream stream) {
    arrive();
    return late.in_time.cuStreamSynchronize(stream);
}

static CUresult CUDAAPI late_mark(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned flags) {
    static cuuint32_t aside;
    CUresult result = late.in_time.cuStreamWriteValue32(stream, (CUdeviceptr)(uintptr_t)&aside, value, flags);
    late.mark = result == CUDA_SUCCESS ? to : 0;
    late.value = value;
    return result;
}

static CUresult CUDAAPI late_query(CUstream stream) {
    (void)stream;
    arrive();
    return CUDA_ERROR_NOT_READY;
}

static CUresult CUDAAPI not_done(CUstream stream) {
    (void)stream;
    return CUDA_ERROR_NOT_READY;
}

static int open_late(void **state) {
    late.in_time = cuda;
    late.copies = late.under_way = 0;
    late.mark = 0;
    cuda.cuLaunchKernelEx = launch_plainly;
    cuda.cuLaunchKernel = late_launch;
    cuda.cuMemcpyHtoDAsync = late_upload;
    cuda.cuMemcpyDtoHAsync = late_download;
    cuda.cuStreamSynchronize = late_stream;
    cuda.cuStreamQuery = not_done;
    return open_test(state);
}

static int close_late(void **state) {
    cuda = late.in_time;
    return close_test(state);
}

struct failing_call {
    const char *call;
    int number; /* the n-th of a run fails */
};

static void check_nothing_is_left(const struct failing_call *attempt, uint8_t *memory, size_t size) {
    if (!happened() || late.under_way > 0 || late.copies > 0) {
        fail_msg("%s, call %d: the device is still at work", attempt->call, attempt->number);
    }
    memset(memory, 0x5A, size);
    arrive();
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(memory[i], 0x5A);
    }
}

/* --- pixels to pixels -------------------------------------------------------------------------- */
static void test_pixels(void **state) {
    (void)state;
    static const struct failing_call attempts[] = {
        {"cuEventRecord", 2}, {"cuLaunchKernel", 1},    {"cuEventRecord", 3},       {"cuMemcpyDtoHAsync", 1},
        {"cuEventRecord", 4}, {"cuMemcpyHtoDAsync", 1}, {"cuStreamWriteValue32", 1}};
    const struct image_shape shape = fixture_shape(PIXEL_RGB, 8, SIDE, SIDE);
    struct image source = fixture_painted(shape), target = fixture_image(shape), expected;
    const size_t size = image_layout(&expected, &shape);
    const struct blur_arguments arguments = {.sigma = 2};
    struct chain chain = {0};
    assert_int_equal(chain_append(&chain, filter_get(FILTER_BLUR), &arguments, &shape, NULL), ST_OK);
    const struct chain_run run = {.chain = &chain, .source = &source, .target = &target};
    struct lane_timing timing;
    struct error err = {0};
    cuda.cuStreamWriteValue32 = late_mark;
    cuda.cuStreamQuery = late_query;
    for (size_t i = 0; i < COUNT(attempts); i++) {
        arm(attempts[i].call, attempts[i].number, EXECUTION_FAILED, 0);
        assert_int_equal(gpu_chain_run(&lane.stream, &run, &timing, &err), ST_DEVICE);
        check_nothing_is_left(&attempts[i], target.plane[0].data, size);
    }
    assert_int_equal(gpu_chain_run(&lane.stream, &run, &timing, &err), ST_OK);
    assert_int_equal(late.copies, 0);
    assert_true(fixture_difference(&source, &target) < 0x5A);
    fixture_image_free(&source);
    fixture_image_free(&target);
}

/* --- JPEG to JPEG ------------------------------------------------------------------------------ */
/* Kernels write the result where it belongs. */
static void test_jpegs(void **state) {
    (void)state;
    static const struct failing_call attempts[] = {
        {"cuMemcpyHtoDAsync", 2}, {"cuLaunchKernel", 1}, {"cuLaunchKernel", 9}, {"cuStreamWriteValue32", 1}};
    struct buf file = recipe_file(&plain);
    for (size_t i = 0; i < COUNT(attempts); i++) {
        arm(attempts[i].call, attempts[i].number, EXECUTION_FAILED, 0);
        assert_int_equal(run(&file, QUALITY), ST_DEVICE);
        check_nothing_is_left(&attempts[i], desk.output, ROOM);
    }
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

static CUresult CUDAAPI unseen(CUdeviceptr *data, void *memory, unsigned flags) {
    (void)data, (void)memory, (void)flags;
    return (CUresult)EXECUTION_FAILED;
}

/* The result is copied where the device does not see the memory for it. */
static void test_a_result_that_is_copied(void **state) {
    (void)state;
    static const struct failing_call last_mark = {"cuStreamWriteValue32", 2};
    struct buf file = recipe_file(&plain);
    cuda.cuMemHostGetDevicePointer = unseen;
    arm(last_mark.call, last_mark.number, EXECUTION_FAILED, 0);
    assert_int_equal(run(&file, QUALITY), ST_DEVICE);
    check_nothing_is_left(&last_mark, desk.output, ROOM);
    buf_finish(&file);
}

/* --- a device that stops ----------------------------------------------------------------------- */
static CUresult CUDAAPI never_mark(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned flags) {
    (void)stream, (void)to, (void)value, (void)flags;
    return CUDA_SUCCESS;
}

/* The driver says that all is well. */
static void test_marks_that_never_come(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    for (unsigned i = 0; i < BEFORE; i++) {
        assert_int_equal(run(&file, QUALITY), ST_OK);
    }
    int64_t begin = clock_ns();
    cuda.cuStreamWriteValue32 = never_mark;
    assert_int_equal(run(&file, QUALITY), ST_DEVICE);
    assert_in_range(clock_ns() - begin, 100000000, TIMEOUT_MS * INT64_C(1000000));
    cuda.cuStreamWriteValue32 = late.in_time.cuStreamWriteValue32;
    assert_int_equal(run(&file, QUALITY), ST_OK);
    buf_finish(&file);
}

/* --- a thread that is late --------------------------------------------------------------------- */
static void wait_ms(int ms) {
    nanosleep(&(struct timespec){.tv_nsec = ms * 1000000L}, NULL);
}

static CUresult CUDAAPI query_late(CUstream stream) {
    wait_ms(LATER_MS);
    return late_query(stream);
}

/* The clock does not count the time after the last look that found the picture in progress. */
static void test_a_late_thread(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    cuda.cuStreamWriteValue32 = late_mark;
    cuda.cuStreamQuery = query_late;
    int64_t begin = clock_ns();
    assert_int_equal(run(&file, QUALITY), ST_OK);
    double rest = (double)(clock_ns() - begin - LATER_MS * INT64_C(1000000));
    assert_int_equal(device.detector.history[HANG_KINDS - 1][0].done, 1);
    assert_true(device.detector.history[HANG_KINDS - 1][0].slowest * HANG_BYTES <= rest);
    buf_finish(&file);
}

/* --- many at a time ---------------------------------------------------------------------------- */
/* Marks that were not written yet, and whether they are to be. Of the submitter's thread but for the atomic
 * ones.
 */
static struct {
    CUdeviceptr to[WORKERS];
    cuuint32_t value[WORKERS];
    unsigned begun; /* pictures */
    _Atomic unsigned count;
    _Atomic bool ended;
} held;

static CUresult CUDAAPI hold_mark(CUstream stream, CUdeviceptr to, cuuint32_t value, unsigned flags) {
    held.begun++;
    if (held.ended) {
        return late.in_time.cuStreamWriteValue32(stream, to, value, flags);
    }
    held.to[held.count] = to;
    held.value[held.count++] = value;
    return CUDA_SUCCESS;
}

/* The submitter asks when nothing has moved for a while. */
static CUresult CUDAAPI write_held(CUstream stream) {
    for (unsigned i = 0; held.ended && i < held.count; i++) {
        late.in_time.cuStreamWriteValue32(NULL, held.to[i], held.value[i], 0);
    }
    held.count = held.ended ? 0 : held.count;
    return not_done(stream);
}

/* Kernels on the host take their time: only those of some pictures run. */
static CUresult CUDAAPI launch_for_some(CUfunction function, unsigned grid_x, unsigned grid_y,
                                        unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
                                        unsigned shared, CUstream stream, void **parameters, void **extra) {
    return held.begun % EACH > 0
               ? CUDA_SUCCESS
               : late.in_time.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                             shared, stream, parameters, extra);
}

/* Pages that are not used cost nothing: a lane's buffers have a MiB each. They are zero at first. */
static CUresult CUDAAPI map_memory(CUdeviceptr *data, size_t size, CUstream stream) {
    (void)stream;
    uint8_t *memory = mmap(NULL, size + PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memcpy(memory, &size, sizeof size);
    *data = (CUdeviceptr)(uintptr_t)(memory + PAGE);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI unmap_memory(CUdeviceptr data, CUstream stream) {
    (void)stream;
    uint8_t *memory = (uint8_t *)(uintptr_t)data - PAGE;
    size_t size;
    memcpy(&size, memory, sizeof size);
    munmap(memory, size + PAGE);
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI is_zero(CUdeviceptr data, unsigned char value, size_t size, CUstream stream) {
    (void)data, (void)size, (void)stream;
    return value == 0 ? CUDA_SUCCESS : (CUresult)EXECUTION_FAILED;
}

struct worker {
    pthread_t thread;
    struct jpeg_stream lane;
    struct transcode job;
    uint8_t output[SMALL_ROOM];
    size_t size;
    enum status status;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    struct lane_timing timing;
    struct error err = {0};
    gpu_device_enter(&device, &err);
    worker->status = submitter_run(desk.submitter, &worker->lane, &worker->job, &worker->size, &timing, &err);
    return NULL;
}

static void start(struct worker *worker, const struct transcode *job) {
    struct error err = {0};
    assert_int_equal(jpeg_stream_init(&worker->lane, &device, &err), ST_OK);
    worker->job = *job;
    worker->job.output = worker->output;
    worker->job.room = SMALL_ROOM;
    assert_int_equal(pthread_create(&worker->thread, NULL, work, worker), 0);
}

/* Waits until the device has all that it gets at a time, lets it end them, and returns how many that were. */
static unsigned end_held(void) {
    for (int i = 0; i < TIMEOUT_MS && held.count < AT_A_TIME; i++) {
        wait_ms(1);
    }
    wait_ms(LATER_MS); /* for more, which should not come */
    unsigned most = held.count;
    held.ended = true;
    return most;
}

/* The device gets so many at a time; the others wait, and each gets its answer. */
static void test_concurrent(void **state) {
    (void)state;
    static struct worker workers[WORKERS];
    const struct jpeg_recipe recipe = {.luma = {1, 1}, .width = SIDE, .height = SIDE};
    const struct image_shape shape = fixture_shape(PIXEL_YCBCR, 8, SIDE, SIDE);
    struct buf file = recipe_file(&recipe);
    struct chain chain;
    struct error err = {0};
    const struct transcode job = make_job(&file, &shape, &chain);
    unsigned pictures = 0;
    assert_int_equal(run_job(&job, &err), ST_OK);
    cuda.cuMemAllocAsync = map_memory;
    cuda.cuMemFreeAsync = unmap_memory;
    cuda.cuMemsetD8Async = is_zero;
    cuda.cuLaunchKernel = launch_for_some;
    cuda.cuStreamWriteValue32 = hold_mark;
    cuda.cuStreamQuery = write_held;
    for (size_t i = 0; i < WORKERS; i++) {
        start(&workers[i], &job);
    }
    unsigned most = end_held();
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_join(workers[i].thread, NULL);
        jpeg_stream_finish(&workers[i].lane);
        bool whole = workers[i].status == ST_OK;
        assert_true(whole || workers[i].status == ST_UNSUPPORTED);
        assert_true(!whole || workers[i].size == desk.size);
        assert_true(!whole || memcmp(workers[i].output, desk.output, desk.size) == 0);
        pictures += whole;
    }
    assert_int_equal(most, AT_A_TIME);
    assert_int_equal(pictures, (WORKERS + EACH - 1) / EACH);
    buf_finish(&file);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pixels, open_late, close_late),
        cmocka_unit_test_setup_teardown(test_jpegs, open_late, close_late),
        cmocka_unit_test_setup_teardown(test_a_result_that_is_copied, open_late, close_late),
        cmocka_unit_test_setup_teardown(test_marks_that_never_come, open_late, close_late),
        cmocka_unit_test_setup_teardown(test_a_late_thread, open_late, close_late),
        cmocka_unit_test_setup_teardown(test_concurrent, open_late, close_late),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
