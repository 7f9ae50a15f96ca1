/* SPDX-License-Identifier: MIT
 * Each pixel depends on the one before, so the time is the number of dependent steps between two pixels. A
 * pixel of any size is one vector. Work that does not need the left pixel is kept off that path. Wider
 * vectors (AVX2) do not shorten the path. */
#include "codecs/png/png_filter.h"

#include <stdlib.h>
#include <string.h>

static uint8_t paeth(int a, int b, int c) {
    int pa = abs(b - c), pb = abs(a - c), pc = abs(a + b - 2 * c);
    return (uint8_t)(pa <= pb && pa <= pc ? a : pb <= pc ? b : c);
}

bool png_unfilter_plain(unsigned filter, const struct png_row *row) {
    for (size_t i = 0; i < row->size; i++) {
        uint8_t left = i < row->pixel ? 0 : row->to[i - row->pixel];
        uint8_t corner = i < row->pixel ? 0 : row->above[i - row->pixel];
        uint8_t above = row->above[i];
        const uint8_t predicted[FILTER_COUNT] = {
            0, left, above, (uint8_t)((left + above) / 2), paeth(left, above, corner),
        };
        if (filter >= FILTER_COUNT) {
            return false;
        }
        row->to[i] = (uint8_t)(row->from[i] + predicted[filter]);
    }
    return filter < FILTER_COUNT;
}

#if defined(__x86_64__)
#include <emmintrin.h>

#define INLINE static inline __attribute__((always_inline))

/* `bytes` is a constant wherever these are inlined. */
INLINE __m128i load(const uint8_t *from, unsigned bytes) {
    uint64_t value = 0;
    memcpy(&value, from, bytes);
    return _mm_cvtsi64_si128((long long)value);
}
INLINE void store(uint8_t *to, __m128i a, unsigned bytes) {
    uint64_t value = (uint64_t)_mm_cvtsi128_si64(a);
    memcpy(to, &value, bytes);
}
INLINE __m128i load_wide(const uint8_t *from, unsigned bytes) {
    return _mm_unpacklo_epi8(load(from, bytes), _mm_setzero_si128());
}

/* The left pixel is kept inverted: the rounding up of pavgb becomes the rounding down that PNG wants, as
 * ~avg(~a, ~b) = (a + b) / 2, and ~(x + ~n) = n - x. */
INLINE __m128i step_avg(__m128i x, __m128i inverted, __m128i above) {
    __m128i ones = _mm_set1_epi8(-1);
    return _mm_sub_epi8(_mm_avg_epu8(inverted, _mm_xor_si128(above, ones)), x);
}

/* 16 bits a sample. Paeth's choice without distances: with t = 3c - b - a it is min(a, b) where max(a, b)
 * <= t, max(a, b) where t <= min(a, b), else c. Both hold only where all are equal. */
INLINE __m128i step_paeth(__m128i x, __m128i a, __m128i b, __m128i c) {
    __m128i thrice = _mm_add_epi16(c, _mm_add_epi16(c, c));
    __m128i low = _mm_min_epi16(a, b), high = _mm_max_epi16(a, b);
    /* The subtraction saturates, though never here: compilers would rearrange a plain one into a longer
     * path. */
    __m128i t = _mm_subs_epi16(_mm_sub_epi16(thrice, b), a);
    __m128i to_low = _mm_andnot_si128(_mm_cmpgt_epi16(high, t), _mm_sub_epi8(low, c));
    __m128i to_high = _mm_andnot_si128(_mm_cmpgt_epi16(t, low), _mm_sub_epi8(high, c));
    return _mm_add_epi8(_mm_add_epi8(to_low, to_high), _mm_add_epi8(c, x));
}

/* Moves `wide` bytes, at most two pixels, for each pixel but the last, behind which there is no room. The
 * next pixel overwrites surplus bytes. */
INLINE void undo_sub(struct png_row row, unsigned pixel, unsigned wide) {
    __m128i left = _mm_setzero_si128();
    size_t i = 0;
    for (; i + pixel < row.size; i += pixel) {
        left = _mm_add_epi8(left, load(row.from + i, wide));
        store(row.to + i, left, wide);
    }
    store(row.to + i, _mm_add_epi8(left, load(row.from + i, pixel)), pixel);
}

