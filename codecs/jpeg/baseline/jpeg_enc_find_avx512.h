/* SPDX-License-Identifier: MIT
 * The tokens of blocks for AVX-512 with VBMI2 and CD: up to 16 of a block at once. Included after the
 * definition of transform(), which leaves blocks in the order of the scan. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_FIND_AVX512_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_FIND_AVX512_H

#define FINDS_GROUPS
#include "codecs/jpeg/baseline/jpeg_enc_find.h"

enum { FIND_GROUP = 16 }; /* tokens */

#define FIND_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512cd,avx512vbmi2")))

/* Writes a token for each coefficient whose bit is set in `filled`; the bit of DC always is. Tokens are
 * written in whole groups, so further tokens without meaning may follow the last one. Returns false if more
 * than 15 zeros precede a value; the caller then finds the tokens one by one. */
FIND_TARGET static inline bool find_groups(const int16_t *block, uint64_t filled, int32_t difference,
                                           __m512i table, uint32_t ac, uint32_t *to) {
    static const uint8_t place[JPEG_COEFFICIENTS] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};
    const __m512i ones = _mm512_set1_epi32(-1);
    __m512i low = _mm512_load_si512(block), high = _mm512_load_si512(block + 32);
    __m512i places = _mm512_maskz_compress_epi8(filled, _mm512_loadu_si512(place)), before = ones;
    unsigned count = (unsigned)__builtin_popcountll(filled);
    __mmask16 dc = 1;
    for (unsigned i = 0; i < count; i += FIND_GROUP) {
        __m256i at = _mm256_cvtepu8_epi16(_mm512_castsi512_si128(places));
        __m512i here = _mm512_cvtepi16_epi32(at);
        __m512i from = _mm512_permutex2var_epi16(low, _mm512_castsi256_si512(at), high);
        __m512i value = _mm512_cvtepi16_epi32(_mm512_castsi512_si256(from));
        value = _mm512_mask_mov_epi32(value, dc, _mm512_set1_epi32(difference));
        /* the place behind the token before */
        __m512i next = _mm512_sub_epi32(_mm512_alignr_epi32(here, before, FIND_GROUP - 1), ones);
        __m512i run = _mm512_sub_epi32(here, next);
        __m512i size = _mm512_sub_epi32(_mm512_set1_epi32(32), _mm512_lzcnt_epi32(_mm512_abs_epi32(value)));
        __m512i bits = _mm512_andnot_si512(_mm512_sllv_epi32(ones, size),
                                           _mm512_add_epi32(value, _mm512_srai_epi32(value, 31)));
        __m512i symbol = _mm512_or_si512(_mm512_slli_epi32(run, 4), size);
        __m512i token =
            _mm512_or_si512(_mm512_slli_epi32(bits, JPEG_ENC_INDEX), _mm512_or_si512(symbol, table));
        unsigned left = count - i;
        __mmask16 used = (__mmask16)(left < FIND_GROUP ? (1u << left) - 1 : 0xffff);
        if (_mm512_mask_cmpgt_epi32_mask(used, run, _mm512_set1_epi32(JPEG_ENC_RUN_MAX))) {
            return false;
        }
        _mm512_storeu_si512(to + i, token);
        places = _mm512_alignr_epi32(places, places, 4);
        before = here;
        table = _mm512_set1_epi32((int)ac);
        dc = 0;
    }
    return true;
}

FIND_TARGET static uint32_t *find_tokens(const struct jpeg_enc_piece *piece, unsigned mcus, uint32_t *to) {
    for (uint32_t mcu = 0; mcu < mcus; mcu++) {
        for (unsigned i = 0; i < piece->unit_count; i++) {
            const struct jpeg_enc_unit *unit = &piece->unit[i];
            uint32_t ac = (unit->table + 1) << 8;
            if (mcu >= unit->real) {
                to = put_flat(to, unit);
                continue;
            }
            uint32_t at = unit->first + mcu * unit->step;
            uint64_t filled = piece->blocks.filled[at] | 1;
            int32_t dc = piece->blocks.value[at][0], difference = dc - *unit->last_dc;
            __m512i table = _mm512_mask_mov_epi32(_mm512_set1_epi32((int)ac), 1,
                                                  _mm512_set1_epi32((int)(unit->table << 8)));
            *unit->last_dc = dc;
            if (!find_groups(piece->blocks.value[at], filled, difference, table, ac, to)) {
                to = put_block(to, &piece->order, unit, piece->blocks.value[at], filled, difference);
                continue;
            }
            to += __builtin_popcountll(filled);
            *to = ac;
            to += filled >> (JPEG_COEFFICIENTS - 1) == 0;
        }
    }
    return to;
}

#endif
