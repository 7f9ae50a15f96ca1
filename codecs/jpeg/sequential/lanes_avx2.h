/* SPDX-License-Identifier: MIT
 * The operations of lanes_sse2.h for AVX2: two lanes. Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_LANES_AVX2_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_LANES_AVX2_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "codecs/jpeg/sequential/lanes_store.h"

typedef __m256i lanes;

enum { LANES = 2, VECTORS = 1, FUSES = 0 };

static inline lanes lanes_load(const struct jpeg_dec_block *block, size_t at) {
    lanes low = _mm256_castsi128_si256(_mm_load_si128((const void *)(block[0].values + at)));
    return _mm256_inserti128_si256(low, _mm_load_si128((const void *)(block[1].values + at)), 1);
}
static inline __m128i lanes_load_two(const int16_t *low, const int16_t *high) {
    return _mm_castpd_si128(_mm_loadh_pd(_mm_load_sd((const void *)low), (const void *)high));
}
static inline lanes lanes_load_pair(const struct jpeg_dec_block *block, size_t at) {
    lanes low = _mm256_castsi128_si256(lanes_load_two(block[0].values + at, block[1].values + at));
    return _mm256_inserti128_si256(low, lanes_load_two(block[2].values + at, block[3].values + at), 1);
}
static inline lanes lanes_all(int a, int b) {
    return _mm256_set1_epi32((int)((uint32_t)b << 16 | (uint16_t)a));
}
static inline lanes lanes_all32(int32_t a) {
    return _mm256_set1_epi32(a);
}
static inline lanes lanes_zero(void) {
    return _mm256_setzero_si256();
}
static inline lanes lanes_low8(lanes a, lanes b) {
    return _mm256_unpacklo_epi8(a, b);
}
static inline lanes lanes_high8(lanes a, lanes b) {
    return _mm256_unpackhi_epi8(a, b);
}
static inline lanes lanes_low16(lanes a, lanes b) {
    return _mm256_unpacklo_epi16(a, b);
}
static inline lanes lanes_high16(lanes a, lanes b) {
    return _mm256_unpackhi_epi16(a, b);
}
static inline lanes lanes_low32(lanes a, lanes b) {
    return _mm256_unpacklo_epi32(a, b);
}
static inline lanes lanes_high32(lanes a, lanes b) {
    return _mm256_unpackhi_epi32(a, b);
}
static inline lanes lanes_low64(lanes a, lanes b) {
    return _mm256_unpacklo_epi64(a, b);
}
static inline lanes lanes_high64(lanes a, lanes b) {
    return _mm256_unpackhi_epi64(a, b);
}
static inline lanes lanes_add16(lanes a, lanes b) {
    return _mm256_add_epi16(a, b);
}
static inline lanes lanes_sub16(lanes a, lanes b) {
    return _mm256_sub_epi16(a, b);
}
static inline lanes lanes_add32(lanes a, lanes b) {
    return _mm256_add_epi32(a, b);
}
static inline lanes lanes_sub32(lanes a, lanes b) {
    return _mm256_sub_epi32(a, b);
}
static inline lanes lanes_products(lanes pairs, lanes factors) {
    return _mm256_madd_epi16(pairs, factors);
}
static inline lanes lanes_add_products(lanes sum, lanes pairs, lanes factors) {
    return lanes_add32(sum, lanes_products(pairs, factors));
}
static inline lanes lanes_shift32(lanes a, int count) {
    return _mm256_srai_epi32(a, count);
}
static inline lanes lanes_pack32(lanes a, lanes b) {
    return _mm256_packs_epi32(a, b);
}
static inline lanes lanes_pack16(lanes a, lanes b) {
    return _mm256_xor_si256(_mm256_packs_epi16(a, b), _mm256_set1_epi8((char)0x80));
}
static inline void lanes_store(const lanes row[4], const struct jpeg_dec_block *block, size_t step) {
    lanes_store_one(_mm256_castsi256_si128(row[0]), _mm256_castsi256_si128(row[1]),
                    _mm256_castsi256_si128(row[2]), _mm256_castsi256_si128(row[3]), block);
    lanes_store_one(_mm256_extracti128_si256(row[0], 1), _mm256_extracti128_si256(row[1], 1),
                    _mm256_extracti128_si256(row[2], 1), _mm256_extracti128_si256(row[3], 1), block + step);
}

#endif
