/* SPDX-License-Identifier: MIT
 * Colours of 8 bits from colour times alpha, with one division for each pixel in place of four.
 * Included after the types of cpu/rows/rows_float.h, for registers of 32 and of 64 bytes.
 *
 * The definition rounds the quotient of colour and alpha. Colour times the reciprocal of alpha decides the
 * same sample, unless its value lies next to the border between two samples. The caller divides such chunks
 * as defined: about one of a hundred in noise.
 *
 * A value between 0 and 256 that is added to 256 leaves a float with 15 bits behind the point, so its bits
 * are the sample and its fraction. Half a sample is added, too, and QUICK_MORE units of the fraction: then
 * the sample is safe unless the fraction is below QUICK_UNSAFE. The errors add up to 2.25 units: at most 1 of
 * reciprocal and product, 0.5 of their sum, 0.5 of the defined quotient, 0.25 of its sum. No colour times
 * alpha exceeds 255 times alpha, so no value exceeds 255. */
#include <immintrin.h>

#include "cpu/rows/rows.h"

enum {
    QUICK_MORE = 2,
    QUICK_UNSAFE = 5,
    QUICK_GROUP = 4,                            /* vectors, whose alphas fill one */
    QUICK_ELEMENTS = QUICK_GROUP * FLOAT_LANES, /* eight pixels, or sixteen */
};

#define QUICK_ROUND (256.5F + (float)QUICK_MORE / 32768)

/* Reciprocals of smaller alphas may be infinite, and products with them inexact. */
#define QUICK_ALPHA_LEAST 0x1p-40F

#if VECTOR_BYTES == 64
typedef __m512 float_register;

/* Sixteen pixels with four channels. Lane l of vector i has pixel 4 i + l. */
struct float_quick {
    __m512 value[QUICK_GROUP];
    __m512 reciprocal; /* element i of lane l: of the alpha there in vector i; 0 where that is 0 */
    __mmask16 small;   /* set where alpha is too small */
};

/* Tells whether samples of a chunk may be wrong. */
struct float_quick_marks {
    __m512i least;   /* twice the smallest fraction */
    __mmask16 small; /* set where alpha is too small */
};

static inline struct float_quick_marks float_quick_begin(void) {
    return (struct float_quick_marks){.least = _mm512_set1_epi32(-1)};
}

static inline __attribute__((always_inline)) void float_quick_divide(struct float_quick *group) {
    const __m512 *value = group->value, zero = _mm512_setzero_ps();
    const __m512 low = _mm512_unpackhi_ps(value[0], value[1]), high = _mm512_unpackhi_ps(value[2], value[3]);
    const __m512 alpha = _mm512_shuffle_ps(low, high, 0xee);
    const __mmask16 enough = _mm512_cmp_ps_mask(alpha, _mm512_set1_ps(QUICK_ALPHA_LEAST), _CMP_GE_OQ);
    group->reciprocal = _mm512_maskz_div_ps(enough, _mm512_set1_ps(1), alpha);
    group->small = _mm512_mask_cmp_ps_mask((__mmask16)~enough, alpha, zero, _CMP_NEQ_UQ);
}

/* Colours times the reciprocal of their pixel; alpha is kept. */
static inline __attribute__((always_inline)) void float_quick_multiply(__m512 product[QUICK_GROUP],
                                                                       const struct float_quick *group) {
    enum { COLOURS = 0x7777 };
    const __m512 *value = group->value, factor = group->reciprocal;
    product[0] = _mm512_mask_mul_ps(value[0], COLOURS, value[0], _mm512_permute_ps(factor, 0x00));
    product[1] = _mm512_mask_mul_ps(value[1], COLOURS, value[1], _mm512_permute_ps(factor, 0x55));
    product[2] = _mm512_mask_mul_ps(value[2], COLOURS, value[2], _mm512_permute_ps(factor, 0xaa));
    product[3] = _mm512_mask_mul_ps(value[3], COLOURS, value[3], _mm512_permute_ps(factor, 0xff));
}

/* Stores the samples of the group. */
static inline __attribute__((always_inline)) void
float_quick_store(uint8_t *to, const struct float_quick *group, struct float_quick_marks *marks) {
    __m512 product[QUICK_GROUP];
    __m512i bits[QUICK_GROUP]; /* of each sample: 0x87, itself, and 16 bits of fraction */
    float_quick_multiply(product, group);
    for (unsigned i = 0; i < QUICK_GROUP; i++) {
        const __m512i sum = _mm512_castps_si512(_mm512_add_ps(product[i], _mm512_set1_ps(QUICK_ROUND)));
        bits[i] = _mm512_add_epi32(sum, sum);
        marks->least = _mm512_min_epu16(marks->least, bits[i]);
    }
    marks->small |= group->small;
    /* the bytes of each 32 bits are samples of the vectors 0, 2, 1 and 3 */
    const __mmask32 high = 0xaaaaaaaa;
    const __m512i first = _mm512_mask_mov_epi16(_mm512_srli_epi32(bits[0], 16), high, bits[1]);
    const __m512i second = _mm512_mask_mov_epi16(_mm512_srli_epi32(bits[2], 16), high, bits[3]);
    const __m512i bytes = _mm512_mask_mov_epi8(_mm512_slli_epi16(second, 8), 0x5555555555555555, first);
    const __m512i turn =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, _mm512_shuffle_epi8(bytes, turn)));
}

