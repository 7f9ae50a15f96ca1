/* SPDX-License-Identifier: MIT
 * The operations of lanes_sse2.h for AVX-512: four lanes. Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_LANES_AVX512_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_LANES_AVX512_H

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "codecs/jpeg/sequential/lanes_store.h"

typedef __m512i lanes;

enum { LANES = 4, VECTORS = 1, SORTS = 1, FUSES = 1 };

static inline lanes lanes_all(int a, int b) {
    return _mm512_set1_epi32((int)((uint32_t)b << 16 | (uint16_t)a));
}
static inline lanes lanes_all32(int32_t a) {
    return _mm512_set1_epi32(a);
}
static inline lanes lanes_zero(void) {
    return _mm512_setzero_si512();
}
static inline lanes lanes_low8(lanes a, lanes b) {
    return _mm512_unpacklo_epi8(a, b);
}
static inline lanes lanes_high8(lanes a, lanes b) {
    return _mm512_unpackhi_epi8(a, b);
}
static inline lanes lanes_low16(lanes a, lanes b) {
    return _mm512_unpacklo_epi16(a, b);
}
static inline lanes lanes_high16(lanes a, lanes b) {
    return _mm512_unpackhi_epi16(a, b);
}
static inline lanes lanes_low32(lanes a, lanes b) {
    return _mm512_unpacklo_epi32(a, b);
}
static inline lanes lanes_high32(lanes a, lanes b) {
    return _mm512_unpackhi_epi32(a, b);
}
static inline lanes lanes_low64(lanes a, lanes b) {
    return _mm512_unpacklo_epi64(a, b);
}
static inline lanes lanes_high64(lanes a, lanes b) {
    return _mm512_unpackhi_epi64(a, b);
}
static inline lanes lanes_add16(lanes a, lanes b) {
    return _mm512_add_epi16(a, b);
}
static inline lanes lanes_sub16(lanes a, lanes b) {
    return _mm512_sub_epi16(a, b);
}
static inline lanes lanes_add32(lanes a, lanes b) {
    return _mm512_add_epi32(a, b);
}
static inline lanes lanes_sub32(lanes a, lanes b) {
    return _mm512_sub_epi32(a, b);
}
static inline lanes lanes_products(lanes pairs, lanes factors) {
    return _mm512_madd_epi16(pairs, factors);
}
static inline lanes lanes_add_products(lanes sum, lanes pairs, lanes factors) {
    return _mm512_dpwssd_epi32(sum, pairs, factors);
}
static inline lanes lanes_shift32(lanes a, int count) {
    return _mm512_srai_epi32(a, (unsigned)count);
}
static inline lanes lanes_pack32(lanes a, lanes b) {
    return _mm512_packs_epi32(a, b);
}
static inline lanes lanes_pack16(lanes a, lanes b) {
    return _mm512_xor_si512(_mm512_packs_epi16(a, b), _mm512_set1_epi8((char)0x80));
}
static inline void lanes_store(const lanes row[4], const struct jpeg_dec_block *block, size_t step) {
    lanes_store_one(_mm512_extracti32x4_epi32(row[0], 0), _mm512_extracti32x4_epi32(row[1], 0),
                    _mm512_extracti32x4_epi32(row[2], 0), _mm512_extracti32x4_epi32(row[3], 0), block);
    lanes_store_one(_mm512_extracti32x4_epi32(row[0], 1), _mm512_extracti32x4_epi32(row[1], 1),
                    _mm512_extracti32x4_epi32(row[2], 1), _mm512_extracti32x4_epi32(row[3], 1), block + step);
    lanes_store_one(_mm512_extracti32x4_epi32(row[0], 2), _mm512_extracti32x4_epi32(row[1], 2),
                    _mm512_extracti32x4_epi32(row[2], 2), _mm512_extracti32x4_epi32(row[3], 2),
                    block + 2 * step);
    lanes_store_one(_mm512_extracti32x4_epi32(row[0], 3), _mm512_extracti32x4_epi32(row[1], 3),
                    _mm512_extracti32x4_epi32(row[2], 3), _mm512_extracti32x4_epi32(row[3], 3),
                    block + 3 * step);
}
/* Four vectors of the rows of a block each, to four of one row of each block. */
static inline void lanes_regroup(lanes to[4], lanes a, lanes b, lanes c, lanes d) {
    lanes ab = _mm512_shuffle_i32x4(a, b, 0x44), cd = _mm512_shuffle_i32x4(c, d, 0x44);
    lanes ab2 = _mm512_shuffle_i32x4(a, b, 0xEE), cd2 = _mm512_shuffle_i32x4(c, d, 0xEE);
    to[0] = _mm512_shuffle_i32x4(ab, cd, 0x88);
    to[1] = _mm512_shuffle_i32x4(ab, cd, 0xDD);
    to[2] = _mm512_shuffle_i32x4(ab2, cd2, 0x88);
    to[3] = _mm512_shuffle_i32x4(ab2, cd2, 0xDD);
}
/* Sorts the coefficients of four blocks, multiplies them, and sets the blocks to 0. */
static inline void lanes_full(lanes v[8], const struct jpeg_dec_block *block) {
    static const _Alignas(64) int16_t place[64] = {
        0,  1,  5,  6,  14, 15, 27, 28, 2,  4,  7,  13, 16, 26, 29, 42, 3,  8,  12, 17, 25, 30,
        41, 43, 9,  11, 18, 24, 31, 40, 44, 53, 10, 19, 23, 32, 39, 45, 52, 54, 20, 22, 33, 38,
        46, 51, 55, 60, 21, 34, 37, 47, 50, 56, 59, 61, 35, 36, 48, 49, 57, 58, 62, 63};
    lanes low_place = _mm512_load_si512(place), high_place = _mm512_load_si512(place + 32);
    lanes low[4], high[4];
    for (unsigned i = 0; i < 4; i++) {
        int16_t *values = block[i].values;
        const int16_t *steps = block[i].part->steps;
        lanes first = _mm512_load_si512(values), second = _mm512_load_si512(values + 32);
        low[i] =
            _mm512_mullo_epi16(_mm512_permutex2var_epi16(first, low_place, second), _mm512_load_si512(steps));
        high[i] = _mm512_mullo_epi16(_mm512_permutex2var_epi16(first, high_place, second),
                                     _mm512_load_si512(steps + 32));
        _mm512_store_si512(values, _mm512_setzero_si512());
        _mm512_store_si512(values + 32, _mm512_setzero_si512());
    }
    lanes_regroup(v, low[0], low[1], low[2], low[3]);
    lanes_regroup(v + 4, high[0], high[1], high[2], high[3]);
}
/* The same for eight blocks of four rows and columns, two a lane. */
static inline void lanes_smooth(lanes v[4], const struct jpeg_dec_block *block) {
    static const _Alignas(64)
        int16_t place[32] = {0,  1,  5,  6,  2,  4,  7,  13, 3,  8,  12, 12, 9,  11, 12, 12,
                             16, 17, 21, 22, 18, 20, 23, 29, 19, 24, 28, 28, 25, 27, 28, 28};
    lanes pair[4], places = _mm512_load_si512(place);
    for (unsigned i = 0; i < 4; i++) {
        int16_t *a = block[2 * i].values, *b = block[2 * i + 1].values;
        const int16_t *a_steps = block[2 * i].part->steps + 64, *b_steps = block[2 * i + 1].part->steps + 64;
        lanes both = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_load_si256((const void *)a)),
                                        _mm256_load_si256((const void *)b), 1);
        lanes factors = _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_load_si256((const void *)a_steps)),
                                           _mm256_load_si256((const void *)b_steps), 1);
        pair[i] = _mm512_mullo_epi16(_mm512_permutexvar_epi16(places, both), factors);
        _mm256_store_si256((void *)a, _mm256_setzero_si256());
        _mm256_store_si256((void *)b, _mm256_setzero_si256());
    }
    const lanes even = _mm512_setr_epi64(0, 4, 8, 12, 1, 5, 9, 13),
                odd = _mm512_setr_epi64(2, 6, 10, 14, 3, 7, 11, 15);
    lanes a = _mm512_permutex2var_epi64(pair[0], even, pair[1]),
          b = _mm512_permutex2var_epi64(pair[2], even, pair[3]);
    lanes c = _mm512_permutex2var_epi64(pair[0], odd, pair[1]),
          d = _mm512_permutex2var_epi64(pair[2], odd, pair[3]);
    v[0] = _mm512_shuffle_i64x2(a, b, 0x44);
    v[1] = _mm512_shuffle_i64x2(a, b, 0xEE);
    v[2] = _mm512_shuffle_i64x2(c, d, 0x44);
    v[3] = _mm512_shuffle_i64x2(c, d, 0xEE);
}

#endif
