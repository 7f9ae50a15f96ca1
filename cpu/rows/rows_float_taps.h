/* SPDX-License-Identifier: MIT
 * Symmetric taps in floating point. Included once per instruction set, by cpu/rows/rows_float.h.
 *
 * With `half` rows have 16-bit numbers, which are widened while they are read. They take half of the cache's
 * bandwidth. */
#include "cpu/rows/rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    FLOAT_UNROLL = VECTOR_BYTES == 64 ? 2 : 4, /* 32 elements at most: 64 bytes of a row of halves */
    FLOAT_BLOCK = FLOAT_UNROLL * FLOAT_LANES,
    GROUP_UNROLL = VECTOR_BYTES == 64 ? 2 : 1, /* the windows of a group fill the registers */
    GROUP_BLOCK = GROUP_UNROLL * FLOAT_LANES,
};

typedef int32_t float_integers __attribute__((vector_size(VECTOR_BYTES)));

static inline float_integers float_integers_at(const uint16_t *from) {
#if VECTOR_BYTES == 64
    return (float_integers)_mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)from));
#elif VECTOR_BYTES == 32
    return (float_integers)_mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)from));
#elif defined(__SSE2__) /* one instruction, where GCC 12 takes five for __builtin_convertvector */
    return (float_integers)_mm_unpacklo_epi16(_mm_loadl_epi64((const void *)from), _mm_setzero_si128());
#else
    typedef uint16_t four_halves __attribute__((vector_size(8)));
    four_halves value;
    memcpy(&value, from, sizeof value);
    return __builtin_convertvector(value, float_integers);
#endif
}

static inline __attribute__((always_inline)) floats float_read(const void *row, size_t x, bool half) {
    return half ? __builtin_convertvector(float_integers_at((const uint16_t *)row + x), floats)
                : float_at((const float *)row + x);
}

/* The sum of two values. As integers it is exact, too, and is converted once. */
static inline __attribute__((always_inline)) floats float_pair(const void *a, const void *b, size_t x,
                                                               bool half) {
    if (half) {
        float_integers first = float_integers_at((const uint16_t *)a + x);
        return __builtin_convertvector(first + float_integers_at((const uint16_t *)b + x), floats);
    }
    return float_read(a, x, half) + float_read(b, x, half);
}

static inline __attribute__((always_inline)) void float_taps_block(float *out, const void *const *in,
                                                                   const struct taps *taps, size_t x,
                                                                   bool half, unsigned unroll) {
    enum { UNROLL_MOST = 8 };
    floats sum[UNROLL_MOST];
    for (unsigned i = 0; i < unroll; i++) {
        sum[i] = float_read(in[0], x + i * FLOAT_LANES, half) * taps->weight_float[0];
    }
    for (int k = 1; k <= (int)taps->radius; k++) {
        for (unsigned i = 0; i < unroll; i++) {
            sum[i] = sum[i] + float_pair(in[-k], in[k], x + i * FLOAT_LANES, half) * taps->weight_float[k];
        }
    }
    for (unsigned i = 0; i < unroll; i++) {
        float_put(out + x + i * FLOAT_LANES, sum[i]);
    }
}

static inline __attribute__((always_inline)) void
float_taps_any(float *out, const void *const *row, const struct taps *taps, size_t n, bool half) {
    /* halves need more registers to be widened in */
    const unsigned blocks = half && FLOAT_UNROLL > 2 ? 1 : 2;
    size_t x = 0;
    for (; x + blocks * FLOAT_BLOCK <= n; x += blocks * FLOAT_BLOCK) {
        float_taps_block(out, row + taps->radius, taps, x, half, blocks * FLOAT_UNROLL);
    }
    for (; x < n; x += FLOAT_BLOCK) {
        float_taps_block(out, row + taps->radius, taps, x, half, FLOAT_UNROLL);
    }
}

static void float_taps(void *to, const void *const *row, const struct taps *taps, size_t n) {
    float_taps_any(to, row, taps, n, false);
}

static void float_taps_source(void *to, const void *const *row, const struct taps *taps, size_t n) {
    float_taps_any(to, row, taps, n, true);
}

/* The rows of a group that lie k above and below their centres, as k grows: each row is read once. */
struct float_window {
    floats above[TAPS_GROUP][GROUP_UNROLL], below[TAPS_GROUP][GROUP_UNROLL];
};

static inline __attribute__((always_inline)) void
float_window_grow(struct float_window *window, const void *const *in, int k, size_t x, bool half) {
    for (unsigned i = 0; i < GROUP_UNROLL; i++) {
        for (unsigned j = TAPS_GROUP - 1; j > 0; j--) {
            window->above[j][i] = window->above[j - 1][i];
            window->below[TAPS_GROUP - 1 - j][i] = window->below[TAPS_GROUP - j][i];
        }
        window->above[0][i] = float_read(in[-k], x + i * FLOAT_LANES, half);
        window->below[TAPS_GROUP - 1][i] = float_read(in[TAPS_GROUP - 1 + k], x + i * FLOAT_LANES, half);
    }
}

static inline __attribute__((always_inline)) void
float_group_any(void *const *to, const void *const *row, const struct taps *taps, size_t n, bool half) {
    const void *const *in = row + taps->radius;
    const int radius = (int)taps->radius;
    for (size_t x = 0; x < n; x += GROUP_BLOCK) {
        struct float_window window;
        floats sum[TAPS_GROUP][GROUP_UNROLL];
        for (unsigned j = 0; j < TAPS_GROUP; j++) {
            for (unsigned i = 0; i < GROUP_UNROLL; i++) {
                floats centre = float_read(in[j], x + i * FLOAT_LANES, half);
                window.above[j][i] = window.below[j][i] = centre;
                sum[j][i] = centre * taps->weight_float[0];
            }
        }
        for (int k = 1; k <= radius; k++) {
            float_window_grow(&window, in, k, x, half);
            for (unsigned j = 0; j < TAPS_GROUP; j++) {
                for (unsigned i = 0; i < GROUP_UNROLL; i++) {
                    floats pair = window.above[j][i] + window.below[j][i];
                    sum[j][i] = sum[j][i] + pair * taps->weight_float[k];
                }
            }
        }
        for (unsigned j = 0; j < TAPS_GROUP; j++) {
            for (unsigned i = 0; i < GROUP_UNROLL; i++) {
                float_put((float *)to[j] + x + i * FLOAT_LANES, sum[j][i]);
            }
        }
    }
}

static void float_taps_group(void *const *to, const void *const *row, const struct taps *taps, size_t n) {
    float_group_any(to, row, taps, n, false);
}

static void float_taps_group_source(void *const *to, const void *const *row, const struct taps *taps,
                                    size_t n) {
    float_group_any(to, row, taps, n, true);
}
