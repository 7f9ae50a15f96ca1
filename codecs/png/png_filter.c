/* SPDX-License-Identifier: MIT
 * All neighbours of a byte are known when filtering, unlike when undoing, so plain loops are vectorised.
 * Each loop is written as the compiler needs it for that. */
#include "codecs/png/png_filter.h"

#include <string.h>

#include "core/processor.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* a: left, b: above, c: above to the left. The distances of a + b - c from them are |b - c|, |a - c| and
 * |a + b - 2c|. */
ALWAYS_INLINE uint8_t paeth(int16_t a, int16_t b, int16_t c) {
    int16_t da = (int16_t)(b - c), db = (int16_t)(a - c), dc = (int16_t)(da + db);
    da = (int16_t)(da < 0 ? -da : da);
    db = (int16_t)(db < 0 ? -db : db);
    dc = (int16_t)(dc < 0 ? -dc : dc);
    int16_t other = db <= dc ? b : c;
    int16_t least = db <= dc ? db : dc;
    return (uint8_t)(da <= least ? a : other);
}

ALWAYS_INLINE void do_sub(uint8_t *restrict to, const uint8_t *x, const uint8_t *a, size_t size) {
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)(x[i] - a[i]);
    }
}

ALWAYS_INLINE void do_avg(uint8_t *restrict to, const uint8_t *x, const uint8_t *a, const uint8_t *b,
                          size_t size) {
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)(x[i] - ((a[i] + b[i]) >> 1));
    }
}

ALWAYS_INLINE void do_paeth(uint8_t *restrict to, const uint8_t *x, const uint8_t *a, const uint8_t *b,
                            const uint8_t *c, size_t size) {
    for (size_t i = 0; i < size; i++) {
        to[i] = (uint8_t)(x[i] - paeth(a[i], b[i], c[i]));
    }
}

ALWAYS_INLINE void filter_row(unsigned filter, const struct png_row *row) {
    uint8_t *to = row->to + row->pixel;
    const uint8_t *x = row->from + row->pixel, *a = row->from, *b = row->above + row->pixel, *c = row->above;
    size_t size = row->size - row->pixel;
    for (unsigned i = 0; i < row->pixel; i++) {
        /* Without a left pixel Paeth chooses the byte above. */
        const uint8_t above = row->above[i];
        const uint8_t predicted[FILTER_COUNT] = {0, 0, above, above / 2, above};
        row->to[i] = (uint8_t)(row->from[i] - predicted[filter]);
    }
    switch (filter) {
    case FILTER_NONE:
        memcpy(to, x, size);
        break;
    case FILTER_SUB:
        do_sub(to, x, a, size);
        break;
    case FILTER_UP:
        do_sub(to, x, b, size);
        break;
    case FILTER_AVG:
        do_avg(to, x, a, b, size);
        break;
    default:
        do_paeth(to, x, a, b, c, size);
    }
}

ALWAYS_INLINE uint64_t sum_row(const uint8_t *bytes, size_t size) {
    uint64_t sum = 0;
    for (size_t i = 0; i < size;) {
        size_t end = size - i > 4096 ? i + 4096 : size;
        uint32_t part = 0;
        for (; i < end; i++) {
            uint8_t negative = (uint8_t)-bytes[i];
            part += bytes[i] < negative ? bytes[i] : negative;
        }
        sum += part;
    }
    return sum;
}

/* The same loops for processors with wider vectors. */
#if defined(__x86_64__)
static void filter_row_baseline(unsigned filter, const struct png_row *row) {
    filter_row(filter, row);
}

__attribute__((target("avx2"))) static void filter_row_avx2(unsigned filter, const struct png_row *row) {
    filter_row(filter, row);
}

__attribute__((target("avx2"))) static uint64_t sum_row_avx2(const uint8_t *bytes, size_t size) {
    return sum_row(bytes, size);
}

void png_filter(unsigned filter, const struct png_row *row) {
    (processor_allows(PROCESSOR_AVX2) ? filter_row_avx2 : filter_row_baseline)(filter, row);
}

uint64_t png_filter_sum(const uint8_t *bytes, size_t size) {
    return processor_allows(PROCESSOR_AVX2) ? sum_row_avx2(bytes, size) : sum_row(bytes, size);
}
#else
void png_filter(unsigned filter, const struct png_row *row) {
    filter_row(filter, row);
}

uint64_t png_filter_sum(const uint8_t *bytes, size_t size) {
    return sum_row(bytes, size);
}
#endif
