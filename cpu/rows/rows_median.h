/* SPDX-License-Identifier: MIT
 * Medians of windows. Included once per instruction set: by sorting networks over whole rows for small
 * windows, by histograms for all others. */
#include <string.h>

#include "cpu/rows/rows.h"
#include "cpu/rows/rows_select.h"

/* From 16 - v on: 1, or all bits, where v is less than 0, 1, 2, ... */
#define HISTOGRAM_STEPS(all)                                                                                 \
    { [17] = all, all, all, all, all, all, all, all, all, all, all, all, all, all, all }
static const uint8_t histogram_less[32] = HISTOGRAM_STEPS(1);
static const uint16_t histogram_less_halves[32] = HISTOGRAM_STEPS(UINT16_MAX);
static const uint32_t histogram_less_words[32] = HISTOGRAM_STEPS(UINT32_MAX);

/* How many of 16 comparisons are true. Compilers make single instructions of these conversions, unlike of one
 * to bytes. */
static inline int histogram_true(const integers16 *mask) {
    integers8 half[2];
    memcpy(half, mask, sizeof half);
    half[0] += half[1];
    integers4 quarter[2];
    memcpy(quarter, half, sizeof quarter);
    quarter[0] += quarter[1];
    return -(quarter[0][0] + quarter[0][1] + quarter[0][2] + quarter[0][3]);
}

#define HISTOGRAM_COLUMN bytes16
#define HISTOGRAM_LESS histogram_less
#define HISTOGRAM_SUM shorts16
#define HISTOGRAM_COUNT int16_t
#define HISTOGRAM_WEIGHTED 0
#define HISTOGRAM(name) histogram_##name
#include "cpu/rows/rows_histogram.h"

/* Weights of 8 bits. */
#define HISTOGRAM_COLUMN halves16
#define HISTOGRAM_LESS histogram_less_halves
#define HISTOGRAM_WEIGHT uint16_t
#define HISTOGRAM_SUM integers16
#define HISTOGRAM_COUNT int32_t
#define HISTOGRAM_WEIGHTED 1
#define HISTOGRAM(name) light_##name
#include "cpu/rows/rows_histogram.h"

#define HISTOGRAM_COLUMN words16
#define HISTOGRAM_LESS histogram_less_words
#define HISTOGRAM_WEIGHT uint32_t
#define HISTOGRAM_SUM integers16
#define HISTOGRAM_COUNT int32_t
#define HISTOGRAM_WEIGHTED 1
#define HISTOGRAM(name) weighted_##name
#include "cpu/rows/rows_histogram.h"

enum { NETWORK_BLOCK = 256 };

