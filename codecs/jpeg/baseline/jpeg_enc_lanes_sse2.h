/* SPDX-License-Identifier: MIT
 * Operations of the encoder on vectors of lanes of 128 bits, beside those of the decoder's lanes_sse2.h.
 * Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_SSE2_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_SSE2_H

#include "codecs/jpeg/baseline/jpeg_enc_order.h"
#include "codecs/jpeg/sequential/lanes_sse2.h"

enum { SORTS = 0 };

/* Eight samples of each block. */
static inline lanes lanes_samples(const uint8_t *from) {
    return _mm_unpacklo_epi8(_mm_loadl_epi64((const void *)from), _mm_setzero_si128());
}
/* The same eight numbers in each lane. */
static inline lanes lanes_every(const uint16_t *from) {
    return _mm_load_si128((const void *)from);
}
static inline lanes lanes_shift_up2(lanes a) {
    return _mm_slli_epi16(a, 2);
}
static inline lanes lanes_shift_down2(lanes a) {
    return _mm_srai_epi16(a, 2);
}
static inline lanes lanes_absolute(lanes a) {
    return _mm_max_epi16(a, _mm_sub_epi16(_mm_setzero_si128(), a));
}
/* `a`, or -a where `sign` is negative. */
static inline lanes lanes_signed(lanes a, lanes sign) {
    lanes negative = _mm_srai_epi16(sign, 15);
    return _mm_sub_epi16(_mm_xor_si128(a, negative), negative);
}
/* The high half of products without sign. */
static inline lanes lanes_high_product(lanes a, lanes b) {
    return _mm_mulhi_epu16(a, b);
}
/* Stores the rows of the blocks from `at` on, and which coefficients are not 0. */
static inline void lanes_keep(const lanes row[8], struct jpeg_enc_piece *piece, unsigned at) {
    uint64_t filled = 0;
    for (unsigned i = 0; i < 8; i += 2) {
        lanes empty = _mm_cmpeq_epi8(_mm_packs_epi16(row[i], row[i + 1]), _mm_setzero_si128());
        filled |= jpeg_enc_order_of(&piece->order, i, ~(unsigned)_mm_movemask_epi8(empty) & 0xffff);
        _mm_store_si128((void *)&piece->blocks.value[at][8 * i], row[i]);
        _mm_store_si128((void *)&piece->blocks.value[at][8 * i + 8], row[i + 1]);
    }
    piece->blocks.filled[at] = filled;
}

#endif
