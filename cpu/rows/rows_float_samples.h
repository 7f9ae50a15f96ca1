/* SPDX-License-Identifier: MIT
 * Samples to floating-point values and back. Included once per instruction set, by cpu/rows/rows_float.h.
 *
 * Rows are converted in chunks: simple loops widen and narrow a chunk, since compilers vectorise these well,
 * and vectors multiply it by alpha or divide it. A lane of alpha itself has the factor 1, which is exact. */
#include <string.h>

#include "cpu/rows/rows.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

enum {
    FLOAT_CHUNK = 64, /* elements: whole vectors, and whole pixels of 1, 2 and 4 channels */
    CHUNK_VECTORS = FLOAT_CHUNK / FLOAT_LANES,
};

/* Rows of a picture follow each other in memory, but other work lies between: the processor does not fetch
 * the next one by itself. Bytes to fetch ahead: about a row of a common picture, and a strip of the blur. */
enum { LOAD_AHEAD = 8192, STORE_AHEAD = 1024 };

/* The address may lie outside of the picture. */
static inline __attribute__((always_inline)) void float_prefetch(const void *at, size_t ahead, bool write) {
    const void *address = (const void *)((uintptr_t)at + ahead);
    if (write) {
        __builtin_prefetch(address, 1);
    } else {
        __builtin_prefetch(address, 0);
    }
}

typedef int32_t float_mask __attribute__((vector_size(VECTOR_BYTES)));

/* The factors of interleaved pixels: alpha for each colour, 1 for alpha. */
static inline floats float_alphas(floats pixels, unsigned channels) {
    const floats one = (floats){0} + 1;
#if VECTOR_BYTES == 64
    if (channels == 2) {
        return __builtin_shufflevector(pixels, one, 1, 16, 3, 16, 5, 16, 7, 16, 9, 16, 11, 16, 13, 16, 15,
                                       16);
    }
    return __builtin_shufflevector(pixels, one, 3, 3, 3, 16, 7, 7, 7, 16, 11, 11, 11, 16, 15, 15, 15, 16);
#elif VECTOR_BYTES == 32
    if (channels == 2) {
        return __builtin_shufflevector(pixels, one, 1, 8, 3, 8, 5, 8, 7, 8);
    }
    /* two instructions that stay within 16 bytes, as one across them would take longer */
    return __builtin_shufflevector(__builtin_shufflevector(pixels, pixels, 3, 3, 3, 3, 7, 7, 7, 7), one, 0, 1,
                                   2, 8, 4, 5, 6, 8);
#else
    if (channels == 2) {
        return __builtin_shufflevector(pixels, one, 1, 4, 3, 4);
    }
    return __builtin_shufflevector(pixels, one, 3, 3, 3, 4);
#endif
}

/* Makes values of a chunk. Inlined with constants: `depth`, and `channels`, 1 without alpha. */
static inline __attribute__((always_inline)) void
float_load_chunk(float *restrict to, const void *restrict from, unsigned depth, unsigned channels) {
    const uint8_t *narrow = from;
    const uint16_t *wide = from;
    for (unsigned i = 0; i < FLOAT_CHUNK; i++) {
        to[i] = depth == 8 ? narrow[i] : wide[i];
    }
    for (unsigned i = 0; i < FLOAT_CHUNK && channels > 1; i += FLOAT_LANES) {
        floats value = float_at(to + i);
        float_put(to + i, value * float_alphas(value, channels));
    }
}

/* Touches exactly n elements: others may be no part of a picture, or be the next row of a ring. */
static inline __attribute__((always_inline)) void float_load_row(float *to, const void *from, unsigned depth,
                                                                 unsigned channels, size_t n) {
    const uint8_t *bytes = from;
    const size_t size = depth / 8;
    size_t i = 0;
    for (; i + FLOAT_CHUNK <= n; i += FLOAT_CHUNK) {
        float_load_chunk(to + i, bytes + i * size, depth, channels);
    }
    if (i < n) {
        uint16_t rest[FLOAT_CHUNK] = {0};
        float last[FLOAT_CHUNK];
        memcpy(rest, bytes + i * size, (n - i) * size);
        float_load_chunk(last, rest, depth, channels);
        memcpy(to + i, last, (n - i) * sizeof last[0]);
    }
}

