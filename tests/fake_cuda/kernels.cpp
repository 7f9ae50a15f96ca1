/* SPDX-License-Identifier: MIT
 * The project's kernels, compiled for the host and run block by block. */
#include <cstdio>
#include <mutex>

#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/fibers.h"
#include "tests/fake_cuda/shim.h"

/* The shared memory of a block, and behind it a pattern that shows writes beyond it. */
enum { SHARED_GUARD = 1024, SHARED_BYTE = 0xc3 };
uint4 block_memory[(SHARED_SIZE + SHARED_GUARD) / sizeof(uint4)];

#include KERNEL_SOURCE /* all of them, as the Makefile says */

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
        memset(block_memory, SHARED_BYTE, sizeof block_memory);
        if (!fibers_run(block[0], block[1], block[2], kernels[kernel].run, parameters) ||
            !guard_intact(shared)) {
            return FAKE_FAULTED;
        }
    }
    return FAKE_RAN;
}
