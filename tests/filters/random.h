/* SPDX-License-Identifier: MIT
 * Numbers that look like chance, and come again from the same seed. */
#ifndef BLURD_TESTS_RANDOM_H
#define BLURD_TESTS_RANDOM_H

#include <stdint.h>

/* SplitMix64: the next number of a sequence that *state, any number, starts. */
uint64_t test_random(uint64_t *state);

/* The seed of this run: $SEED or the time. Printed, so that a failure can be repeated. */
uint64_t test_seed(void);

#endif
