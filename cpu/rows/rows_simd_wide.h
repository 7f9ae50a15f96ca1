/* SPDX-License-Identifier: MIT
 * Horizontal enlargement where 32-bit numbers move freely (AVX2, AVX-512, NEON).
 * Included after cpu/rows/rows_simd.h, whose functions it uses. */
#include "cpu/rows/rows.h"

enum { WIDE_LANES = VEC_LANES / 2 };

static inline vec wide_cubic(vec ab, vec cd, vec w01, vec w23) {
    vec sum = vec_multiply_add(vec_all(VALUE_ROUND), ab, w01);
    return vec_shift(vec_multiply_add(sum, cd, w23), BLUR_WEIGHT_BITS);
}

/* A vector of results has whole steps: pairs are picked, weights repeat. */
static void wide_enlarge_short(int16_t *to, const int16_t *from, const struct cubic *cubic, size_t n) {
    unsigned factor = 1u << cubic->levels;
    int32_t repeated[2][WIDE_LANES];
    for (unsigned i = 0; i < WIDE_LANES; i++) {
        memcpy(&repeated[0][i], cubic->pair[0][i % factor], sizeof repeated[0][i]);
        memcpy(&repeated[1][i], cubic->pair[1][i % factor], sizeof repeated[1][i]);
    }
    const vec w01 = vec_load(repeated[0]);
    const vec w23 = vec_load(repeated[1]);
    for (size_t x = 0; x < n; from += WIDE_LANES) {
        vec ab = vec_pairs(from - 1, from);
        vec cd = vec_pairs(from + 1, from + 2);
        for (unsigned i = 0; i < factor; i++, x += WIDE_LANES) {
            vec index = vec_ramp((int)(i * WIDE_LANES), cubic->levels);
            vec_store_halves(to + x, wide_cubic(vec_pick(ab, index), vec_pick(cd, index), w01, w23));
        }
    }
}

/* A step is longer than a vector: all lanes have the same pairs. */
static void wide_enlarge_long(int16_t *to, const int16_t *from, const struct cubic *cubic, size_t n) {
    unsigned factor = 1u << cubic->levels;
    for (size_t x = 0; x < n; from++) {
        const vec ab = vec_all(simd_pair(from[-1], from[0]));
        const vec cd = vec_all(simd_pair(from[1], from[2]));
        for (unsigned i = 0; i < factor; i += WIDE_LANES, x += WIDE_LANES) {
            vec sum = wide_cubic(ab, cd, vec_load(cubic->pair[0][i]), vec_load(cubic->pair[1][i]));
            vec_store_halves(to + x, sum);
        }
    }
}

static void wide_enlarge(void *to, const void *from, const struct cubic *cubic, unsigned channels, size_t n) {
    (void)channels;
    if (1u << cubic->levels <= WIDE_LANES) {
        wide_enlarge_short(to, from, cubic, n);
    } else {
        wide_enlarge_long(to, from, cubic, n);
    }
}
