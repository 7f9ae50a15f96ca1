/* SPDX-License-Identifier: MIT
 * Stores one block of 8x8 samples from vectors of SSE2. Shared by the wider instruction sets. */
#ifndef BLURD_CODECS_JPEG_SEQUENTIAL_LANES_STORE_H
#define BLURD_CODECS_JPEG_SEQUENTIAL_LANES_STORE_H

#include <emmintrin.h>
#include <stddef.h>
#include <stdint.h>

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"

/* Each vector holds two rows of the block. */
static inline void lanes_store_one(__m128i a, __m128i b, __m128i c, __m128i d,
                                   const struct jpeg_dec_block *block) {
    uint8_t *to = block->to;
    size_t stride = block->part->stride;
    _mm_storel_epi64((void *)to, a);
    _mm_storeh_pd((void *)(to + stride), _mm_castsi128_pd(a));
    _mm_storel_epi64((void *)(to + 2 * stride), b);
    _mm_storeh_pd((void *)(to + 3 * stride), _mm_castsi128_pd(b));
    to += 4 * stride;
    _mm_storel_epi64((void *)to, c);
    _mm_storeh_pd((void *)(to + stride), _mm_castsi128_pd(c));
    _mm_storel_epi64((void *)(to + 2 * stride), d);
    _mm_storeh_pd((void *)(to + 3 * stride), _mm_castsi128_pd(d));
}

#endif
