/* SPDX-License-Identifier: MIT
 * Chance that is the same in every run of a program. */
#ifndef BLURD_TESTS_JPEG_RANDOM_H
#define BLURD_TESTS_JPEG_RANDOM_H

#include <stdint.h>

static uint32_t random_state = 1;

static inline uint32_t random_below(uint32_t limit) {
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)random_state * limit >> 32);
}

#endif
