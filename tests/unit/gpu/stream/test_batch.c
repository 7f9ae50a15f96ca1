/* SPDX-License-Identifier: MIT
 * Launches that go to the driver together, with the fake driver. Each kernel runs once, in the order in which
 * it was launched, with its own argument, also when the driver refuses a call. */
#include "tests/unit/gpu/engine/submitter_fixture.h"

#include "cpu/orient.h"
#include "gpu/filters/filters.h"
#include "gpu/stream/batch.h"

enum { SIDE = 32, PICTURES = 2, SEVERAL = 4, MANY = 300, KINDS = 12, REFUSED = 801, FAILED = 719 };
enum { MIRROR = 2, TRANSPOSE = 5 };

static _Alignas(IMAGE_ALIGNMENT) uint8_t memory[PICTURES][SIDE * IMAGE_ALIGNMENT];
static _Alignas(IMAGE_ALIGNMENT) uint8_t expected_memory[PICTURES][SIDE * IMAGE_ALIGNMENT];
static struct image picture[PICTURES], expected[PICTURES];
static struct cuda whole; /* the driver as it was opened */

/* --- a driver that counts ------------------------------------------------------------------ */
static struct { unsigned kernels, graphs, updates, built, destroyed; } calls;

static CUresult CUDAAPI counted_kernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                       unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                                       CUstream stream, void **parameters, void **extra) {
    calls.kernels++;
    return whole.cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                                parameters, extra);
}

static CUresult CUDAAPI counted_graph(CUgraphExec ready, CUstream stream) {
    calls.graphs++;
    return whole.cuGraphLaunch(ready, stream);
}

static CUresult CUDAAPI counted_update(CUgraphExec ready, CUgraphNode node,
                                       const CUDA_KERNEL_NODE_PARAMS *params) {
    calls.updates++;
    return whole.cuGraphExecKernelNodeSetParams(ready, node, params);
}

static CUresult CUDAAPI counted_build(CUgraphExec *ready, CUgraph graph, unsigned long long flags) {
    calls.built++;
    return whole.cuGraphInstantiateWithFlags(ready, graph, flags);
}

static CUresult CUDAAPI counted_destroy(CUgraphExec ready) {
    calls.destroyed++;
    return whole.cuGraphExecDestroy(ready);
}

/* --- sequences ----------------------------------------------------------------------------- */
static int open_batch(void **state) {
    const struct image_shape shape = {.model = PIXEL_GRAY, .depth = 8, .width = SIDE, .height = SIDE};
    whole = cuda;
    cuda.cuLaunchKernel = counted_kernel;
    cuda.cuGraphLaunch = counted_graph;
    cuda.cuGraphExecKernelNodeSetParams = counted_update;
    cuda.cuGraphInstantiateWithFlags = counted_build;
    cuda.cuGraphExecDestroy = counted_destroy;
    for (size_t i = 0; i < PICTURES; i++) {
        assert_in_range(image_layout(&picture[i], &shape), 1, sizeof memory[i]);
        expected[i] = picture[i];
        image_place(&picture[i], memory[i]);
        image_place(&expected[i], expected_memory[i]);
    }
    for (size_t i = 0; i < sizeof memory[0]; i++) {
        memory[0][i] = expected_memory[0][i] = (uint8_t)(i * 37 + i / SIDE);
    }
    int status = open_test(state);
    memset(&calls, 0, sizeof calls);
    return status;
}

static int close_batch(void **state) {
    close_test(state);
    assert_int_equal(calls.destroyed, calls.built);
    cuda = whole;
    return 0;
}

static void gather(const uint8_t *turns, unsigned count, enum status *status, struct error *err) {
    gpu_stream_gather(&lane.stream);
    for (unsigned i = 0; i < count && *status == ST_OK; i++) {
        *status = gpu_orient(&lane.stream, &picture[i % 2], turns[i], &picture[(i + 1) % 2], err);
        assert_int_equal(orient_image(&expected[i % 2], turns[i], &expected[(i + 1) % 2], 0, NULL), ST_OK);
    }
}

