/* SPDX-License-Identifier: MIT */
#include "tests/filters/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Steele, Lea, Flood 2014. */
uint64_t test_random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t test_seed(void) {
    const char *text = getenv("SEED");
    uint64_t seed = text ? strtoull(text, NULL, 10) : (uint64_t)time(NULL);
    printf("SEED=%llu\n", (unsigned long long)seed);
    return seed;
}
