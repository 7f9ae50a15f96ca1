/* SPDX-License-Identifier: MIT
 * Integer row primitives on 16-bit pairs: two values are multiplied by two weights and the products added, by
 * one instruction where there is one. Included after a cpu/rows/simd_*.h and cpu/rows/rows_fixed.h, whose
 * functions they replace with the same results: integer sums do not depend on order. */
#include <string.h>

#include "cpu/rows/rows.h"

enum {
    SIMD_BLOCK = 2 * VEC_LANES,
    SIMD_PAIRS_MAX = (BLUR_RADIUS_MAX + 2) / 2,
    /* rounding and the change of the bias, added before the shift */
    SIMD_ROUND_SOURCE = SOURCE_ROUND - (VALUE_BIAS << (BLUR_WEIGHT_BITS - BLUR_STORE_BITS)),
    SIMD_ROUND_LAST = LAST_ROUND + (VALUE_BIAS << BLUR_WEIGHT_BITS),
};

static inline int32_t simd_pair(int first, int second) {
    return (int32_t)((uint32_t)(uint16_t)first | (uint32_t)(uint16_t)second << 16);
}

/* Pairs up the weights: 0 and 1, 2 and 3, ...; returns the number of pairs. */
static unsigned simd_weights(int32_t pair[SIMD_PAIRS_MAX], const struct taps *taps) {
    unsigned count = 0;
    for (unsigned k = 0; k <= taps->radius; k += 2) {
        pair[count++] = simd_pair(taps->weight[k], k < taps->radius ? taps->weight[k + 1] : 0);
    }
    return count;
}

/* The rows that a pair of weights takes: before and behind the centre, at one distance and at the next. An
 * odd number of terms leaves a weight of 0, so any row will do. */
struct simd_rows {
    const uint8_t *before[2], *behind[2];
};

static inline __attribute__((always_inline)) void simd_gather(struct simd_rows *rows, const void *const *row,
                                                              const struct taps *taps, unsigned pairs) {
    const uint8_t *const *in = (const uint8_t *const *)row + taps->radius;
#pragma GCC unroll 5
    for (int p = 0; p < (int)pairs; p++) {
        int next = 2 * p + 1 <= (int)taps->radius ? 2 * p + 1 : (int)taps->radius;
        rows[p] = (struct simd_rows){{in[-2 * p], in[-next]}, {in[2 * p], in[next]}};
    }
}

/* Loads samples, bytes or values. */
static inline vec simd_samples(const uint8_t *from, bool bytes) {
    return bytes ? vec_load_bytes(from) : vec_load(from);
}

/* Adds the terms of a pair to the sums of two neighbouring vectors at x, low and high. */
static inline void simd_add_pair(vec sum[4], const struct simd_rows *rows, bool centre, vec weight, size_t x,
                                 bool bytes) {
    const size_t size = bytes ? 1 : sizeof(int16_t);
    for (unsigned i = 0; i < 2; i++) {
        size_t byte = (x + i * VEC_LANES) * size;
        vec a = simd_samples(rows->behind[0] + byte, bytes);
        a = centre ? a : vec_add16(a, simd_samples(rows->before[0] + byte, bytes));
        vec b = vec_add16(simd_samples(rows->before[1] + byte, bytes),
                          simd_samples(rows->behind[1] + byte, bytes));
        vec_add_products(sum + 2 * i, a, b, weight);
    }
}

/* Stores a block of last sums as bytes, at most n of them. */
static inline void simd_put_last(uint8_t *to, const vec sum[4], size_t n) {
    uint8_t rest[SIMD_BLOCK];
    uint8_t *out = n < SIMD_BLOCK ? rest : to;
    vec_store_bytes(out, vec_pack(vec_shift(sum[0], LAST_SHIFT), vec_shift(sum[1], LAST_SHIFT)));
    vec_store_bytes(out + VEC_LANES, vec_pack(vec_shift(sum[2], LAST_SHIFT), vec_shift(sum[3], LAST_SHIFT)));
    if (n < SIMD_BLOCK) {
        memcpy(to, rest, n);
    }
}