/* Turns the picture `count` times, from the first memory to the second and back. */
static enum status turn(const uint8_t *turns, unsigned count) {
    struct error err = {0};
    enum status status = ST_OK;
    gather(turns, count, &status, &err);
    status = status == ST_OK ? gpu_stream_signal(&lane.stream, &err) : status;
    if (status != ST_OK) {
        assert_int_equal(gpu_stream_abandon(&lane.stream, status), status);
        return status;
    }
    assert_true(gpu_stream_reached(&lane.stream));
    assert_memory_equal(memory, expected_memory, sizeof memory);
    return ST_OK;
}

static const uint8_t usual[SEVERAL] = {MIRROR, TRANSPOSE, MIRROR, TRANSPOSE};

static void expect_calls(unsigned kernels, unsigned graphs, unsigned updates) {
    assert_int_equal(calls.kernels, kernels);
    assert_int_equal(calls.graphs, graphs);
    assert_int_equal(calls.updates, updates);
    calls.kernels = calls.graphs = calls.updates = 0;
}

static void test_a_graph_from_the_second_time_on(void **state) {
    (void)state;
    assert_int_equal(turn(usual, SEVERAL), ST_OK);
    expect_calls(SEVERAL, 0, 0);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(turn(usual, SEVERAL), ST_OK);
        expect_calls(0, 1, 0);
    }
    /* Orientations 5 and 7 have the same kernel; two launches differ from the last time. */
    static const uint8_t other[SEVERAL] = {MIRROR, 7, MIRROR, 7};
    assert_int_equal(turn(other, SEVERAL), ST_OK);
    expect_calls(0, 1, 2);
    assert_int_equal(turn(other, SEVERAL), ST_OK);
    expect_calls(0, 1, 0);
    assert_int_equal(calls.built, 1);
}

static void test_few_launches(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(turn(usual, 2), ST_OK);
        expect_calls(2, 0, 0);
    }
}

/* More than there is room for. */
static void test_many_launches(void **state) {
    (void)state;
    uint8_t turns[MANY];
    for (unsigned i = 0; i < MANY; i++) {
        turns[i] = i % 7 ? MIRROR : TRANSPOSE;
    }
    assert_int_equal(turn(turns, MANY), ST_OK);
    expect_calls(MANY, 0, 0);
    assert_int_equal(turn(turns, MANY), ST_OK);
    assert_int_equal(turn(turns, MANY), ST_OK);
    assert_true(calls.graphs > 2 && calls.kernels == 0);
}

/* Each takes the place of another. */
static void test_many_sequences(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4 * KINDS; i++) {
        uint8_t turns[SEVERAL];
        for (unsigned k = 0; k < SEVERAL; k++) {
            turns[k] = i / 2 % KINDS >> k & 1 ? MIRROR : TRANSPOSE;
        }
        assert_int_equal(turn(turns, SEVERAL), ST_OK);
    }
    expect_calls(2 * KINDS * SEVERAL, 2 * KINDS, 0);
    assert_int_equal(calls.built, 2 * KINDS);
    assert_in_range(calls.built - calls.destroyed, 1, KINDS - 1);
}

/* --- what waits goes first --------------------------------------------------------------------- */
static void test_copies_and_fills_come_in_order(void **state) {
    (void)state;
    static uint8_t copy[sizeof memory[0]];
    struct gpu_stream *stream = &lane.stream;
    for (int i = 0; i < 3; i++) {
        struct error err = {0};
        enum status status = ST_OK;
        gather(usual, 3, &status, &err);
        assert_int_equal(status, ST_OK);
        CUdeviceptr at = (CUdeviceptr)(uintptr_t)memory[1];
        assert_int_equal(gpu_stream_download(stream, copy, at, sizeof copy, &err), ST_OK);
        assert_memory_equal(copy, expected_memory[1], sizeof copy);
        assert_int_equal(gpu_stream_fill(stream, at, 9, sizeof memory[1], &err), ST_OK);
        gather(usual, 1, &status, &err);
        assert_int_equal(gpu_stream_upload(stream, at, expected_memory[0], sizeof memory[1], &err), ST_OK);
        memcpy(expected_memory[1], expected_memory[0], sizeof memory[1]);
        assert_int_equal(gpu_stream_signal(stream, &err), ST_OK);
        assert_memory_equal(memory, expected_memory, sizeof memory);
    }
}

