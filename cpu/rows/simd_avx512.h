/* SPDX-License-Identifier: MIT
 * The operations of cpu/rows/simd_sse2.h for AVX-512 BW and VNNI, and permutations of 32-bit numbers. */
#ifndef BLURD_CPU_ROWS_SIMD_AVX512_H
#define BLURD_CPU_ROWS_SIMD_AVX512_H

#include <immintrin.h>
#include <stdint.h>

typedef __m512i vec;

enum { VEC_LANES = 32 };

static inline vec vec_load(const void *from) {
    return _mm512_loadu_si512(from);
}
static inline vec vec_load_bytes(const uint8_t *from) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)from));
}
static inline void vec_store(void *to, vec a) {
    _mm512_storeu_si512(to, a);
}
static inline void vec_store_bytes(uint8_t *to, vec a) {
    _mm256_storeu_si256((void *)to, _mm512_cvtepi16_epi8(a));
}
static inline void vec_store_halves(int16_t *to, vec a) {
    _mm256_storeu_si256((void *)to, _mm512_cvtepi32_epi16(a));
}
static inline vec vec_all(int32_t value) {
    return _mm512_set1_epi32(value);
}
static inline vec vec_add16(vec a, vec b) {
    return _mm512_add_epi16(a, b);
}
static inline vec vec_multiply_add(vec sum, vec a, vec b) {
#if defined(__AVX512VNNI__)
    return _mm512_dpwssd_epi32(sum, a, b);
#else
    return _mm512_add_epi32(sum, _mm512_madd_epi16(a, b));
#endif
}
static inline void vec_add_products(vec sum[2], vec a, vec b, vec weight) {
    sum[0] = vec_multiply_add(sum[0], _mm512_unpacklo_epi16(a, b), weight);
    sum[1] = vec_multiply_add(sum[1], _mm512_unpackhi_epi16(a, b), weight);
}
static inline vec vec_pack(vec low, vec high) {
    return _mm512_packs_epi32(low, high);
}
static inline vec vec_shift(vec a, int count) {
    return _mm512_srai_epi32(a, (unsigned)count);
}

/* Pairs (a, b) of VEC_LANES / 2 neighbours each, in order. */
static inline vec vec_pairs(const int16_t *a, const int16_t *b) {
    vec low = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)a));
    vec high = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const void *)b));
    return _mm512_or_si512(low, _mm512_slli_epi32(high, 16));
}
/* The 32-bit numbers of a at the places `index`. */
static inline vec vec_pick(vec a, vec index) {
    return _mm512_permutexvar_epi32(index, a);
}
/* (0, 1, 2, ... + first) >> shift */
static inline vec vec_ramp(int first, unsigned shift) {
    vec lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_srl_epi32(_mm512_add_epi32(lane, vec_all(first)), _mm_cvtsi32_si128((int)shift));
}

#endif