enum simd_pass { SIMD_SOURCE, SIMD_BETWEEN, SIMD_LAST };

/* One pass over a row. Inlined with constants: `pass`, and `pairs` where it is small. */
static inline __attribute__((always_inline)) void simd_pass_row(void *to, const void *const *row,
                                                                const struct taps *taps,
                                                                const int32_t *weight, unsigned pairs,
                                                                size_t n, enum simd_pass pass) {
    struct simd_rows rows[SIMD_PAIRS_MAX];
    simd_gather(rows, row, taps, pairs);
    const bool bytes = pass == SIMD_SOURCE;
    const int shift = bytes ? BLUR_WEIGHT_BITS - BLUR_STORE_BITS : BLUR_WEIGHT_BITS;
    const vec round = vec_all(bytes ? SIMD_ROUND_SOURCE : pass == SIMD_LAST ? SIMD_ROUND_LAST : VALUE_ROUND);
    for (size_t x = 0; x < n; x += SIMD_BLOCK) {
        vec sum[4] = {round, round, round, round};
        simd_add_pair(sum, rows, true, vec_all(weight[0]), x, bytes);
#pragma GCC unroll 5
        for (unsigned p = 1; p < pairs; p++) {
            simd_add_pair(sum, rows + p, false, vec_all(weight[p]), x, bytes);
        }
        if (pass == SIMD_LAST) {
            simd_put_last((uint8_t *)to + x, sum, n - x);
            continue;
        }
        int16_t *out = (int16_t *)to + x;
        vec_store(out, vec_pack(vec_shift(sum[0], shift), vec_shift(sum[1], shift)));
        vec_store(out + VEC_LANES, vec_pack(vec_shift(sum[2], shift), vec_shift(sum[3], shift)));
    }
}

/* Small kernels, of sigma up to 2.2, are unrolled: the loop would cost as much as its body. */
static inline __attribute__((always_inline)) void
simd_pass_any(void *to, const void *const *row, const struct taps *taps, size_t n, enum simd_pass pass) {
    int32_t weight[SIMD_PAIRS_MAX];
    unsigned pairs = simd_weights(weight, taps);
    switch (pairs) {
    case 1:
        simd_pass_row(to, row, taps, weight, 1, n, pass);
        break;
    case 2:
        simd_pass_row(to, row, taps, weight, 2, n, pass);
        break;
    case 3:
        simd_pass_row(to, row, taps, weight, 3, n, pass);
        break;
    case 4:
        simd_pass_row(to, row, taps, weight, 4, n, pass);
        break;
    case 5:
        simd_pass_row(to, row, taps, weight, 5, n, pass);
        break;
    default:
        simd_pass_row(to, row, taps, weight, pairs, n, pass);
        break;
    }
}

static void simd_taps_source(void *to, const void *const *row, const struct taps *taps, size_t n) {
    simd_pass_any(to, row, taps, n, SIMD_SOURCE);
}

static void simd_taps(void *to, const void *const *row, const struct taps *taps, size_t n) {
    simd_pass_any(to, row, taps, n, SIMD_BETWEEN);
}

static void simd_taps_last(void *to, const void *const *row, const struct taps *taps, size_t n) {
    simd_pass_any(to, row, taps, n, SIMD_LAST);
}

static void simd_cubic_last(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                            unsigned phase, size_t n) {
    const int16_t *const *in = (const int16_t *const *)row;
    const vec w01 = vec_all(simd_pair(cubic->pair[0][phase][0], cubic->pair[0][phase][1]));
    const vec w23 = vec_all(simd_pair(cubic->pair[1][phase][0], cubic->pair[1][phase][1]));
    const vec round = vec_all(SIMD_ROUND_LAST);
    for (size_t x = 0; x < n; x += SIMD_BLOCK) {
        vec sum[4] = {round, round, round, round};
        for (unsigned i = 0; i < 2; i++) {
            size_t at = x + i * VEC_LANES;
            vec_add_products(sum + 2 * i, vec_load(in[0] + at), vec_load(in[1] + at), w01);
            vec_add_products(sum + 2 * i, vec_load(in[2] + at), vec_load(in[3] + at), w23);
        }
        simd_put_last((uint8_t *)to + x, sum, n - x);
    }
}