/* Kernels that wait may use the memory that a buffer gives back as it grows. */
static void test_a_buffer_that_grows(void **state) {
    (void)state;
    struct error err = {0};
    struct gpu_stream *stream = &lane.stream;
    enum status status = gpu_stream_reserve(stream, &stream->spare, 1, &err);
    assert_int_equal(status, ST_OK);
    gather(usual, SEVERAL, &status, &err);
    expect_calls(0, 0, 0);
    assert_int_equal(gpu_stream_reserve(stream, &stream->spare, stream->spare.size + 1, &err), ST_OK);
    expect_calls(SEVERAL, 0, 0);
    assert_int_equal(gpu_stream_signal(stream, &err), ST_OK);
}

static void test_what_was_abandoned(void **state) {
    (void)state;
    struct error err = {0};
    enum status status = ST_OK;
    gather(usual, SEVERAL, &status, &err);
    assert_int_equal(gpu_stream_abandon(&lane.stream, ST_DEVICE), ST_DEVICE);
    memcpy(expected_memory, memory, sizeof memory);
    expect_calls(0, 0, 0);
    assert_int_equal(turn(usual, SEVERAL), ST_OK);
    expect_calls(SEVERAL, 0, 0);
}

/* --- drivers that refuse --------------------------------------------------------------------- */
static void test_no_graph(void **state) {
    (void)state;
    static const char *const refused[] = {"cuGraphCreate", "cuGraphAddKernelNode",
                                          "cuGraphInstantiateWithFlags"};
    for (size_t i = 0; i < COUNT(refused); i++) {
        struct error err = {0};
        close_desk();
        assert_int_equal(open_desk(&err), ST_OK);
        assert_int_equal(turn(usual, SEVERAL), ST_OK);
        calls.kernels = calls.built = calls.destroyed = 0;
        arm(refused[i], 1, REFUSED, 0);
        assert_int_equal(turn(usual, SEVERAL), ST_OK);
        assert_true(happened());
        assert_int_equal(turn(usual, SEVERAL), ST_OK); /* and it is not asked again */
        expect_calls(2 * SEVERAL, 0, 0);
        calls.built = 0;
    }
}

/* A picture has kernels that go first. */
static void test_no_priority_in_a_graph(void **state) {
    (void)state;
    struct buf file = recipe_file(&plain);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    arm("cuGraphKernelNodeSetAttribute", 1, REFUSED, 0);
    assert_int_equal(run(&file, QUALITY), ST_OK);
    assert_true(happened());
    assert_int_equal(calls.graphs, 0);
    buf_finish(&file);
}

static void test_failures(void **state) {
    (void)state;
    static const uint8_t other[SEVERAL] = {MIRROR, 7, MIRROR, 7};
    static const char *const failing[] = {"cuGraphExecKernelNodeSetParams", "cuGraphLaunch"};
    for (size_t i = 0; i < COUNT(failing); i++) {
        assert_int_equal(turn(usual, SEVERAL), ST_OK);
        assert_int_equal(turn(usual, SEVERAL), ST_OK);
        arm(failing[i], 1, FAILED, 0);
        assert_int_equal(turn(other, SEVERAL), ST_DEVICE);
        assert_true(happened());
        memcpy(expected_memory, memory, sizeof memory);
    }
}

static void test_drivers_without_graphs(void **state) {
    (void)state;
    cuda.cuGraphLaunch = NULL;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(turn(usual, SEVERAL), ST_OK);
    }
    expect_calls(3 * SEVERAL, 0, 0);
}

int main(void) {
#define BATCH_TEST(name) cmocka_unit_test_setup_teardown(name, open_batch, close_batch)
    const struct CMUnitTest tests[] = {
        BATCH_TEST(test_a_graph_from_the_second_time_on),
        BATCH_TEST(test_few_launches),
        BATCH_TEST(test_many_launches),
        BATCH_TEST(test_many_sequences),
        BATCH_TEST(test_copies_and_fills_come_in_order),
        BATCH_TEST(test_a_buffer_that_grows),
        BATCH_TEST(test_what_was_abandoned),
        BATCH_TEST(test_no_graph),
        BATCH_TEST(test_no_priority_in_a_graph),
        BATCH_TEST(test_failures),
        BATCH_TEST(test_drivers_without_graphs),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
