/* SPDX-License-Identifier: MIT
 * Row primitives of the filters other than the blur. Included once per instruction set after
 * cpu/rows/rows_float.h: they use its vectors and follow its rules of rounding. */
#include <math.h>

#include "cpu/rows/rows_float.h"

enum { WEIGH_UNROLL = 4, WEIGH_BLOCK = WEIGH_UNROLL * FLOAT_LANES };

/* Sums up columns x to x + WEIGH_BLOCK - 1 of the weighted rows, in the order of the rows. */
static inline __attribute__((always_inline)) void weigh_block(floats sum[WEIGH_UNROLL],
                                                              const float *const *row, const float *weight,
                                                              unsigned count, size_t x) {
    for (unsigned i = 0; i < WEIGH_UNROLL; i++) {
        sum[i] = float_at(row[0] + x + i * FLOAT_LANES) * weight[0];
    }
    for (unsigned k = 1; k < count; k++) {
        const float *in = row[k] + x;
        for (unsigned i = 0; i < WEIGH_UNROLL; i++) {
            sum[i] = sum[i] + float_at(in + i * FLOAT_LANES) * weight[k];
        }
    }
}

static void filter_weigh(float *to, const float *const *row, const float *weight, unsigned count, size_t n) {
    for (size_t x = 0; x < n; x += WEIGH_BLOCK) {
        floats sum[WEIGH_UNROLL];
        weigh_block(sum, row, weight, count, x);
        for (unsigned i = 0; i < WEIGH_UNROLL; i++) {
            float_put(to + x + i * FLOAT_LANES, sum[i]);
        }
    }
}

static void filter_divide(float *value, float divisor, float bias, size_t n) {
    if (divisor == 1 && bias == 0) {
        return;
    }
    for (size_t i = 0; i < n; i++) {
        value[i] = value[i] / divisor + bias;
    }
}

/* Vectors of pixels, and a vector of the last ones. Alpha itself keeps its value. */
static inline __attribute__((always_inline)) void
filter_colour_of(float *pixel, const float *alpha, float bias, unsigned channels, size_t pixels) {
    const float_mask is_alpha = float_alphas((floats){0}, channels) > 0;
    const size_t n = pixels * channels;
    for (size_t x = 0; x < n; x += FLOAT_LANES) {
        float rest[2][FLOAT_LANES] = {{0}};
        size_t count = n - x < FLOAT_LANES ? n - x : FLOAT_LANES;
        bool whole = count == FLOAT_LANES;
        if (!whole) {
            memcpy(rest[0], pixel + x, count * sizeof(float));
            memcpy(rest[1], alpha + x, count * sizeof(float));
        }
        floats value = float_at(whole ? pixel + x : rest[0]);
        floats colour = float_divided(value, float_alphas(float_at(whole ? alpha + x : rest[1]), channels));
        colour = colour + bias;
        value = (floats)(((float_mask)value & is_alpha) | ((float_mask)colour & ~is_alpha));
        float_put(whole ? pixel + x : rest[0], value);
        if (!whole) {
            memcpy(pixel + x, rest[0], count * sizeof(float));
        }
    }
}

static void filter_colour(float *pixel, const float *alpha, float bias, unsigned channels, size_t pixels) {
    if (channels == 2) { /* the compiler knows the number here */
        filter_colour_of(pixel, alpha, bias, 2, pixels);
    } else {
        filter_colour_of(pixel, alpha, bias, 4, pixels);
    }
}

static void filter_sharpen(float *restrict blurred, const float *restrict value, float amount,
                           float threshold, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float difference = value[i] - blurred[i];
        float sharp = value[i] + amount * difference;
        blurred[i] = fabsf(difference) < threshold ? value[i] : sharp;
    }
}

/* The value is not negative, so the cast rounds down. */
static inline int32_t filter_round(float value, float max) {
    float raised = value + 0.5f;
    raised = raised < max ? raised : max;
    return (int32_t)(raised > 0 ? raised : 0);
}

static void filter_store(void *to, const float *restrict from, unsigned depth, size_t n) {
    uint8_t *restrict narrow = to;
    uint16_t *restrict wide = to;
    if (depth == 8) {
        for (size_t i = 0; i < n; i++) {
            narrow[i] = (uint8_t)filter_round(from[i], 255);
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            wide[i] = (uint16_t)filter_round(from[i], 65535);
        }
    }
}

static inline void filter_add_narrow(uint32_t *restrict sum, const uint8_t *restrict from, unsigned channels,
                                     size_t pixels) {
    for (size_t x = 0; x < pixels; x++, sum += channels, from += channels) {
        uint32_t alpha = from[channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            sum[c] += from[c] * alpha;
        }
        sum[channels - 1] += alpha;
    }
}

static inline void filter_add_wide(uint64_t *restrict sum, const uint16_t *restrict from, unsigned channels,
                                   size_t pixels) {
    for (size_t x = 0; x < pixels; x++, sum += channels, from += channels) {
        uint32_t alpha = from[channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            sum[c] += from[c] * alpha; /* below 2^32 */
        }
        sum[channels - 1] += alpha;
    }
}

static void filter_add_alpha(void *sum, const void *from, const struct row_format *format, size_t pixels) {
    if (format->depth == 8 && format->channels == 2) {
        filter_add_narrow(sum, from, 2, pixels);
    } else if (format->depth == 8) {
        filter_add_narrow(sum, from, 4, pixels);
    } else if (format->channels == 2) {
        filter_add_wide(sum, from, 2, pixels);
    } else {
        filter_add_wide(sum, from, 4, pixels);
    }
}

static void filter_add(void *sum, const void *from, const struct row_format *format, size_t pixels) {
    if (format->alpha) {
        filter_add_alpha(sum, from, format, pixels);
        return;
    }
    uint32_t *restrict total = sum;
    const uint8_t *restrict narrow = from;
    const uint16_t *restrict wide = from;
    size_t n = pixels * format->channels;
    if (format->depth == 8) {
        for (size_t i = 0; i < n; i++) {
            total[i] += narrow[i];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            total[i] += wide[i];
        }
    }
}

static inline void filter_measure_lanes(struct measure *measure, const uint16_t *from, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint32_t value = from[i];
        measure->sum[i] += value;
        measure->squares[i] += value * value; /* below 2^32 */
        measure->minimum[i] = from[i] < measure->minimum[i] ? from[i] : measure->minimum[i];
        measure->maximum[i] = from[i] > measure->maximum[i] ? from[i] : measure->maximum[i];
    }
}

static void filter_measure(struct measure *measure, const uint16_t *from, size_t n) {
    size_t i = 0;
    for (; i + MEASURE_LANES <= n; i += MEASURE_LANES) {
        filter_measure_lanes(measure, from + i, MEASURE_LANES);
    }
    filter_measure_lanes(measure, from + i, n - i);
}

#include "cpu/rows/rows_adjust.h"

static const struct filter_rows filter_rows = {
    .weigh = filter_weigh,
    .divide = filter_divide,
    .colour = filter_colour,
    .sharpen = filter_sharpen,
    .store = filter_store,
    .add = filter_add,
    .adjust = filter_adjust_row,
    .measure = filter_measure,
};
