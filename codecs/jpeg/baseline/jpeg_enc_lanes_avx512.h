/* SPDX-License-Identifier: MIT
 * The operations of jpeg_enc_lanes_sse2.h for AVX-512: four lanes. Blocks are kept in the order of the scan.
 * Included once per instruction set. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_AVX512_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_LANES_AVX512_H

#include "codecs/jpeg/baseline/jpeg_enc_level.h"
#include "codecs/jpeg/sequential/lanes_avx512.h"

static inline lanes lanes_samples(const uint8_t *from) {
    return _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)from));
}
static inline lanes lanes_every(const uint16_t *from) {
    return _mm512_broadcast_i32x4(_mm_load_si128((const void *)from));
}
static inline lanes lanes_shift_up2(lanes a) {
    return _mm512_slli_epi16(a, 2);
}
static inline lanes lanes_shift_down2(lanes a) {
    return _mm512_srai_epi16(a, 2);
}
static inline lanes lanes_absolute(lanes a) {
    return _mm512_abs_epi16(a);
}
static inline lanes lanes_signed(lanes a, lanes sign) {
    return _mm512_mask_sub_epi16(a, _mm512_movepi16_mask(sign), _mm512_setzero_si512(), a);
}
static inline lanes lanes_high_product(lanes a, lanes b) {
    return _mm512_mulhi_epu16(a, b);
}
static inline void lanes_keep(const lanes row[8], struct jpeg_enc_piece *piece, unsigned at) {
    const lanes order = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)jpeg_zigzag));
    const lanes order2 = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const void *)(jpeg_zigzag + 32)));
    lanes top[4], bottom[4];
    lanes_regroup(top, row[0], row[1], row[2], row[3]);
    lanes_regroup(bottom, row[4], row[5], row[6], row[7]);
    for (unsigned i = 0; i < 4; i++) {
        lanes low = _mm512_permutex2var_epi16(top[i], order, bottom[i]);
        lanes high = _mm512_permutex2var_epi16(top[i], order2, bottom[i]);
        _mm512_store_si512(piece->blocks.value[at + i], low);
        _mm512_store_si512(piece->blocks.value[at + i] + 32, high);
        piece->blocks.filled[at + i] =
            _mm512_test_epi16_mask(low, low) | (uint64_t)_mm512_test_epi16_mask(high, high) << 32;
    }
}

#endif
