/* SPDX-License-Identifier: MIT
 * The operations of jpeg_enc_lanes_sse2.h for AVX2: two lanes. Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_AVX2_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_AVX2_H

#include "codecs/jpeg/baseline/jpeg_enc_order.h"
#include "codecs/jpeg/sequential/lanes_avx2.h"

enum { SORTS = 0 };

static inline lanes lanes_samples(const uint8_t *from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)from));
}
static inline lanes lanes_every(const uint16_t *from) {
    return _mm256_broadcastsi128_si256(_mm_load_si128((const void *)from));
}
static inline lanes lanes_shift_up2(lanes a) {
    return _mm256_slli_epi16(a, 2);
}
static inline lanes lanes_shift_down2(lanes a) {
    return _mm256_srai_epi16(a, 2);
}
static inline lanes lanes_absolute(lanes a) {
    return _mm256_abs_epi16(a);
}
static inline lanes lanes_signed(lanes a, lanes sign) {
    return _mm256_sign_epi16(a, sign);
}
static inline lanes lanes_high_product(lanes a, lanes b) {
    return _mm256_mulhi_epu16(a, b);
}
static inline void lanes_keep(const lanes row[8], struct jpeg_enc_piece *piece, unsigned at) {
    uint64_t filled = 0, filled2 = 0;
    for (unsigned i = 0; i < 8; i += 2) {
        lanes empty = _mm256_cmpeq_epi8(_mm256_packs_epi16(row[i], row[i + 1]), _mm256_setzero_si256());
        uint32_t some = ~(uint32_t)_mm256_movemask_epi8(empty);
        filled |= jpeg_enc_order_of(&piece->order, i, some & 0xffff);
        filled2 |= jpeg_enc_order_of(&piece->order, i, some >> 16);
        lanes first = _mm256_permute2x128_si256(row[i], row[i + 1], 0x20);
        lanes second = _mm256_permute2x128_si256(row[i], row[i + 1], 0x31);
        _mm256_store_si256((void *)&piece->blocks.value[at][8 * i], first);
        _mm256_store_si256((void *)&piece->blocks.value[at + 1][8 * i], second);
    }
    piece->blocks.filled[at] = filled;
    piece->blocks.filled[at + 1] = filled2;
}

#endif