enum {
    REDUCE_CHUNK = 64,                /* results at once */
    REDUCE_BEFORE = 2,                /* steps that the taps reach back */
    REDUCE_STREAM = REDUCE_CHUNK + 8, /* steps that the taps reach on, and the overread of the last vector */
    REDUCE_TAPS = BLUR_STAGE_RADIUS_MAX + 1, /* pairs of neighbours */
};

/* Sorts neighbouring pairs by their place in the step: stream[q][i] is pair i * count + q. */
static inline __attribute__((always_inline)) void simd_sort_pairs(int32_t stream[][REDUCE_STREAM],
                                                                  const int16_t *from, unsigned count) {
    int32_t pair[4 * REDUCE_STREAM];
    memcpy(pair, from, count * sizeof stream[0]);
    for (unsigned q = 0; q < count; q++) {
        for (unsigned i = 0; i < REDUCE_STREAM; i++) {
            stream[q][i] = pair[i * count + q];
        }
    }
}

/* Two neighbours are one 32-bit number, and step / 2 of them make a step: their streams are read side by
 * side, so that each result has a 32-bit lane. Inlined with a constant step, which tells the radius, too. */
static inline __attribute__((always_inline)) void
simd_reduce_by(int16_t *to, const int16_t *from, const struct taps *taps, unsigned step, size_t n) {
    const unsigned count = step / 2;
    const int reach = (int)step - 1; /* pairs -reach .. reach, the last without its second */
    const vec round = vec_all(VALUE_ROUND);
    int32_t stream[4][REDUCE_STREAM];
    int32_t weight[REDUCE_TAPS];
#pragma GCC unroll 16
    for (int m = -reach; m <= reach; m++) {
        int second = 2 * m + 1;
        weight[m + reach] = simd_pair(taps->weight[m < 0 ? -2 * m : 2 * m],
                                      m == reach ? 0 : taps->weight[second < 0 ? -second : second]);
    }
    for (size_t x = 0; x < n; x += REDUCE_CHUNK) {
        simd_sort_pairs(stream, from + (ptrdiff_t)(x * step) - (ptrdiff_t)(REDUCE_BEFORE * step), count);
        for (unsigned i = 0; i < REDUCE_CHUNK; i += VEC_LANES / 2) {
            vec sum = round;
#pragma GCC unroll 16
            for (int m = -reach; m <= reach; m++) {
                int place = m + (int)(REDUCE_BEFORE * count); /* not negative */
                const int32_t *at = &stream[(unsigned)place % count][(unsigned)place / count];
                sum = vec_multiply_add(sum, vec_load(at + i), vec_all(weight[m + reach]));
            }
            vec_store_halves(to + x + i, vec_shift(sum, BLUR_WEIGHT_BITS));
        }
    }
}

static void simd_reduce(void *to, const void *from, const struct taps *taps, unsigned shift,
                        unsigned channels, size_t n) {
    (void)channels;
    switch (shift) {
    case 1:
        simd_reduce_by(to, from, taps, 2, n);
        break;
    case 2:
        simd_reduce_by(to, from, taps, 4, n);
        break;
    default:
        simd_reduce_by(to, from, taps, 8, n);
        break;
    }
}

static void simd_replace(struct row_ops *ops) {
    ops->taps_source = simd_taps_source;
    ops->taps = simd_taps;
    ops->taps_last = simd_taps_last;
    ops->cubic_last = simd_cubic_last;
    ops->reduce = simd_reduce;
}