/* Whether samples may be wrong. */
static inline bool float_quick_doubt(const struct float_quick_marks *marks) {
    const __m512i unsafe = _mm512_set1_epi16(2 * QUICK_UNSAFE);
    return (_mm512_cmplt_epu16_mask(marks->least, unsafe) | marks->small) != 0;
}

#else /* registers of 32 bytes */

typedef __m256 float_register;

/* Eight pixels with four channels. Vector i has the pixels 2 i and 2 i + 1. */
struct float_quick {
    __m256 value[QUICK_GROUP];
    __m256 reciprocal; /* of the alphas of the pixels 0, 2, 4, 6, 1, 3, 5, 7; 0 where they are 0 */
    __m256 small;      /* not 0 where alpha is too small */
};

/* Tells whether samples of a chunk may be wrong. */
struct float_quick_marks {
    __m256i least; /* twice the smallest fraction */
    __m256 small;  /* not 0 where alpha is too small */
};

static inline struct float_quick_marks float_quick_begin(void) {
    return (struct float_quick_marks){.least = _mm256_set1_epi32(-1)};
}

static inline __attribute__((always_inline)) void float_quick_divide(struct float_quick *group) {
    const __m256 *value = group->value;
    const __m256 low = _mm256_unpackhi_ps(value[0], value[1]), high = _mm256_unpackhi_ps(value[2], value[3]);
    const __m256 alpha = _mm256_shuffle_ps(low, high, 0xee);
    const __m256 enough = _mm256_cmp_ps(alpha, _mm256_set1_ps(QUICK_ALPHA_LEAST), _CMP_GE_OQ);
    group->reciprocal = _mm256_and_ps(_mm256_div_ps(_mm256_set1_ps(1), alpha), enough);
    group->small = _mm256_andnot_ps(enough, alpha);
}

/* Colours times the reciprocal of their pixel; alpha is kept. */
static inline __attribute__((always_inline)) void float_quick_multiply(__m256 product[QUICK_GROUP],
                                                                       const struct float_quick *group) {
    const __m256 one = _mm256_set1_ps(1), factor = group->reciprocal;
    const __m256 even = _mm256_blend_ps(factor, one, 0xaa), odd = _mm256_blend_ps(factor, one, 0x55);
    product[0] = _mm256_mul_ps(group->value[0], _mm256_shuffle_ps(factor, even, 0x40));
    product[1] = _mm256_mul_ps(group->value[1], _mm256_shuffle_ps(factor, odd, 0x15));
    product[2] = _mm256_mul_ps(group->value[2], _mm256_shuffle_ps(factor, even, 0x6a));
    product[3] = _mm256_mul_ps(group->value[3], _mm256_shuffle_ps(factor, odd, 0x3f));
}

/* Stores the samples of the group. */
static inline __attribute__((always_inline)) void
float_quick_store(uint8_t *to, const struct float_quick *group, struct float_quick_marks *marks) {
    __m256 product[QUICK_GROUP];
    __m256i bits[QUICK_GROUP]; /* of each sample: 0x87, itself, and 16 bits of fraction */
    float_quick_multiply(product, group);
    for (unsigned i = 0; i < QUICK_GROUP; i++) {
        const __m256i sum = _mm256_castps_si256(_mm256_add_ps(product[i], _mm256_set1_ps(QUICK_ROUND)));
        bits[i] = _mm256_add_epi32(sum, sum);
        marks->least = _mm256_min_epu16(marks->least, bits[i]);
    }
    marks->small = _mm256_or_ps(marks->small, group->small);
    /* the bytes of each 32 bits are samples of the vectors 0, 2, 1 and 3 */
    const __m256i first = _mm256_blend_epi16(_mm256_srli_epi32(bits[0], 16), bits[1], 0xaa);
    const __m256i second = _mm256_blend_epi16(_mm256_srli_epi32(bits[2], 16), bits[3], 0xaa);
    const __m256i bytes = _mm256_blendv_epi8(_mm256_slli_epi16(second, 8), first, _mm256_set1_epi16(0xff));
    const __m256i turn =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 2, 6, 10, 14, 1, 5, 9, 13, 3, 7, 11, 15));
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i pixels = _mm256_permutevar8x32_epi32(_mm256_shuffle_epi8(bytes, turn), order);
    _mm256_storeu_si256((void *)to, pixels);
}

/* Whether samples may be wrong. */
static inline bool float_quick_doubt(const struct float_quick_marks *marks) {
    const __m256i near = _mm256_subs_epu16(_mm256_set1_epi16(2 * QUICK_UNSAFE), marks->least);
    const __m256i doubt = _mm256_or_si256(near, _mm256_castps_si256(marks->small));
    return !_mm256_testz_si256(doubt, doubt);
}
#endif