INLINE void undo_avg(struct png_row row, unsigned pixel, unsigned wide) {
    __m128i ones = _mm_set1_epi8(-1), left = ones;
    size_t i = 0;
    for (; i + pixel < row.size; i += pixel) {
        left = step_avg(load(row.from + i, wide), left, load(row.above + i, wide));
        store(row.to + i, _mm_xor_si128(left, ones), wide);
    }
    left = step_avg(load(row.from + i, pixel), left, load(row.above + i, pixel));
    store(row.to + i, _mm_xor_si128(left, ones), pixel);
}

/* Where the pixel to the left is as the one above it, Paeth predicts the one above. So pixels without a
 * difference are those above, all at once, which is most of a screenshot. */
enum { FLAT = 16 }; /* pixels that are looked at together */

INLINE bool is_zero(const uint8_t *from, size_t size) {
    __m128i any = _mm_setzero_si128();
    for (size_t i = 0; i < size; i += sizeof(any)) {
        any = _mm_or_si128(any, _mm_loadu_si128((const void *)(from + i)));
    }
    return _mm_movemask_epi8(_mm_cmpeq_epi8(any, _mm_setzero_si128())) == 0xFFFF;
}

/* Whether pixels are the same in the lower half, and in the higher one if there are two. */
INLINE bool is_same(__m128i a, __m128i b, unsigned pixel, bool two) {
    const int samples = (1 << 2 * pixel) - 1, wanted = two ? samples << 8 | samples : samples;
    return (_mm_movemask_epi8(_mm_cmpeq_epi8(a, b)) & wanted) == wanted;
}

INLINE void undo_paeth(struct png_row row, unsigned pixel, unsigned wide) {
    __m128i left = _mm_setzero_si128(), corner = left;
    const size_t flat = (size_t)FLAT * pixel, last = row.size - pixel;
    size_t i = 0;
    while (i < last) {
        size_t end = last - i > flat ? i + flat : last;
        if (end == i + flat && is_same(left, corner, pixel, false) && is_zero(row.from + i, flat)) {
            memcpy(row.to + i, row.above + i, flat);
            left = corner = load_wide(row.above + end - pixel, wide);
            i = end;
        }
        for (; i < end; i += pixel) {
            __m128i above = load_wide(row.above + i, wide);
            left = step_paeth(load_wide(row.from + i, wide), left, above, corner);
            corner = above;
            store(row.to + i, _mm_packus_epi16(left, left), wide);
        }
    }
    left = step_paeth(load_wide(row.from + i, pixel), left, load_wide(row.above + i, pixel), corner);
    store(row.to + i, _mm_packus_epi16(left, left), pixel);
}

/* Two rows in one vector: the upper row in the low half, and in the high half the lower row, LAG pixels
 * behind. With a lag of two pixels, the lower row does not wait for the step before. */
enum { LAG = 2 };

struct pair {
    struct png_row upper, lower;
    __m128i left, before, corner; /* the last step's pixels, those of the step before, those above `left` */
};

/* Undoes the upper row's pixel at i and the lower row's LAG pixels before it. Moves as many bytes of each;
 * 0: none. */
INLINE void step_pair(struct pair *pair, size_t i, unsigned pixel, unsigned upper, unsigned lower) {
    const __m128i zero = _mm_setzero_si128();
    __m128i x = upper > 0 ? load(pair->upper.from + i, upper) : zero;
    __m128i y = lower > 0 ? load(pair->lower.from + (i - LAG * pixel), lower) : zero;
    __m128i above = upper > 0 ? load_wide(pair->upper.above + i, upper) : zero;
    __m128i both = _mm_unpacklo_epi8(_mm_unpacklo_epi32(x, y), zero);
    above = _mm_unpacklo_epi64(above, pair->before);
    pair->before = pair->left;
    pair->left = step_paeth(both, pair->left, above, pair->corner);
    pair->corner = above;
    __m128i packed = _mm_packus_epi16(pair->left, pair->left);
    if (upper > 0) {
        store(pair->upper.to + i, packed, upper);
    }
    if (lower > 0) {
        store(pair->lower.to + (i - LAG * pixel), _mm_srli_epi64(packed, 32), lower);
    }
}

