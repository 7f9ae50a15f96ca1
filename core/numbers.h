/* SPDX-License-Identifier: MIT
 * The smaller and the larger of two numbers, and divisions that round up. Thread-safe. */
#ifndef BLURD_CORE_NUMBERS_H
#define BLURD_CORE_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

static inline int32_t min_i32(int32_t a, int32_t b) {
    return a < b ? a : b;
}
static inline int32_t max_i32(int32_t a, int32_t b) {
    return a > b ? a : b;
}
static inline uint32_t min_u32(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}
static inline uint32_t max_u32(uint32_t a, uint32_t b) {
    return a > b ? a : b;
}
static inline size_t min_size(size_t a, size_t b) {
    return a < b ? a : b;
}
static inline size_t max_size(size_t a, size_t b) {
    return a > b ? a : b;
}
static inline int64_t min_i64(int64_t a, int64_t b) {
    return a < b ? a : b;
}
static inline int64_t max_i64(int64_t a, int64_t b) {
    return a > b ? a : b;
}
static inline double min_double(double a, double b) {
    return a < b ? a : b;
}
static inline double max_double(double a, double b) {
    return a > b ? a : b;
}

/* value / by, rounded up, which must fit into 32 bits. `by` is not 0, and value + by does not overflow. */
static inline uint32_t divide_up(uint64_t value, uint64_t by) {
    return (uint32_t)((value + by - 1) / by);
}

#endif
