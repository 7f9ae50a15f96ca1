/* SPDX-License-Identifier: MIT
 * Vector operations of cpu/rows/rows_simd.h for SSE2. A `vec` holds VEC_LANES 16-bit or half as many 32-bit
 * integers. */
#ifndef BLURD_CPU_ROWS_SIMD_SSE2_H
#define BLURD_CPU_ROWS_SIMD_SSE2_H

#include <emmintrin.h>
#include <stdint.h>

typedef __m128i vec;

enum { VEC_LANES = 8 };

static inline vec vec_load(const void *from) {
    return _mm_loadu_si128(from);
}
/* Loads VEC_LANES bytes as 16-bit numbers. */
static inline vec vec_load_bytes(const uint8_t *from) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const void *)from), _mm_setzero_si128());
}
static inline void vec_store(void *to, vec a) {
    _mm_storeu_si128(to, a);
}
/* Packs 16-bit numbers into bytes. */
static inline void vec_store_bytes(uint8_t *to, vec a) {
    _mm_storel_epi64((void *)to, _mm_packus_epi16(a, a));
}
/* Packs 32-bit numbers into 16-bit ones. */
static inline void vec_store_halves(int16_t *to, vec a) {
    _mm_storel_epi64((void *)to, _mm_packs_epi32(a, a));
}
static inline vec vec_all(int32_t value) {
    return _mm_set1_epi32(value);
}
static inline vec vec_add16(vec a, vec b) {
    return _mm_add_epi16(a, b);
}
/* Adds the products of each pair to sum. */
static inline vec vec_multiply_add(vec sum, vec a, vec b) {
    return _mm_add_epi32(sum, _mm_madd_epi16(a, b));
}
/* Adds a times the first weight and b times the second: half of the lanes to sum[0], the others to sum[1];
 * vec_pack restores their order. */
static inline void vec_add_products(vec sum[2], vec a, vec b, vec weight) {
    sum[0] = vec_multiply_add(sum[0], _mm_unpacklo_epi16(a, b), weight);
    sum[1] = vec_multiply_add(sum[1], _mm_unpackhi_epi16(a, b), weight);
}
/* Packs the sums of all lanes into 16-bit numbers in order. */
static inline vec vec_pack(vec low, vec high) {
    return _mm_packs_epi32(low, high);
}
static inline vec vec_shift(vec a, int count) {
    return _mm_srai_epi32(a, count);
}

#endif
