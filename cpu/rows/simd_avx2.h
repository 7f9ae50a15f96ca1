/* SPDX-License-Identifier: MIT
 * The operations of cpu/rows/simd_sse2.h for AVX2, and permutations of 32-bit numbers. */
#ifndef BLURD_CPU_ROWS_SIMD_AVX2_H
#define BLURD_CPU_ROWS_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>

typedef __m256i vec;

enum { VEC_LANES = 16 };

static inline vec vec_load(const void *from) {
    return _mm256_loadu_si256(from);
}
static inline vec vec_load_bytes(const uint8_t *from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)from));
}
static inline void vec_store(void *to, vec a) {
    _mm256_storeu_si256(to, a);
}
static inline void vec_store_bytes(uint8_t *to, vec a) {
    vec packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(a, a), 0x08);
    _mm_storeu_si128((void *)to, _mm256_castsi256_si128(packed));
}
static inline void vec_store_halves(int16_t *to, vec a) {
    vec packed = _mm256_permute4x64_epi64(_mm256_packs_epi32(a, a), 0x08);
    _mm_storeu_si128((void *)to, _mm256_castsi256_si128(packed));
}
static inline vec vec_all(int32_t value) {
    return _mm256_set1_epi32(value);
}
static inline vec vec_add16(vec a, vec b) {
    return _mm256_add_epi16(a, b);
}
static inline vec vec_multiply_add(vec sum, vec a, vec b) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(a, b));
}
static inline void vec_add_products(vec sum[2], vec a, vec b, vec weight) {
    sum[0] = vec_multiply_add(sum[0], _mm256_unpacklo_epi16(a, b), weight);
    sum[1] = vec_multiply_add(sum[1], _mm256_unpackhi_epi16(a, b), weight);
}
static inline vec vec_pack(vec low, vec high) {
    return _mm256_packs_epi32(low, high);
}
static inline vec vec_shift(vec a, int count) {
    return _mm256_srai_epi32(a, count);
}

/* Pairs (a, b) of VEC_LANES / 2 neighbours each, in order. */
static inline vec vec_pairs(const int16_t *a, const int16_t *b) {
    vec low = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)a));
    vec high = _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)b));
    return _mm256_or_si256(low, _mm256_slli_epi32(high, 16));
}
/* The 32-bit numbers of a at the places `index`. */
static inline vec vec_pick(vec a, vec index) {
    return _mm256_permutevar8x32_epi32(a, index);
}
/* (0, 1, 2, ... + first) >> shift */
static inline vec vec_ramp(int first, unsigned shift) {
    vec lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    return _mm256_srl_epi32(_mm256_add_epi32(lane, vec_all(first)), _mm_cvtsi32_si128((int)shift));
}

#endif
