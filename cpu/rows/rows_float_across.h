/* SPDX-License-Identifier: MIT
 * Taps along a group of rows, for registers of 64 bytes. Included after the types of cpu/rows/rows_float.h.
 *
 * Shifted by a pixel, three of four vectors of a row lie on two cache lines. So the group is turned: a vector
 * holds one pixel of each row, and taps are whole vectors, which neighbouring pixels share in registers. A
 * pixel of three channels has a place for a fourth there. */
#include <immintrin.h>

#include "cpu/rows/rows.h"

enum {
    ACROSS_PIXELS = 128, /* turned at once: with the radius on both sides they stay in the nearest cache */
    ACROSS_UNROLL = 8,   /* results whose windows fill the registers */
};

_Static_assert(TAPS_GROUP == 4 && FLOAT_LANES == 4 * TAPS_GROUP, "a pixel of each row is one vector");

/* Four vectors of four pixels each: vector i gets pixel i of each. */
static inline void float_across_turn(floats vector[4]) {
    __m512 a = (__m512)vector[0], b = (__m512)vector[1], c = (__m512)vector[2], d = (__m512)vector[3];
    __m512 ab_low = _mm512_shuffle_f32x4(a, b, 0x44), ab_high = _mm512_shuffle_f32x4(a, b, 0xee);
    __m512 cd_low = _mm512_shuffle_f32x4(c, d, 0x44), cd_high = _mm512_shuffle_f32x4(c, d, 0xee);
    vector[0] = (floats)_mm512_shuffle_f32x4(ab_low, cd_low, 0x88);
    vector[1] = (floats)_mm512_shuffle_f32x4(ab_low, cd_low, 0xdd);
    vector[2] = (floats)_mm512_shuffle_f32x4(ab_high, cd_high, 0x88);
    vector[3] = (floats)_mm512_shuffle_f32x4(ab_high, cd_high, 0xdd);
}

/* Sums for the pixels from `in` on. */
static inline __attribute__((always_inline)) void
float_across_sum(floats sum[ACROSS_UNROLL], const floats *in, const struct taps *taps) {
    floats before[ACROSS_UNROLL], after[ACROSS_UNROLL];
    for (unsigned j = 0; j < ACROSS_UNROLL; j++) {
        before[j] = after[j] = in[j];
        sum[j] = in[j] * taps->weight_float[0];
    }
    for (int k = 1; k <= (int)taps->radius; k++) {
        for (unsigned j = ACROSS_UNROLL - 1; j > 0; j--) {
            before[j] = before[j - 1];
            after[ACROSS_UNROLL - 1 - j] = after[ACROSS_UNROLL - j];
        }
        before[0] = in[-k];
        after[ACROSS_UNROLL - 1] = in[ACROSS_UNROLL - 1 + k];
        for (unsigned j = 0; j < ACROSS_UNROLL; j++) {
            sum[j] = sum[j] + (before[j] + after[j]) * taps->weight_float[k];
        }
    }
}

/* Four pixels of `channels` channels, in the order of four of four. */
static inline floats float_across_load(const float *from, unsigned channels) {
    const __m512i spread = _mm512_setr_epi32(0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 8, 9, 10, 11, 11);
    floats value = float_at(from);
    return channels == 4 ? value : (floats)_mm512_permutexvar_ps(spread, (__m512)value);
}

/* Writes a whole vector: with three channels the next pixels overwrite the rest. */
static inline void float_across_store(float *to, floats value, unsigned channels) {
    const __m512i gather = _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15, 15, 15, 15);
    float_put(to, channels == 4 ? value : (floats)_mm512_permutexvar_ps(gather, (__m512)value));
}

static inline __attribute__((always_inline)) void float_across_rows(void *const *to, const void *const *from,
                                                                    const struct taps *taps,
                                                                    unsigned channels, size_t pixels) {
    enum { LENGTH = ACROSS_PIXELS + 2 * BLUR_RADIUS_MAX + 4 };
    floats turned[LENGTH];
    for (size_t first = 0; first < pixels; first += ACROSS_PIXELS) {
        size_t count = pixels - first < ACROSS_PIXELS ? pixels - first : ACROSS_PIXELS;
        count = (count + ACROSS_UNROLL - 1) / ACROSS_UNROLL * ACROSS_UNROLL;
        for (size_t i = 0; i < count + 2 * (size_t)taps->radius; i += 4) {
            ptrdiff_t x = (ptrdiff_t)(first + i) - (ptrdiff_t)taps->radius;
            for (unsigned j = 0; j < 4; j++) {
                turned[i + j] = float_across_load((const float *)from[j] + (ptrdiff_t)channels * x, channels);
            }
            float_across_turn(turned + i);
        }
        for (size_t x = 0; x < count; x += ACROSS_UNROLL) {
            floats sum[ACROSS_UNROLL];
            float_across_sum(sum, turned + x + taps->radius, taps);
            for (unsigned half = 0; half < ACROSS_UNROLL; half += 4) {
                float_across_turn(sum + half);
                for (unsigned j = 0; j < 4; j++) {
                    float_across_store((float *)to[j] + channels * (first + x + half), sum[half + j],
                                       channels);
                }
            }
        }
    }
}

static void float_across_group(void *const *to, const void *const *from, const struct taps *taps,
                               unsigned channels, size_t pixels) {
    if (channels == 4) {
        float_across_rows(to, from, taps, 4, pixels);
    } else {
        float_across_rows(to, from, taps, 3, pixels);
    }
}
