/* SPDX-License-Identifier: MIT
 * The operations of cpu/detect/simd/sse2.h for AVX-512 with VNNI: inputs stay bytes. */
#ifndef BLURD_CPU_DETECT_SIMD_AVX512_H
#define BLURD_CPU_DETECT_SIMD_AVX512_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

typedef __m512i vec;
typedef __m512 flt;
typedef uint8_t input;
typedef int8_t weight;

enum { LANES = 16, UNIT = 4, CHUNK = 64 };
enum { TILE_1 = 12, TILE_2 = 12, TILE_3 = 8, TILE_4 = 6 };

static inline vec vec_at(const int32_t *from) {
    return _mm512_loadu_si512(from);
}
static inline void vec_put_sums(int32_t *to, vec a) {
    _mm512_storeu_si512(to, a);
}
static inline vec vec_inputs(const input *from) {
    int32_t four;
    memcpy(&four, from, sizeof four);
    return _mm512_set1_epi32(four);
}
static inline vec vec_dot(vec sum, vec x, const weight *weights) {
    return _mm512_dpbusd_epi32(sum, x, _mm512_loadu_si512(weights));
}
static inline flt vec_scaled(vec a, const float *scale) {
    return _mm512_mul_ps(_mm512_cvtepi32_ps(a), _mm512_loadu_ps(scale));
}
static inline vec vec_round(flt a) {
    return _mm512_cvtps_epi32(a);
}
static inline flt flt_at(const float *from) {
    return _mm512_loadu_ps(from);
}
static inline flt flt_relu(flt a) {
    return _mm512_max_ps(a, _mm512_setzero_ps());
}
static inline flt flt_add(flt a, flt b) {
    return _mm512_add_ps(a, b);
}
static inline flt flt_multiply(flt a, flt b) {
    return _mm512_mul_ps(a, b);
}
static inline flt flt_all(float a) {
    return _mm512_set1_ps(a);
}
static inline int32_t four_bytes(const uint8_t *from) {
    int32_t four;
    memcpy(&four, from, sizeof four);
    return four;
}
static inline flt flt_bytes(const uint8_t *from, size_t apart) {
    __m128i bytes = _mm_setr_epi32(four_bytes(from), four_bytes(from + apart), four_bytes(from + 2 * apart),
                                   four_bytes(from + 3 * apart));
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(bytes));
}

/* The 128 bits of the packed numbers hold 4 `vectors` channels each, which are brought together. */
static inline void vec_put(uint8_t *to, const vec *a, unsigned vectors, unsigned bytes) {
    const vec together[3] = {_mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                             _mm512_setr_epi32(0, 1, 4, 5, 8, 9, 12, 13, 0, 0, 0, 0, 0, 0, 0, 0),
                             _mm512_setr_epi32(0, 1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 0, 0, 0, 0)};
    vec low = _mm512_packs_epi32(a[0], a[vectors > 1 ? 1 : 0]);
    vec high = vectors > 2 ? _mm512_packs_epi32(a[2], a[vectors > 3 ? 3 : 2]) : low;
    vec all = _mm512_packus_epi16(low, high);
    if (vectors < 4) {
        all = _mm512_permutexvar_epi32(together[vectors - 1], all);
    }
    if (vectors == 4 && bytes == 64) {
        _mm512_storeu_si512(to, all);
    } else {
        _mm512_mask_storeu_epi8(to, bytes < 64 ? (UINT64_C(1) << bytes) - 1 : UINT64_MAX, all);
    }
}

#endif
