/* SPDX-License-Identifier: MIT
 * Row primitives of the resize. Included once per instruction set after cpu/rows/rows_filters.h: they use its
 * vectors and follow its rules of rounding. */
#include "cpu/rows/rows.h"

typedef float resize_four __attribute__((vector_size(16)));

enum { RESIZE_VECTORS = RESIZE_ROWS / FLOAT_LANES, RESIZE_QUARTER = RESIZE_ROWS / 4 };

static inline resize_four resize_four_at(const float *from) {
    resize_four value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void resize_four_put(float *to, resize_four value) {
    memcpy(to, &value, sizeof value);
}

/* Four by four: `to` gets the columns of `from` as rows. */
static inline void resize_turn_four(float *to, size_t to_stride, const float *from, size_t from_stride) {
    resize_four a = resize_four_at(from), b = resize_four_at(from + from_stride);
    resize_four c = resize_four_at(from + 2 * from_stride), d = resize_four_at(from + 3 * from_stride);
    resize_four ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
    resize_four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    resize_four cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
    resize_four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    resize_four_put(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
    resize_four_put(to + to_stride, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
    resize_four_put(to + 2 * to_stride, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
    resize_four_put(to + 3 * to_stride, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

static void resize_turn(float *to, size_t to_stride, const float *from, size_t from_stride) {
    for (unsigned y = 0; y < RESIZE_ROWS; y += 4) {
        for (unsigned x = 0; x < RESIZE_ROWS; x += 4) {
            resize_turn_four(to + x * to_stride + y, to_stride, from + y * from_stride + x, from_stride);
        }
    }
}

/* Adds up the samples of a block, or the part of it from `in` on. */
static inline void resize_sum_block(floats sum[RESIZE_VECTORS], const float *in, size_t stride,
                                    const float *weight, uint32_t count) {
    for (unsigned v = 0; v < RESIZE_VECTORS; v++) {
        sum[v] = float_at(in + v * FLOAT_LANES) * weight[0];
    }
    for (uint32_t k = 1; k < count; k++) {
        in += stride;
        for (unsigned v = 0; v < RESIZE_VECTORS; v++) {
            sum[v] = sum[v] + float_at(in + v * FLOAT_LANES) * weight[k];
        }
    }
}

static inline void resize_sum_taps(float *to, const float *in, size_t stride, const float *weight,
                                   const struct resize_span *span) {
    uint32_t left = span->count;
    uint32_t count = RESIZE_BLOCK - span->from % RESIZE_BLOCK;
    count = count < left ? count : left;
    floats total[RESIZE_VECTORS];
    resize_sum_block(total, in, stride, weight, count);
    while (left -= count) {
        in += count * stride;
        weight += count;
        count = left < RESIZE_BLOCK ? left : RESIZE_BLOCK;
        floats sum[RESIZE_VECTORS];
        resize_sum_block(sum, in, stride, weight, count);
        for (unsigned v = 0; v < RESIZE_VECTORS; v++) {
            total[v] = total[v] + sum[v];
        }
    }
    for (unsigned v = 0; v < RESIZE_VECTORS; v++) {
        float_put(to + v * FLOAT_LANES, total[v]);
    }
}

static void resize_columns(float *to, const float *from, uint32_t first, const struct resize_span *span,
                           const float *weight, size_t most, unsigned channels, size_t n) {
    const size_t stride = (size_t)channels * RESIZE_ROWS;
    for (size_t i = 0; i < n; i++) {
        const float *in = from + (span[i].from - first) * stride;
        for (unsigned c = 0; c < channels; c++) {
            resize_sum_taps(to, in + (size_t)c * RESIZE_ROWS, stride, weight + i * most, &span[i]);
            to += RESIZE_ROWS;
        }
    }
}

static void resize_weigh_more(float *to, const float *const *row, const float *weight, unsigned count,
                              size_t n) {
    for (size_t x = 0; x < n; x += WEIGH_BLOCK) {
        floats sum[WEIGH_UNROLL];
        weigh_block(sum, row, weight, count, x);
        for (unsigned i = 0; i < WEIGH_UNROLL; i++) {
            float *at = to + x + i * FLOAT_LANES;
            float_put(at, float_at(at) + sum[i]);
        }
    }
}

static const struct resize_rows resize_rows = {
    .weigh_more = resize_weigh_more,
    .turn = resize_turn,
    .columns = resize_columns,
};