/* Undoes FLAT pixels of each row at once, if they are those above. */
INLINE bool copy_flat(struct pair *pair, size_t i, unsigned pixel, unsigned wide) {
    const struct png_row *upper = &pair->upper, *lower = &pair->lower;
    const size_t flat = (size_t)FLAT * pixel, end = i + flat, k = i - LAG * pixel;
    const bool same = is_same(pair->left, pair->corner, pixel, true) && is_zero(upper->from + i, flat) &&
                      is_zero(lower->from + k, flat);
    if (same) {
        memcpy(upper->to + i, upper->above + i, flat);
        memcpy(lower->to + k, upper->to + k, flat);
        pair->before = load_wide(upper->to + end - 2 * pixel, wide);
        pair->left = _mm_unpacklo_epi64(load_wide(upper->to + end - pixel, wide),
                                        load_wide(lower->to + k + flat - pixel, wide));
        pair->corner = pair->left;
    }
    return same;
}

/* Needs more than LAG pixels, of at most four bytes. */
INLINE void undo_pair(const struct png_row *upper, const struct png_row *lower, unsigned pixel,
                      unsigned wide) {
    const __m128i zero = _mm_setzero_si128();
    struct pair pair = {*upper, *lower, zero, zero, zero};
    const size_t flat = (size_t)FLAT * pixel, last = upper->size - pixel;
    size_t i = 0;
    for (; i < (size_t)LAG * pixel; i += pixel) {
        step_pair(&pair, i, pixel, wide, 0);
    }
    while (i < last) {
        const size_t end = last - i > flat ? i + flat : last;
        if (end == i + flat && copy_flat(&pair, i, pixel, wide)) {
            i = end;
        }
        for (; i < end; i += pixel) {
            step_pair(&pair, i, pixel, wide, wide);
        }
    }
    step_pair(&pair, last, pixel, pixel, wide);
    step_pair(&pair, last + pixel, pixel, 0, wide);
    step_pair(&pair, last + (size_t)LAG * pixel, pixel, 0, pixel);
}

static void undo_up(uint8_t *restrict to, const uint8_t *restrict from, const uint8_t *restrict above,
                    size_t size) {
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)(from[i] + above[i]);
    }
}

INLINE void undo(unsigned filter, const struct png_row *row, unsigned pixel, unsigned wide) {
    switch (filter) {
    case FILTER_SUB:
        undo_sub(*row, pixel, wide);
        break;
    case FILTER_AVG:
        undo_avg(*row, pixel, wide);
        break;
    default:
        undo_paeth(*row, pixel, wide);
    }
}

static void undo_left(unsigned filter, const struct png_row *row) {
    switch (row->pixel) {
    case 1:
        undo(filter, row, 1, 1);
        break;
    case 2:
        undo(filter, row, 2, 2);
        break;
    case 3:
        undo(filter, row, 3, 4);
        break;
    case 4:
        undo(filter, row, 4, 4);
        break;
    case 6:
        undo(filter, row, 6, 8);
        break;
    default:
        undo(filter, row, 8, 8);
    }
}

bool png_unfilter(unsigned filter, const struct png_row *row) {
    if (filter == FILTER_NONE) {
        memcpy(row->to, row->from, row->size);
    } else if (filter == FILTER_UP) {
        undo_up(row->to, row->from, row->above, row->size);
    } else if (filter < FILTER_COUNT) {
        undo_left(filter, row);
    }
    return filter < FILTER_COUNT;
}

void png_unfilter_paeth_pair(const struct png_row *upper, const struct png_row *lower) {
    if (upper->pixel == 3 && upper->size > LAG * 3) {
        undo_pair(upper, lower, 3, 4);
    } else if (upper->pixel == 4 && upper->size > LAG * 4) {
        undo_pair(upper, lower, 4, 4);
    } else {
        undo_left(FILTER_PAETH, upper);
        undo_left(FILTER_PAETH, lower);
    }
}

#else

void png_unfilter_paeth_pair(const struct png_row *upper, const struct png_row *lower) {
    png_unfilter_plain(FILTER_PAETH, upper);
    png_unfilter_plain(FILTER_PAETH, lower);
}

bool png_unfilter(unsigned filter, const struct png_row *row) {
    return png_unfilter_plain(filter, row);
}

#endif
