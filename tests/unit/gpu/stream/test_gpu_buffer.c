/* SPDX-License-Identifier: MIT
 * Device memory that grows, with the fake driver: no call waits for the kernels of other streams, and memory
 * that nobody uses is bounded. */
#include "gpu/stream/buffer.h"
#include "gpu/stream/stream.h"

#include <stdatomic.h>

#include "tests/unit/gpu/engine/lane_fixture.h"

enum { MIB = 1 << 20, GROWTHS = 40, SHARE = 8 * MIB };

static struct cuda whole; /* the driver as it was opened */
static bool other_computes;
static unsigned waited,
    freed; /* calls of cuMemFree: those that waited for another stream's kernels, and all */
static unsigned allocated;

static CUresult CUDAAPI allocate(CUdeviceptr *data, size_t size, CUstream stream) {
    allocated++;
    return whole.cuMemAllocAsync(data, size, stream);
}

static CUresult CUDAAPI free_and_wait(CUdeviceptr data) {
    waited += other_computes;
    freed++;
    return whole.cuMemFree(data);
}

static int open_watched_lane(void **state) {
    int status = open_lane(state);
    whole = cuda;
    cuda.cuMemFree = free_and_wait;
    cuda.cuMemAllocAsync = allocate;
    return status;
}

static int reset(void **state) {
    (void)state;
    waited = freed = allocated = 0;
    return 0;
}

/* Bytes of the device that no other process can have. */
static size_t in_use(void) {
    size_t available, total;
    assert_int_equal(cuda.cuMemGetInfo(&available, &total), CUDA_SUCCESS);
    return total - available;
}

/* All ways in which buffers give memory back while another stream computes. */
static void test_waits_for_nobody(void **state) {
    (void)state;
    struct gpu_stream *stream = &lane.stream;
    struct error err = {0};
    other_computes = true;
    for (size_t i = 1; i <= GROWTHS; i++) {
        assert_int_equal(gpu_stream_reserve(stream, &stream->spare, i * MIB, &err), ST_OK);
    }
    gpu_stream_trim(stream, ST_BUSY);
    gpu_buffer_empty_pool(&device);
    other_computes = false;
    assert_int_equal(waited, 0);
    assert_int_equal(atomic_load(&device.memory_kept), 0);
}

static void test_bounded(void **state) {
    (void)state;
    struct gpu_buffer small = {0}, large = {0};
    struct error err = {0};
    size_t share = device.memory_share, before = in_use();
    device.memory_share = SHARE;
    for (size_t i = 1; i <= GROWTHS; i++) {
        assert_int_equal(gpu_buffer_reserve(&small, &device, lane.stream.handle, MIB, &err), ST_OK);
        assert_int_equal(gpu_buffer_reserve(&large, &device, lane.stream.handle, i * MIB, &err), ST_OK);
        size_t kept = atomic_load(&device.memory_kept);
        assert_int_equal(kept, (i + 1) * MIB);
        assert_in_range(in_use() - before, kept, kept > SHARE ? kept : SHARE);
        gpu_buffer_finish(&small, &device);
    }
    gpu_buffer_finish(&large, &device);
    assert_in_range(in_use() - before, 0, SHARE);
    gpu_buffer_empty_pool(&device);
    assert_int_equal(in_use(), before);
    device.memory_share = share;
}

static void test_what_is_large_enough_is_kept(void **state) {
    (void)state;
    static const size_t sizes[] = {2 * MIB, MIB, 2 * MIB, 2 * MIB + 1};
    static const unsigned allocations[] = {1, 1, 1, 2};
    struct gpu_buffer buffer = {0};
    struct error err = {0};
    for (unsigned i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(gpu_buffer_reserve(&buffer, &device, lane.stream.handle, sizes[i], &err), ST_OK);
        assert_int_equal(allocated, allocations[i]);
    }
    gpu_buffer_finish(&buffer, &device);
}

static void test_a_device_without_pools(void **state) {
    (void)state;
    const struct program_options options = {0};
    struct gpu_device old;
    struct gpu_buffer buffer = {0};
    struct error err = {0};
    setenv("FAKE_CUDA_POOLS", "0", 1);
    assert_int_equal(gpu_device_open(&old, &cuda, 0, &options, &err), ST_OK);
    unsetenv("FAKE_CUDA_POOLS");
    assert_null(old.pool);
    size_t before = in_use();
    assert_int_equal(gpu_buffer_reserve(&buffer, &old, lane.stream.handle, MIB, &err), ST_OK);
    assert_int_equal(gpu_buffer_reserve(&buffer, &old, lane.stream.handle, 2 * MIB, &err), ST_OK);
    assert_int_equal(in_use() - before, 2 * MIB);
    gpu_buffer_finish(&buffer, &old);
    assert_int_equal(freed, 2);
    assert_int_equal(in_use(), before);
    gpu_device_close(&old);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_waits_for_nobody, reset),
        cmocka_unit_test_setup(test_bounded, reset),
        cmocka_unit_test_setup(test_what_is_large_enough_is_kept, reset),
        cmocka_unit_test_setup(test_a_device_without_pools, reset),
    };
    return cmocka_run_group_tests(tests, open_watched_lane, close_lane);
}