static inline __attribute__((always_inline)) void
float_load_depth(float *to, const void *from, const struct row_format *format, unsigned depth, size_t n) {
    if (!format->alpha) {
        float_load_row(to, from, depth, 1, n);
    } else if (format->channels == 2) {
        float_load_row(to, from, depth, 2, n);
    } else {
        float_load_row(to, from, depth, 4, n);
    }
}

static void float_load(float *to, const void *from, const struct row_format *format, size_t pixels) {
    if (format->depth == 8) {
        float_load_depth(to, from, format, 8, pixels * format->channels);
    } else {
        float_load_depth(to, from, format, 16, pixels * format->channels);
    }
}

#if VECTOR_BYTES == 32
/* Multiplies the colours of pixels of four channels by alpha. */
static inline void float_multiply_four(uint16_t *to, const uint8_t *from) {
    const __m256i alphas = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(6, -1, 6, -1, 6, -1, -1, -1, 14, -1, 14, -1, 14, -1, -1, -1));
    const __m256i one = _mm256_set1_epi64x(INT64_C(1) << 48);
    for (unsigned i = 0; i < FLOAT_CHUNK; i += 16) {
        const __m256i value = _mm256_cvtepu8_epi16(_mm_loadu_si128((const void *)(from + i)));
        const __m256i factor = _mm256_or_si256(_mm256_shuffle_epi8(value, alphas), one);
        _mm256_storeu_si256((void *)(to + i), _mm256_mullo_epi16(value, factor));
    }
}
#endif

/* Multiplies the colours of interleaved pixels by alpha. A pixel is one number, whose highest sample is
 * alpha: this spreads it to the lower ones, and puts 1 in its place. */
static inline void float_multiply_chunk(uint16_t *restrict to, const uint8_t *restrict from,
                                        unsigned channels) {
#if VECTOR_BYTES == 32
    if (channels == 4) {
        float_multiply_four(to, from);
        return;
    }
#endif
    typedef uint16_t halves __attribute__((vector_size(VECTOR_BYTES)));
    typedef uint32_t twos __attribute__((vector_size(VECTOR_BYTES)));
    typedef uint64_t fours __attribute__((vector_size(VECTOR_BYTES)));
    uint16_t wide[FLOAT_CHUNK];
    for (unsigned i = 0; i < FLOAT_CHUNK; i++) {
        wide[i] = from[i];
    }
    for (unsigned i = 0; i < FLOAT_CHUNK; i += VECTOR_BYTES / sizeof wide[0]) {
        halves value;
        memcpy(&value, wide + i, sizeof value);
        if (channels == 2) {
            value *= (halves)((twos)value >> 16 | 1U << 16);
        } else {
            fours alpha = (fours)value >> 48;
            value *= (halves)(alpha | alpha << 16 | alpha << 32 | UINT64_C(1) << 48);
        }
        memcpy(to + i, &value, sizeof value);
    }
}

static inline __attribute__((always_inline)) void float_multiply_row(uint16_t *to, const uint8_t *from,
                                                                     unsigned channels, size_t n) {
    size_t i = 0;
    for (; i + FLOAT_CHUNK <= n; i += FLOAT_CHUNK) {
        float_prefetch(from + i, LOAD_AHEAD, false);
        float_multiply_chunk(to + i, from + i, channels);
    }
    if (i < n) {
        uint8_t rest[FLOAT_CHUNK] = {0};
        uint16_t last[FLOAT_CHUNK];
        memcpy(rest, from + i, n - i);
        float_multiply_chunk(last, rest, channels);
        memcpy(to + i, last, (n - i) * sizeof last[0]);
    }
}

static void float_multiply(uint16_t *to, const uint8_t *from, const struct row_format *format,
                           size_t pixels) {
    size_t n = pixels * format->channels;
    if (!format->alpha) {
        for (size_t i = 0; i < n; i++) {
            to[i] = from[i];
        }
    } else if (format->channels == 2) {
        float_multiply_row(to, from, 2, n);
    } else {
        float_multiply_row(to, from, 4, n);
    }
}

#if VECTOR_BYTES >= 32
#include "cpu/rows/rows_float_quick.h"
#endif

/* Quotients, 0 where the divisor is not positive. The division is unconditional, since vectors have no
 * branches. */
