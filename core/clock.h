/* SPDX-License-Identifier: MIT
 * Time for deadlines and measurements: CLOCK_MONOTONIC, which no clock step moves. */
#ifndef BLURD_CORE_CLOCK_H
#define BLURD_CORE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds since some fixed moment; never goes back. */
static inline int64_t clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline double clock_ns_to_ms(int64_t ns) {
    return (double)ns / 1e6;
}

#endif
