/* SPDX-License-Identifier: MIT
 * Vectors of lanes of 128 bits, a lane for each block; this is one lane. All operations stay in their lane.
 * Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_LANES_SSE2_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_LANES_SSE2_H

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"

typedef __m128i lanes;

enum { LANES = 1, VECTORS = 1, FUSES = 0 };

/* Eight coefficients of each block. */
static inline lanes lanes_load(const struct jpeg_dec_block *block, size_t at) {
    return _mm_load_si128((const void *)(block[0].values + at));
}
/* Four coefficients of each of two blocks a lane: those with even numbers below. */
static inline lanes lanes_load_pair(const struct jpeg_dec_block *block, size_t at) {
    return _mm_castpd_si128(_mm_loadh_pd(_mm_load_sd((const void *)(block[0].values + at)),
                                         (const void *)(block[1].values + at)));
}
/* (a, b) for each of eight places of 16 bits. */
static inline lanes lanes_all(int a, int b) {
    return _mm_set1_epi32((int)((uint32_t)b << 16 | (uint16_t)a));
}
static inline lanes lanes_all32(int32_t a) {
    return _mm_set1_epi32(a);
}
static inline lanes lanes_zero(void) {
    return _mm_setzero_si128();
}
static inline lanes lanes_low8(lanes a, lanes b) {
    return _mm_unpacklo_epi8(a, b);
}
static inline lanes lanes_high8(lanes a, lanes b) {
    return _mm_unpackhi_epi8(a, b);
}
static inline lanes lanes_low16(lanes a, lanes b) {
    return _mm_unpacklo_epi16(a, b);
}
static inline lanes lanes_high16(lanes a, lanes b) {
    return _mm_unpackhi_epi16(a, b);
}
static inline lanes lanes_low32(lanes a, lanes b) {
    return _mm_unpacklo_epi32(a, b);
}
static inline lanes lanes_high32(lanes a, lanes b) {
    return _mm_unpackhi_epi32(a, b);
}
static inline lanes lanes_low64(lanes a, lanes b) {
    return _mm_unpacklo_epi64(a, b);
}
static inline lanes lanes_high64(lanes a, lanes b) {
    return _mm_unpackhi_epi64(a, b);
}
static inline lanes lanes_add16(lanes a, lanes b) {
    return _mm_add_epi16(a, b);
}
static inline lanes lanes_sub16(lanes a, lanes b) {
    return _mm_sub_epi16(a, b);
}
static inline lanes lanes_add32(lanes a, lanes b) {
    return _mm_add_epi32(a, b);
}
static inline lanes lanes_sub32(lanes a, lanes b) {
    return _mm_sub_epi32(a, b);
}
static inline lanes lanes_products(lanes pairs, lanes factors) {
    return _mm_madd_epi16(pairs, factors);
}
static inline lanes lanes_add_products(lanes sum, lanes pairs, lanes factors) {
    return lanes_add32(sum, lanes_products(pairs, factors));
}
static inline lanes lanes_shift32(lanes a, int count) {
    return _mm_srai_epi32(a, count);
}
static inline lanes lanes_pack32(lanes a, lanes b) {
    return _mm_packs_epi32(a, b);
}
/* To bytes around IDCT_CENTRE. */
static inline lanes lanes_pack16(lanes a, lanes b) {
    return _mm_xor_si128(_mm_packs_epi16(a, b), _mm_set1_epi8((char)0x80));
}
/* The rows of each block, two a vector. Blocks are `step` apart. */
static inline void lanes_store(const lanes row[4], const struct jpeg_dec_block *block, size_t step) {
    uint8_t *to = block->to;
    size_t stride = block->part->stride;
    (void)step; /* there is one */
    for (unsigned i = 0; i < 4; i++, to += 2 * stride) {
        _mm_storel_epi64((void *)to, row[i]);
        _mm_storeh_pd((void *)(to + stride), _mm_castsi128_pd(row[i]));
    }
}

#endif