static inline floats float_divided(floats value, floats divisor) {
#if VECTOR_BYTES == 64
    __mmask16 some = _mm512_cmp_ps_mask((__m512)divisor, _mm512_setzero_ps(), _CMP_GT_OQ);
    return (floats)_mm512_maskz_div_ps(some, (__m512)value, (__m512)divisor);
#else
    float_mask positive = divisor > 0;
    float_mask one = (float_mask)((floats){0} + 1);
    floats safe = (floats)(((float_mask)divisor & positive) | (one & ~positive));
    return (floats)((float_mask)(value / safe) & positive);
#endif
}

/* Divides the colours of interleaved pixels by alpha. */
static inline floats float_colours(floats pixels, unsigned channels) {
    return float_divided(pixels, float_alphas(pixels, channels));
}

/* Rounds half up; values above `max`, also infinity, become `max`. No value is negative, so the cast rounds
 * down. */
static inline float_mask float_rounded(floats value, float max) {
    const floats most = (floats){0} + max;
    floats raised = value + 0.5f;
#if VECTOR_BYTES == 64
    raised = (floats)_mm512_min_ps((__m512)raised, (__m512)most);
#elif VECTOR_BYTES == 32
    raised = (floats)_mm256_min_ps((__m256)raised, (__m256)most);
#elif defined(__SSE2__)
    raised = (floats)_mm_min_ps((__m128)raised, (__m128)most);
#else
    float_mask below = raised < most;
    raised = (floats)(((float_mask)raised & below) | ((float_mask)most & ~below));
#endif
    return __builtin_convertvector(raised, float_mask);
}

#if VECTOR_BYTES == 64
/* Four vectors of samples to bytes. Instructions pack the quarters of registers separately. */
static inline void float_pack_bytes(uint8_t *to, const float_mask sample[4]) {
    __m512i low = _mm512_packs_epi32((__m512i)sample[0], (__m512i)sample[1]);
    __m512i high = _mm512_packs_epi32((__m512i)sample[2], (__m512i)sample[3]);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    _mm512_storeu_si512(to, _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high)));
}
#elif VECTOR_BYTES == 32
/* Four vectors of samples to bytes. Instructions pack the halves of registers separately. */
static inline void float_pack_bytes(uint8_t *to, const float_mask sample[4]) {
    __m256i low = _mm256_packs_epi32((__m256i)sample[0], (__m256i)sample[1]);
    __m256i high = _mm256_packs_epi32((__m256i)sample[2], (__m256i)sample[3]);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
    _mm256_storeu_si256((void *)to, bytes);
}
#elif VECTOR_BYTES == 16 && defined(__SSE2__)
static inline void float_pack_bytes(uint8_t *to, const float_mask sample[4]) {
    __m128i low = _mm_packs_epi32((__m128i)sample[0], (__m128i)sample[1]);
    __m128i high = _mm_packs_epi32((__m128i)sample[2], (__m128i)sample[3]);
    _mm_storeu_si128((void *)to, _mm_packus_epi16(low, high));
}
#endif

/* Narrows a chunk of samples to their depth. */
static inline __attribute__((always_inline)) void
float_narrow_chunk(void *to, const float_mask sample[CHUNK_VECTORS], unsigned depth) {
    uint8_t *restrict narrow = to;
    uint16_t *restrict wide = to;
    const int32_t *from = (const int32_t *)sample;
#if defined(__SSE2__) /* packing saturates, and needs no masks */
    for (unsigned i = 0; i < CHUNK_VECTORS && depth == 8; i += 4) {
        float_pack_bytes(narrow + (size_t)i * FLOAT_LANES, sample + i);
    }
#else
    for (unsigned i = 0; i < FLOAT_CHUNK && depth == 8; i++) {
        narrow[i] = (uint8_t)from[i];
    }
#endif
    for (unsigned i = 0; i < FLOAT_CHUNK && depth == 16; i++) {
        wide[i] = (uint16_t)from[i];
    }
}

/* Values: those of row[0], or the spline through four rows. */
struct float_rows {
    const float *row[BLUR_TAPS_ENLARGE];
    bool spline;
    float weight[BLUR_TAPS_ENLARGE];
};

static inline __attribute__((always_inline)) floats float_value(const struct float_rows *from, size_t x) {
    if (!from->spline) {
        return float_at(from->row[0] + x);
    }
    floats sum = float_at(from->row[0] + x) * from->weight[0];
    sum = sum + float_at(from->row[1] + x) * from->weight[1];
    sum = sum + float_at(from->row[2] + x) * from->weight[2];
    return sum + float_at(from->row[3] + x) * from->weight[3];
}

