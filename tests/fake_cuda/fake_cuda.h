/* SPDX-License-Identifier: MIT
 * The interface between the fake driver (C) and the code that runs kernels (C++). */
#ifndef BLURD_TESTS_FAKE_CUDA_H
#define BLURD_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

enum fake_outcome { FAKE_RAN, FAKE_NOT_FOUND, FAKE_FAULTED };

/* Whether the calling thread has a context. */
bool fake_has_context(void);

/* The number of the kernel, or -1. */
int fake_kernel_find(const char *name);

/* Bytes of the struct that the kernel takes; 0: it takes none. */
size_t fake_kernel_argument(int kernel);

/* Runs all blocks of a launch, one after the other. FAKE_FAULTED: the kernel trapped or wrote
 * beyond its shared memory. Thread-safe. */
enum fake_outcome fake_kernel_run(int kernel, const unsigned grid[3], const unsigned block[3],
                                  unsigned shared, void **parameters);

#ifdef __cplusplus
}
#endif

#endif
