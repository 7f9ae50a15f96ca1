/* SPDX-License-Identifier: MIT
 * The driver for tests leaves in shared memory what no kernel can count on, so that check_gpu notices a
 * kernel that reads what it has not written. */
#include "bench/gpu/facts/kernels.h"

#include "tests/unit/gpu/engine/lane_fixture.h"

enum { WORDS = KERNEL_SHARED_MAX / sizeof(uint32_t), OWN = 0x1dea5eed, LAUNCHES = 32, BLOCKS = 8 };

static uint64_t found;

static void launch(const char *name, uint32_t value, unsigned blocks) {
    struct facts_words words = {.count = WORDS, .found = (uint64_t)(uintptr_t)&found, .value = value};
    void *parameters[] = {&words};
    CUfunction kernel;
    assert_int_equal(cuda.cuModuleGetFunction(&kernel, device.program.module, name), CUDA_SUCCESS);
    assert_int_equal(cuda.cuLaunchKernel(kernel, blocks, 1, 1, KERNEL_THREADS_X, 1, 1, KERNEL_SHARED_MAX,
                                         lane.stream.handle, parameters, NULL),
                     CUDA_SUCCESS);
}

static void test_nothing_of_an_earlier_block(void **state) {
    (void)state;
    found = 0;
    launch("facts_shared_fill", OWN, 1);
    launch("facts_shared_count", OWN, BLOCKS);
    assert_int_equal(found, 0);
}

/* Neither 0 nor anything else for long: some of the blocks find it everywhere, the others nowhere. */
static void expect_sometimes(uint32_t value) {
    unsigned all = 0, none = 0;
    for (unsigned i = 0; i < LAUNCHES; i++) {
        found = 0;
        launch("facts_shared_count", value, 1);
        all += found == WORDS;
        none += found == 0;
    }
    assert_int_equal(all + none, LAUNCHES);
    assert_in_range(all, 1, LAUNCHES / 2);
}

static void test_another_pattern_for_each_block(void **state) {
    (void)state;
    expect_sometimes(0);
    expect_sometimes(UINT32_MAX);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_of_an_earlier_block),
        cmocka_unit_test(test_another_pattern_for_each_block),
    };
    return cmocka_run_group_tests(tests, open_lane, close_lane);
}
