/* SPDX-License-Identifier: MIT
 * Vectors of cpu/detect/detect_dense.h and detect_depth.h for SSE2. A `vec` holds LANES integers of 32 bits,
 * a `flt` as many floats, a `words` twice as many integers of 16 bits. No product of two bytes of different
 * signs is exact here, so inputs and weights have 16 bits. */
#ifndef BLURD_CPU_DETECT_SIMD_SSE2_H
#define BLURD_CPU_DETECT_SIMD_SSE2_H

#include <emmintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m128i vec;
typedef __m128 flt;
typedef __m128i words;
typedef int16_t input;
typedef int16_t weight;

enum { LANES = 4, UNIT = 2, CHUNK = 8, SPLIT = 0 };
enum { TILE_1 = 8, TILE_2 = 6, TILE_3 = 4, TILE_4 = 3 }; /* pixels, by vectors of a group */

static inline vec vec_at(const int32_t *from) {
    return _mm_loadu_si128((const void *)from);
}
static inline void vec_put_sums(int32_t *to, vec a) {
    _mm_storeu_si128((void *)to, a);
}
/* UNIT inputs, in all lanes. */
static inline vec vec_inputs(const input *from) {
    int32_t two;
    memcpy(&two, from, sizeof two);
    return _mm_set1_epi32(two);
}
/* Adds the products of inputs and weights to the sums. */
static inline vec vec_dot(vec sum, vec x, const weight *weights) {
    return _mm_add_epi32(sum, _mm_madd_epi16(x, _mm_loadu_si128((const void *)weights)));
}
static inline flt vec_scaled(vec a, const float *scale) {
    return _mm_mul_ps(_mm_cvtepi32_ps(a), _mm_loadu_ps(scale));
}
/* To the nearest integer, or even; below 2^30. */
static inline vec vec_round(flt a) {
    return _mm_cvtps_epi32(a);
}
static inline flt flt_at(const float *from) {
    return _mm_loadu_ps(from);
}
static inline flt flt_relu(flt a) {
    return _mm_max_ps(a, _mm_setzero_ps());
}
static inline flt flt_add(flt a, flt b) {
    return _mm_add_ps(a, b);
}
static inline flt flt_multiply(flt a, flt b) {
    return _mm_mul_ps(a, b);
}
static inline flt flt_all(float a) {
    return _mm_set1_ps(a);
}
/* LANES bytes, in runs of four that begin `apart` bytes apart. */
static inline flt flt_bytes(const uint8_t *from, size_t apart) {
    (void)apart;
    int32_t four;
    memcpy(&four, from, sizeof four);
    const __m128i zero = _mm_setzero_si128();
    return _mm_cvtepi32_ps(_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(four), zero), zero));
}
/* Writes a group of vectors as bytes, numbers below 0 and above 255 as those. */
static inline void vec_put(uint8_t *to, const vec *a, unsigned vectors, unsigned bytes) {
    vec low = _mm_packs_epi32(a[0], a[vectors > 1 ? 1 : 0]);
    vec high = vectors > 2 ? _mm_packs_epi32(a[2], a[vectors > 3 ? 3 : 2]) : low;
    vec all = _mm_packus_epi16(low, high);
    if (bytes == 16) {
        _mm_storeu_si128((void *)to, all);
    } else {
        uint8_t spare[16];
        _mm_storeu_si128((void *)spare, all);
        memcpy(to, spare, bytes);
    }
}
/* 2 LANES bytes as numbers of 16 bits. */
static inline words words_bytes(const uint8_t *from) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const void *)from), _mm_setzero_si128());
}
/* Adds the products of a and b with their weights, those of the two channels side by side. */
static inline void words_dot(vec sum[2], words a, words b, const weight *weights) {
    vec low = _mm_loadu_si128((const void *)weights), high = _mm_loadu_si128((const void *)(weights + 8));
    sum[0] = _mm_add_epi32(sum[0], _mm_madd_epi16(_mm_unpacklo_epi16(a, b), low));
    sum[1] = _mm_add_epi32(sum[1], _mm_madd_epi16(_mm_unpackhi_epi16(a, b), high));
}

#endif
