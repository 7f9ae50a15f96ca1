/* SPDX-License-Identifier: MIT
 * Row primitives of the filters that order samples. Included once per instruction set; the compiler makes
 * vectors of these loops. */
#include "cpu/rows/rows_median.h"

#define RANK_EXTREMES(type)                                                                                  \
    static void rank_max_##type(type *restrict to, const type *a, const type *b, size_t n) {                 \
        for (size_t i = 0; i < n; i++) {                                                                     \
            to[i] = a[i] > b[i] ? a[i] : b[i];                                                               \
        }                                                                                                    \
    }                                                                                                        \
    static void rank_min_##type(type *restrict to, const type *a, const type *b, size_t n) {                 \
        for (size_t i = 0; i < n; i++) {                                                                     \
            to[i] = a[i] < b[i] ? a[i] : b[i];                                                               \
        }                                                                                                    \
    }                                                                                                        \
    static void rank_max_two_##type(type *restrict to, type *restrict running, const type *a, const type *b, \
                                    size_t n) {                                                              \
        for (size_t i = 0; i < n; i++) {                                                                     \
            type most = running[i] > a[i] ? running[i] : a[i];                                               \
            running[i] = most;                                                                               \
            to[i] = most > b[i] ? most : b[i];                                                               \
        }                                                                                                    \
    }                                                                                                        \
    static void rank_min_two_##type(type *restrict to, type *restrict running, const type *a, const type *b, \
                                    size_t n) {                                                              \
        for (size_t i = 0; i < n; i++) {                                                                     \
            type least = running[i] < a[i] ? running[i] : a[i];                                              \
            running[i] = least;                                                                              \
            to[i] = least < b[i] ? least : b[i];                                                             \
        }                                                                                                    \
    }

RANK_EXTREMES(uint8_t)
RANK_EXTREMES(uint16_t)
RANK_EXTREMES(uint32_t)

static void rank_extreme(void *to, const void *a, const void *b, struct rank_order order, size_t n) {
    switch (order.bytes) {
    case 1:
        (order.largest ? rank_max_uint8_t : rank_min_uint8_t)(to, a, b, n);
        break;
    case 2:
        (order.largest ? rank_max_uint16_t : rank_min_uint16_t)(to, a, b, n);
        break;
    default:
        (order.largest ? rank_max_uint32_t : rank_min_uint32_t)(to, a, b, n);
        break;
    }
}

static void rank_extremes(void *to, void *running, const void *a, const void *b, struct rank_order order,
                          size_t n) {
    switch (order.bytes) {
    case 1:
        (order.largest ? rank_max_two_uint8_t : rank_min_two_uint8_t)(to, running, a, b, n);
        break;
    case 2:
        (order.largest ? rank_max_two_uint16_t : rank_min_two_uint16_t)(to, running, a, b, n);
        break;
    default:
        (order.largest ? rank_max_two_uint32_t : rank_min_two_uint32_t)(to, running, a, b, n);
        break;
    }
}

static inline void rank_multiply_narrow(uint16_t *restrict to, const uint8_t *restrict from,
                                        unsigned channels, size_t pixels) {
    for (size_t x = 0; x < pixels; x++, to += channels, from += channels) {
        unsigned alpha = from[channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[c] = (uint16_t)(from[c] * alpha);
        }
        to[channels - 1] = (uint16_t)alpha;
    }
}

static inline void rank_multiply_wide(uint32_t *restrict to, const uint16_t *restrict from, unsigned channels,
                                      size_t pixels) {
    for (size_t x = 0; x < pixels; x++, to += channels, from += channels) {
        uint32_t alpha = from[channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[c] = from[c] * alpha;
        }
        to[channels - 1] = alpha;
    }
}

static void rank_multiply(void *to, const void *from, const struct row_format *format, size_t pixels) {
    if (format->depth == 8 && format->channels == 2) {
        rank_multiply_narrow(to, from, 2, pixels);
    } else if (format->depth == 8) {
        rank_multiply_narrow(to, from, 4, pixels);
    } else if (format->channels == 2) {
        rank_multiply_wide(to, from, 2, pixels);
    } else {
        rank_multiply_wide(to, from, 4, pixels);
    }
}

/* The quotient of numbers below 2^16 and 2^8 in single precision, or of twice as many bits in double
 * precision, is rounded less than it differs from the next whole number. */
static inline void rank_divide_narrow(uint8_t *restrict to, const uint16_t *restrict from, unsigned channels,
                                      size_t pixels) {
    for (size_t x = 0; x < pixels; x++, to += channels, from += channels) {
        int alpha = from[channels - 1];
        float divisor = (float)(alpha ? alpha : 1); /* colour is 0 there */
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[c] = (uint8_t)(int)((float)(from[c] + alpha / 2) / divisor);
        }
        to[channels - 1] = (uint8_t)alpha;
    }
}

static inline void rank_divide_wide(uint16_t *restrict to, const uint32_t *restrict from, unsigned channels,
                                    size_t pixels) {
    for (size_t x = 0; x < pixels; x++, to += channels, from += channels) {
        uint32_t alpha = from[channels - 1];
        double divisor = (double)(int32_t)(alpha ? alpha : 1);
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[c] = (uint16_t)(int32_t)((double)(from[c] + alpha / 2) / divisor);
        }
        to[channels - 1] = (uint16_t)alpha;
    }
}

static void rank_divide(void *to, const void *from, const struct row_format *format, size_t pixels) {
    if (format->depth == 8 && format->channels == 2) {
        rank_divide_narrow(to, from, 2, pixels);
    } else if (format->depth == 8) {
        rank_divide_narrow(to, from, 4, pixels);
    } else if (format->channels == 2) {
        rank_divide_wide(to, from, 2, pixels);
    } else {
        rank_divide_wide(to, from, 4, pixels);
    }
}

static const struct rank_rows rank_rows = {
    .extreme = rank_extreme,
    .extremes = rank_extremes,
    .multiply = rank_multiply,
    .divide = rank_divide,
    .median = rank_median,
    .histogram = rank_histogram,
    .select = rank_select,
};
