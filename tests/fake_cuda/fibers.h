/* SPDX-License-Identifier: MIT
 * The threads of a block, on one stack each. */
#ifndef BLURD_TESTS_FAKE_CUDA_FIBERS_H
#define BLURD_TESTS_FAKE_CUDA_FIBERS_H

#include <stdbool.h>

/* Runs `body(argument)` once per thread of a block of x * y * z threads, each to its end. A warp runs until
 * all of its threads wait at a barrier; other warps have not moved meanwhile, so that a missing barrier shows
 * as wrong results. A warp that sleeps goes on when no other one can. The first warp that can run does; with
 * FAKE_CUDA_ORDER=reverse the last one, and with a number any one, at random from that seed. Returns false
 * when a thread trapped. */
bool fibers_run(unsigned x, unsigned y, unsigned z, void (*body)(void *), void *argument);

/* Ends the block, as the trap instruction does. */
void fibers_trap(void);

#endif
