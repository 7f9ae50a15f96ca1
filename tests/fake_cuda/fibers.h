/* SPDX-License-Identifier: MIT
 * The threads of a block, on one stack each. */
#ifndef BLURD_TESTS_FAKE_CUDA_FIBERS_H
#define BLURD_TESTS_FAKE_CUDA_FIBERS_H

#include <stdbool.h>

/* Runs `body(argument)` once per thread of a block of x * y * z threads, each to its end, and
 * switches at barriers. FAKE_CUDA_ORDER=reverse runs them from the last to the first, so that dependence on
 * the order shows. Returns false when one of them trapped. */
bool fibers_run(unsigned x, unsigned y, unsigned z, void (*body)(void *), void *argument);

/* Ends the block, as the trap instruction does. */
void fibers_trap(void);

#endif
