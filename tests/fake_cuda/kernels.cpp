/* SPDX-License-Identifier: MIT
 * The project's kernels, compiled for the host and run block by block. */
#include <cstdio>
#include <mutex>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/fibers.h"
#include "tests/fake_cuda/shim.h"

/* The shared memory of a block, and behind it a pattern that shows writes beyond it. On a GPU it holds what an earlier
 * block left, so it has another pattern for each block: a kernel that reads what it has not written differs from the
 * CPU. */
enum { SHARED_GUARD = 1024, SHARED_BYTE = 0xc3 };
uint4 block_memory[(SHARED_SIZE + SHARED_GUARD) / sizeof(uint4)];

#include KERNEL_SOURCE /* all of them, as the Makefile says */

/* Those that only measure. */
#include "bench/gpu/facts/kernels.h"
#include "bench/gpu/hold.cu"
#include "bench/gpu/facts/kernels.cu"

/* Calls a kernel with the struct that it takes by value, or without. */
template <class Function, Function function> struct runner;
template <class Struct, void (*function)(Struct)> struct runner<void (*)(Struct), function> {
    static const size_t size = sizeof(Struct);
    static void run(void *parameters) {
        Struct copy;
        memcpy((void *)&copy, *(void **)parameters, sizeof copy);
        function(copy);
    }
};
template <void (*function)()> struct runner<void (*)(), function> {
    static const size_t size = 0;
    static void run(void *) {
        function();
    }
};

static const struct {
    const char *name;
    void (*run)(void *parameters);
    size_t size; /* of the struct */
} kernels[] = {
#define KERNEL(name) {#name, runner<decltype(&name), name>::run, runner<decltype(&name), name>::size},
#include "gpu/cuda/kernels.def"
#include "bench/gpu/facts/kernels.def"
#undef KERNEL
};

enum { KERNELS = sizeof kernels / sizeof *kernels };

int fake_kernel_find(const char *name) {
    for (int i = 0; i < KERNELS; i++) {
        if (strcmp(kernels[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

size_t fake_kernel_argument(int kernel) {
    return kernel >= 0 && kernel < KERNELS ? kernels[kernel].size : 0;
}

static bool guard_intact(unsigned shared) {
    const unsigned char *end = (const unsigned char *)block_memory + shared;
    for (unsigned i = 0; i < SHARED_GUARD; i++) {
        if (end[i] != SHARED_BYTE) {
            fprintf(stderr, "fake_cuda: a write %u bytes behind the shared memory\n", i);
            return false;
        }
    }
    return true;
}

static void poison_shared() {
    static const uint32_t patterns[] = {0xc3c3c3c3, 0, 0xffffffff, 0x7fffffff, 0x7fc00000, 0x00010203, 0x01010101};
    static unsigned turn;
    const uint32_t pattern = patterns[turn++ % (sizeof patterns / sizeof *patterns)];
    std::fill_n((uint32_t *)block_memory, SHARED_SIZE / sizeof pattern, pattern);
}

enum fake_outcome fake_kernel_run(int kernel, const unsigned grid[3], const unsigned block[3],
                                  unsigned shared, void **parameters) {
    static std::mutex one_at_a_time;
    std::lock_guard<std::mutex> lock(one_at_a_time);
    if (kernel < 0 || kernel >= KERNELS || shared > SHARED_SIZE) {
        return FAKE_NOT_FOUND;
    }
    gridDim = {grid[0], grid[1], grid[2]};
    blockDim = {block[0], block[1], block[2]};
    for (unsigned i = 0; i < grid[0] * grid[1] * grid[2]; i++) {
        blockIdx = {i % grid[0], i / grid[0] % grid[1], i / grid[0] / grid[1]};
        poison_shared();
        memset((char *)block_memory + shared, SHARED_BYTE, SHARED_GUARD);
        if (!fibers_run(block[0], block[1], block[2], kernels[kernel].run, parameters) ||
            !guard_intact(shared)) {
            return FAKE_FAULTED;
        }
    }
    return FAKE_RAN;
}
