/* SPDX-License-Identifier: MIT
 * Vertical taps over rows of bytes, four results at once, for AVX-512 with VNNI.
 * Included after cpu/rows/rows_simd.h, whose functions it uses.
 *
 * One instruction multiplies four bytes by four weights of a byte and adds the products to a sum. Four rows
 * are interleaved for that, a *quad*: four neighbours in a vector are one column. Weights of 16 bits are
 * split into 256 * high + low, and have two sums. Result j sums the rows from row j on, so all results take
 * the same quads, each with the weights one byte further than the one before. The sums are whole numbers, so
 * the results are those of taps_source. */
#include <immintrin.h>
#include <string.h>

#include "cpu/rows/rows.h"

enum {
    BYTES_BLOCK = 64,         /* columns */
    BYTES_PARTS = 4,          /* vectors of a quad: of each 16 columns the first four, the next four, ... */
    BYTES_WEIGHT_MAX = 32639, /* 256 * 127 + 127 */
    BYTES_QUADS_MAX = (BLUR_ROWS_MAX + TAPS_GROUP - 1 + 3) / 4,
    BYTES_BEFORE = TAPS_GROUP - 1, /* weights of 0 before the first one, and after the last one */
    BYTES_WEIGHTS = 4 * BYTES_QUADS_MAX + BYTES_BEFORE,
};

struct bytes_weights {
    int8_t high[BYTES_WEIGHTS], low[BYTES_WEIGHTS];
};

struct bytes_quad {
    __m512i part[BYTES_PARTS];
};

static void bytes_split(struct bytes_weights *to, const struct taps *taps) {
    memset(to, 0, sizeof *to);
    for (int k = -(int)taps->radius; k <= (int)taps->radius; k++) {
        int weight = taps->weight[k < 0 ? -k : k], high = (weight + 128) >> 8;
        to->high[BYTES_BEFORE + (int)taps->radius + k] = (int8_t)high;
        to->low[BYTES_BEFORE + (int)taps->radius + k] = (int8_t)(weight - high * 256);
    }
}

/* Four weights, one for each row of a quad. */
static inline __m512i bytes_weight(const int8_t *from) {
    int32_t four;
    memcpy(&four, from, sizeof four);
    return _mm512_set1_epi32(four);
}

static inline struct bytes_quad bytes_interleave(const uint8_t *const *row, size_t x) {
    const __m512i a = vec_load(row[0] + x), b = vec_load(row[1] + x);
    const __m512i c = vec_load(row[2] + x), d = vec_load(row[3] + x);
    const __m512i ab = _mm512_unpacklo_epi8(a, b), ab2 = _mm512_unpackhi_epi8(a, b);
    const __m512i cd = _mm512_unpacklo_epi8(c, d), cd2 = _mm512_unpackhi_epi8(c, d);
    return (struct bytes_quad){{_mm512_unpacklo_epi16(ab, cd), _mm512_unpackhi_epi16(ab, cd),
                                _mm512_unpacklo_epi16(ab2, cd2), _mm512_unpackhi_epi16(ab2, cd2)}};
}

/* Stores the values of a block: the sums of high weights and a 256th of those of low weights. */
static inline void bytes_store(int16_t *to, const __m512i high[BYTES_PARTS], const __m512i low[BYTES_PARTS]) {
    __m512i value[BYTES_PARTS];
    for (unsigned i = 0; i < BYTES_PARTS; i++) {
        value[i] = _mm512_add_epi32(high[i], _mm512_srai_epi32(low[i], 8));
    }
    const __m512i first = _mm512_packs_epi32(value[0], value[1]); /* of each 16 columns the first eight */
    const __m512i second = _mm512_packs_epi32(value[2], value[3]);
    const __m512i near = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i far = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    vec_store(to, _mm512_permutex2var_epi64(first, near, second));
    vec_store(to + VEC_LANES, _mm512_permutex2var_epi64(first, far, second));
}

/* Makes a block of one result. Its weights begin at `high` and `low`, less than a quad before the quads. */
static inline void bytes_sum(int16_t *to, const struct bytes_quad *quad, unsigned quads, const int8_t *high,
                             const int8_t *low) {
    const __m512i none = _mm512_set1_epi32(-VALUE_BIAS), half = _mm512_set1_epi32(SOURCE_ROUND);
    __m512i highs[BYTES_PARTS] = {none, none, none, none}, lows[BYTES_PARTS] = {half, half, half, half};
#pragma GCC unroll 4 /* otherwise GCC 12 copies each sum in every step */
    for (unsigned q = 0; q < quads; q++) {
        const __m512i high_four = bytes_weight(high + (size_t)4 * q);
        const __m512i low_four = bytes_weight(low + (size_t)4 * q);
        for (unsigned i = 0; i < BYTES_PARTS; i++) {
            highs[i] = _mm512_dpbusd_epi32(highs[i], quad[q].part[i], high_four);
            lows[i] = _mm512_dpbusd_epi32(lows[i], quad[q].part[i], low_four);
        }
    }
    bytes_store(to, highs, lows);
}

static void bytes_taps_group(void *const *to, const void *const *row, const struct taps *taps, size_t n) {
    const unsigned rows = 2 * taps->radius + TAPS_GROUP, quads = (rows + 3) / 4;
    if (taps->weight[0] > BYTES_WEIGHT_MAX) {
        for (unsigned j = 0; j < TAPS_GROUP; j++) {
            simd_taps_source(to[j], row + j, taps, n);
        }
        return;
    }
    struct bytes_weights weights;
    const uint8_t *in[4 * BYTES_QUADS_MAX];
    bytes_split(&weights, taps);
    for (unsigned i = 0; i < 4 * quads; i++) {
        in[i] = row[i < rows ? i : rows - 1]; /* rows beyond have the weight 0 */
    }
    for (size_t x = 0; x < n; x += BYTES_BLOCK) {
        struct bytes_quad quad[BYTES_QUADS_MAX];
        for (unsigned q = 0; q < quads; q++) {
            quad[q] = bytes_interleave(in + (size_t)4 * q, x);
        }
        for (unsigned j = 0; j < TAPS_GROUP; j++) {
            bytes_sum((int16_t *)to[j] + x, quad, quads, weights.high + BYTES_BEFORE - j,
                      weights.low + BYTES_BEFORE - j);
        }
    }
}