/* Makes samples of a chunk of values. */
static inline __attribute__((always_inline)) void
float_store_chunk(void *to, const struct float_rows *from, size_t x, unsigned depth, unsigned channels) {
    float_mask sample[CHUNK_VECTORS];
    for (unsigned i = 0; i < CHUNK_VECTORS; i++) {
        floats value = float_value(from, x + (size_t)i * FLOAT_LANES);
        value = channels > 1 ? float_colours(value, channels) : value;
        sample[i] = float_rounded(value, depth == 8 ? 255 : 65535);
    }
    float_narrow_chunk(to, sample, depth);
}

#if VECTOR_BYTES >= 32
static inline __attribute__((always_inline)) struct float_quick
float_quick_read(const struct float_rows *from, size_t x) {
    struct float_quick group;
    for (unsigned i = 0; i < QUICK_GROUP; i++) {
        group.value[i] = (float_register)float_value(from, x + (size_t)i * FLOAT_LANES);
    }
    float_quick_divide(&group);
    return group;
}

/* Makes samples of chunks of pixels with four channels of 8 bits; returns the number of elements. Where a
 * chunk has several groups, the next one is read, and its division begins, before the last one is stored. */
static inline __attribute__((always_inline)) size_t float_quick_row(uint8_t *to,
                                                                    const struct float_rows *from, size_t n) {
    const size_t ahead = (int)QUICK_ELEMENTS < (int)FLOAT_CHUNK ? QUICK_ELEMENTS : 0;
    size_t x = 0;
    struct float_quick group = float_quick_read(from, 0);
    for (; x + FLOAT_CHUNK <= n; x += FLOAT_CHUNK) {
        struct float_quick_marks marks = float_quick_begin();
        float_prefetch(to + x, STORE_AHEAD, true);
        for (size_t i = 0; i < FLOAT_CHUNK; i += QUICK_ELEMENTS) {
            const struct float_quick next = float_quick_read(from, x + i + ahead);
            float_quick_store(to + x + i, ahead > 0 ? &group : &next, &marks);
            group = next;
        }
        if (__builtin_expect(float_quick_doubt(&marks), false)) {
            float_store_chunk(to + x, from, x, 8, 4);
        }
    }
    return x;
}
#endif

static inline __attribute__((always_inline)) void
float_store_row(void *to, const struct float_rows *from, unsigned depth, unsigned channels, size_t n) {
    uint8_t *bytes = to;
    const size_t size = depth / 8;
#if VECTOR_BYTES >= 32
    size_t x = depth == 8 && channels == 4 ? float_quick_row(to, from, n) : 0;
#else
    size_t x = 0;
#endif
    for (; x + FLOAT_CHUNK <= n; x += FLOAT_CHUNK) {
        float_prefetch(bytes + x * size, STORE_AHEAD, true);
        float_store_chunk(bytes + x * size, from, x, depth, channels);
    }
    if (x < n) {
        uint16_t rest[FLOAT_CHUNK];
        float_store_chunk(rest, from, x, depth, channels);
        memcpy(bytes + x * size, rest, (n - x) * size);
    }
}

static inline __attribute__((always_inline)) void float_store_depth(void *to, const struct float_rows *from,
                                                                    const struct row_format *format,
                                                                    unsigned depth, size_t n) {
    if (!format->alpha) {
        float_store_row(to, from, depth, 1, n);
    } else if (format->channels == 2) {
        float_store_row(to, from, depth, 2, n);
    } else {
        float_store_row(to, from, depth, 4, n);
    }
}

static inline __attribute__((always_inline)) void
float_store_rows(void *to, const struct float_rows *from, const struct row_format *format, size_t pixels) {
    if (format->depth == 8) {
        float_store_depth(to, from, format, 8, pixels * format->channels);
    } else {
        float_store_depth(to, from, format, 16, pixels * format->channels);
    }
}

static void float_store(void *to, const float *from, const struct row_format *format, size_t pixels) {
    const struct float_rows rows = {.row = {from}};
    float_store_rows(to, &rows, format, pixels);
}

static void float_cubic_store(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                              unsigned phase, const struct row_format *format, size_t pixels) {
    struct float_rows rows = {.spline = true};
    for (unsigned k = 0; k < BLUR_TAPS_ENLARGE; k++) {
        rows.row[k] = row[k];
        rows.weight[k] = cubic->weight_float[k][phase];
    }
    float_store_rows(to, &rows, format, pixels);
}