#define MEDIAN_NETWORKS(type)                                                                                \
    static inline void sort_##type(type *a, type *b) {                                                       \
        type least = *a < *b ? *a : *b;                                                                      \
        *b = *a < *b ? *b : *a;                                                                              \
        *a = least;                                                                                          \
    }                                                                                                        \
                                                                                                             \
    static inline void sort3_##type(type v[3]) {                                                             \
        sort_##type(v, v + 1);                                                                               \
        sort_##type(v + 1, v + 2);                                                                           \
        sort_##type(v, v + 1);                                                                               \
    }                                                                                                        \
                                                                                                             \
    static inline void sort5_##type(type v[5]) {                                                             \
        sort_##type(v, v + 3);                                                                               \
        sort_##type(v + 1, v + 4);                                                                           \
        sort_##type(v, v + 2);                                                                               \
        sort_##type(v + 1, v + 3);                                                                           \
        sort_##type(v, v + 1);                                                                               \
        sort_##type(v + 2, v + 4);                                                                           \
        sort_##type(v + 1, v + 2);                                                                           \
        sort_##type(v + 3, v + 4);                                                                           \
        sort_##type(v + 2, v + 3);                                                                           \
    }                                                                                                        \
                                                                                                             \
    /* These move the least of v[0 .. n - 1] to the front, and the largest to the end. Without loops, which  \
     * the compiler would not make vectors of. */                                                            \
    static inline void ends8_##type(type *v) {                                                               \
        sort_##type(v, v + 7);                                                                               \
        sort_##type(v + 1, v + 6);                                                                           \
        sort_##type(v + 2, v + 5);                                                                           \
        sort_##type(v + 3, v + 4);                                                                           \
        sort_##type(v, v + 1);                                                                               \
        sort_##type(v, v + 2);                                                                               \
        sort_##type(v, v + 3);                                                                               \
        sort_##type(v + 4, v + 7);                                                                           \
        sort_##type(v + 5, v + 7);                                                                           \
        sort_##type(v + 6, v + 7);                                                                           \
    }                                                                                                        \
                                                                                                             \
    static inline void ends7_##type(type *v) {                                                               \
        sort_##type(v, v + 6);                                                                               \
        sort_##type(v + 1, v + 5);                                                                           \
        sort_##type(v + 2, v + 4);                                                                           \
        sort_##type(v, v + 1);                                                                               \
        sort_##type(v, v + 2);                                                                               \
        sort_##type(v, v + 3);                                                                               \
        sort_##type(v + 3, v + 6);                                                                           \
        sort_##type(v + 4, v + 6);                                                                           \
        sort_##type(v + 5, v + 6);                                                                           \
    }                                                                                                        \
                                                                                                             \
    static inline void ends6_##type(type *v) {                                                               \
        sort_##type(v, v + 5);                                                                               \
        sort_##type(v + 1, v + 4);                                                                           \
        sort_##type(v + 2, v + 3);                                                                           \
        sort_##type(v, v + 1);                                                                               \
        sort_##type(v, v + 2);                                                                               \
        sort_##type(v + 3, v + 5);                                                                           \
        sort_##type(v + 4, v + 5);                                                                           \
    }                                                                                                        \
                                                                                                             \
    static inline void ends5_##type(type *v) {                                                               \
        sort_##type(v, v + 4);                                                                               \
        sort_##type(v + 1, v + 3);                                                                           \
        sort_##type(v, v + 1);                                                                               \
        sort_##type(v, v + 2);                                                                               \
        sort_##type(v + 2, v + 4);                                                                           \
        sort_##type(v + 3, v + 4);                                                                           \
    }                                                                                                        \
                                                                                                             \
    static inline void ends4_##type(type *v) {                                                               \
        sort_##type(v, v + 3);                                                                               \
        sort_##type(v + 1, v + 2);                                                                           \
        sort_##type(v, v + 1);                                                                               \
        sort_##type(v + 2, v + 3);                                                                           \
    }                                                                                                        \
                                                                                                             \
    static void columns3_##type(type *restrict low, type *restrict middle, type *restrict high,              \
                                const void *const row[3], size_t from, size_t n) {                           \
        const type *restrict a = (const type *)row[0] + from, *restrict b = (const type *)row[1] + from,     \
                             *restrict c = (const type *)row[2] + from;                                      \
        for (size_t i = 0; i < n; i++) {                                                                     \
            type v[3] = {a[i], b[i], c[i]};                                                                  \
            sort3_##type(v);                                                                                 \
            low[i] = v[0];                                                                                   \
            middle[i] = v[1];                                                                                \
            high[i] = v[2];                                                                                  \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void merge3_##type(type *restrict to, const type *restrict low, const type *restrict middle,      \
                              const type *restrict high, size_t n) {                                         \
        for (size_t i = 0; i < n; i++) {                                                                     \
            type a[3] = {low[i], low[i + 1], low[i + 2]};                                                    \
            type b[3] = {middle[i], middle[i + 1], middle[i + 2]};                                           \
            type c[3] = {high[i], high[i + 1], high[i + 2]};                                                 \
            sort3_##type(a);                                                                                 \
            sort3_##type(b);                                                                                 \
            sort3_##type(c);                                                                                 \
            type v[3] = {a[2], b[1], c[0]};                                                                  \
            sort3_##type(v);                                                                                 \
            to[i] = v[1];                                                                                    \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void median3_##type(void *to, const void *const row[3], size_t n) {                               \
        type low[NETWORK_BLOCK + 2], middle[NETWORK_BLOCK + 2], high[NETWORK_BLOCK + 2];                     \
        for (size_t x = 0; x < n; x += NETWORK_BLOCK) {                                                      \
            size_t count = n - x < NETWORK_BLOCK ? n - x : NETWORK_BLOCK;                                    \
            columns3_##type(low, middle, high, row, x, count + 2);                                           \
            merge3_##type((type *)to + x, low, middle, high, count);                                         \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void columns5_##type(type(*restrict sorted)[NETWORK_BLOCK + 4], const void *const row[5],         \
                                size_t from, size_t n) {                                                     \
        const type *a = (const type *)row[0] + from, *b = (const type *)row[1] + from;                       \
        const type *c = (const type *)row[2] + from, *d = (const type *)row[3] + from;                       \
        const type *e = (const type *)row[4] + from;                                                         \
        for (size_t i = 0; i < n; i++) {                                                                     \
            type v[5] = {a[i], b[i], c[i], d[i], e[i]};                                                      \
            sort5_##type(v);                                                                                 \
            sorted[0][i] = v[0];                                                                             \
            sorted[1][i] = v[1];                                                                             \
            sorted[2][i] = v[2];                                                                             \
            sorted[3][i] = v[3];                                                                             \
            sorted[4][i] = v[4];                                                                             \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void merge5_##type(type *restrict to, type(*restrict s)[NETWORK_BLOCK + 4], size_t n) {           \
        for (size_t i = 0; i < n; i++) {                                                                     \
            type a[5] = {s[0][i], s[0][i + 1], s[0][i + 2], s[0][i + 3], s[0][i + 4]};                       \
            type b[5] = {s[1][i], s[1][i + 1], s[1][i + 2], s[1][i + 3], s[1][i + 4]};                       \
            type c[5] = {s[2][i], s[2][i + 1], s[2][i + 2], s[2][i + 3], s[2][i + 4]};                       \
            type d[5] = {s[3][i], s[3][i + 1], s[3][i + 2], s[3][i + 3], s[3][i + 4]};                       \
            type e[5] = {s[4][i], s[4][i + 1], s[4][i + 2], s[4][i + 3], s[4][i + 4]};                       \
            sort5_##type(a);                                                                                 \
            sort5_##type(b);                                                                                 \
            sort5_##type(c);                                                                                 \
            sort5_##type(d);                                                                                 \
            sort5_##type(e);                                                                                 \
            /* The others have more than 12 samples on one side. */                                          \
            type v[13] = {a[3], a[4], b[2], b[3], b[4], c[1], c[2], c[3], d[0], d[1], d[2], e[0], e[1]};     \
            ends8_##type(v);                                                                                 \
            v[0] = v[8];                                                                                     \
            ends7_##type(v);                                                                                 \
            v[0] = v[9];                                                                                     \
            ends6_##type(v);                                                                                 \
            v[0] = v[10];                                                                                    \
            ends5_##type(v);                                                                                 \
            v[0] = v[11];                                                                                    \
            ends4_##type(v);                                                                                 \
            v[0] = v[12];                                                                                    \
            sort3_##type(v);                                                                                 \
            to[i] = v[1];                                                                                    \
        }                                                                                                    \
    }                                                                                                        \
                                                                                                             \
    static void median5_##type(void *to, const void *const row[5], size_t n) {                               \
        type sorted[5][NETWORK_BLOCK + 4];                                                                   \
        for (size_t x = 0; x < n; x += NETWORK_BLOCK) {                                                      \
            size_t count = n - x < NETWORK_BLOCK ? n - x : NETWORK_BLOCK;                                    \
            columns5_##type(sorted, row, x, count + 4);                                                      \
            merge5_##type((type *)to + x, sorted, count);                                                    \
        }                                                                                                    \
    }

MEDIAN_NETWORKS(uint8_t)
MEDIAN_NETWORKS(uint16_t)

static void rank_median(void *to, const void *const *row, unsigned side, unsigned bytes, size_t n) {
    if (side == 3) {
        (bytes == 1 ? median3_uint8_t : median3_uint16_t)(to, row, n);
    } else {
        (bytes == 1 ? median5_uint8_t : median5_uint16_t)(to, row, n);
    }
}

static void rank_histogram(const struct median_histogram *job) {
    if (job->weight && job->heavy) {
        weighted_medians(job);
    } else if (job->weight) {
        light_medians(job);
    } else {
        histogram_medians(job);
    }
}
