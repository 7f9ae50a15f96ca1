/* SPDX-License-Identifier: MIT
 * The operations of cpu/detect/simd/sse2.h for AVX2. */
#ifndef BLURD_CPU_DETECT_SIMD_AVX2_H
#define BLURD_CPU_DETECT_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m256i vec;
typedef __m256 flt;
typedef __m256i words;
typedef int16_t input;
typedef int16_t weight;

enum { LANES = 8, UNIT = 2, CHUNK = 16, SPLIT = 0 };
enum { TILE_1 = 8, TILE_2 = 6, TILE_3 = 4, TILE_4 = 3 };

static inline vec vec_at(const int32_t *from) {
    return _mm256_loadu_si256((const void *)from);
}
static inline void vec_put_sums(int32_t *to, vec a) {
    _mm256_storeu_si256((void *)to, a);
}
static inline vec vec_inputs(const input *from) {
    int32_t two;
    memcpy(&two, from, sizeof two);
    return _mm256_set1_epi32(two);
}
static inline vec vec_dot(vec sum, vec x, const weight *weights) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(x, _mm256_loadu_si256((const void *)weights)));
}
static inline flt vec_scaled(vec a, const float *scale) {
    return _mm256_mul_ps(_mm256_cvtepi32_ps(a), _mm256_loadu_ps(scale));
}
static inline vec vec_round(flt a) {
    return _mm256_cvtps_epi32(a);
}
static inline flt flt_at(const float *from) {
    return _mm256_loadu_ps(from);
}
static inline flt flt_relu(flt a) {
    return _mm256_max_ps(a, _mm256_setzero_ps());
}
static inline flt flt_add(flt a, flt b) {
    return _mm256_add_ps(a, b);
}
static inline flt flt_multiply(flt a, flt b) {
    return _mm256_mul_ps(a, b);
}
static inline flt flt_all(float a) {
    return _mm256_set1_ps(a);
}
static inline flt flt_bytes(const uint8_t *from, size_t apart) {
    int32_t low, high;
    memcpy(&low, from, sizeof low);
    memcpy(&high, from + apart, sizeof high);
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_setr_epi32(low, high, 0, 0)));
}
/* Each half of the packed numbers holds 4 `vectors` channels, which are brought together. */
static inline void vec_put(uint8_t *to, const vec *a, unsigned vectors, unsigned bytes) {
    const vec together[3] = {_mm256_setr_epi32(0, 4, 0, 0, 0, 0, 0, 0),
                             _mm256_setr_epi32(0, 1, 4, 5, 0, 0, 0, 0),
                             _mm256_setr_epi32(0, 1, 2, 4, 5, 6, 0, 0)};
    vec low = _mm256_packs_epi32(a[0], a[vectors > 1 ? 1 : 0]);
    vec high = vectors > 2 ? _mm256_packs_epi32(a[2], a[vectors > 3 ? 3 : 2]) : low;
    vec all = _mm256_packus_epi16(low, high);
    if (vectors < 4) {
        all = _mm256_permutevar8x32_epi32(all, together[vectors - 1]);
    }
    if (bytes == 32) {
        _mm256_storeu_si256((void *)to, all);
    } else {
        uint8_t spare[32];
        _mm256_storeu_si256((void *)spare, all);
        memcpy(to, spare, bytes);
    }
}
static inline words words_bytes(const uint8_t *from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)from));
}
static inline void words_dot(vec sum[2], words a, words b, const weight *weights) {
    vec low = _mm256_loadu_si256((const void *)weights);
    vec high = _mm256_loadu_si256((const void *)(weights + 16));
    sum[0] = _mm256_add_epi32(sum[0], _mm256_madd_epi16(_mm256_unpacklo_epi16(a, b), low));
    sum[1] = _mm256_add_epi32(sum[1], _mm256_madd_epi16(_mm256_unpackhi_epi16(a, b), high));
}

#endif
