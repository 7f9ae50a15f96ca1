/* SPDX-License-Identifier: MIT
 * Floating-point row primitives. Included once per instruction set with VECTOR_BYTES set to the width of its
 * registers; lanes are independent, so the width changes no result. Every step of a sum is `sum = sum +
 * weight * value`, rounded after the product and after the addition (the build forbids fusing them), in the
 * order of docs/filters.md. */
#include <string.h>

#include "cpu/rows/rows.h"

typedef float floats __attribute__((vector_size(VECTOR_BYTES)));

enum {
    FLOAT_LANES = VECTOR_BYTES / sizeof(float),
    FLOAT_UNROLL = 2,
    FLOAT_BLOCK = FLOAT_UNROLL * FLOAT_LANES
};

static inline floats float_at(const float *from) {
    floats value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void float_put(float *to, floats value) {
    memcpy(to, &value, sizeof value);
}

static void float_widen(void *to, const void *from, size_t n) {
    memcpy(to, from, n * sizeof(float));
}

static void float_taps(void *to, const void *const *row, const struct taps *taps, size_t n) {
    const float *const *in = (const float *const *)row + taps->radius;
    float *out = to;
    for (size_t x = 0; x < n; x += FLOAT_BLOCK) {
        floats a = float_at(in[0] + x) * taps->weight_float[0];
        floats b = float_at(in[0] + x + FLOAT_LANES) * taps->weight_float[0];
        for (int k = 1; k <= (int)taps->radius; k++) {
            const float *before = in[-k] + x;
            const float *after = in[k] + x;
            a = a + (float_at(before) + float_at(after)) * taps->weight_float[k];
            b = b + (float_at(before + FLOAT_LANES) + float_at(after + FLOAT_LANES)) * taps->weight_float[k];
        }
        float_put(out + x, a);
        float_put(out + x + FLOAT_LANES, b);
    }
}

static void float_reduce(void *to, const void *from, const struct taps *taps, unsigned shift, size_t n) {
    enum { STEP_MAX = 8, LANES = FLOAT_BLOCK + 4 };
    unsigned step = 1u << shift;
    float phase[STEP_MAX][LANES];
    const void *row[2 * BLUR_STAGE_RADIUS_MAX + 1];
    for (unsigned k = 0; k <= 2 * taps->radius; k++) { /* as in fixed_reduce() */
        unsigned place = k + 2 * step - taps->radius;
        row[k] = &phase[place % step][place / step];
    }
    for (size_t x = 0; x < n; x += FLOAT_BLOCK) {
        const float *in = (const float *)from + (ptrdiff_t)(x * step) - 2 * (ptrdiff_t)step;
        for (unsigned p = 0; p < step; p++) {
            for (unsigned i = 0; i < LANES; i++) {
                phase[p][i] = in[i * step + p];
            }
        }
        float_taps((float *)to + x, row, taps, FLOAT_BLOCK);
    }
}

static void float_enlarge(void *to, const void *from, const struct cubic *cubic, size_t n) {
    float *restrict out = to;
    const float *restrict in = from;
    size_t factor = (size_t)1 << cubic->levels;
    for (size_t x = 0; x < n; x++) {
        const float *at = in + (x >> cubic->levels);
        size_t phase = x & (factor - 1);
        float sum = cubic->weight_float[0][phase] * at[-1];
        sum = sum + cubic->weight_float[1][phase] * at[0];
        sum = sum + cubic->weight_float[2][phase] * at[1];
        out[x] = sum + cubic->weight_float[3][phase] * at[2];
    }
}

static void float_cubic(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                        unsigned phase, size_t n) {
    const float *const *in = (const float *const *)row;
    float *out = to;
    for (size_t x = 0; x < n; x += FLOAT_LANES) {
        floats sum = float_at(in[0] + x) * cubic->weight_float[0][phase];
        for (unsigned k = 1; k < BLUR_TAPS_ENLARGE; k++) {
            sum = sum + float_at(in[k] + x) * cubic->weight_float[k][phase];
        }
        float_put(out + x, sum);
    }
}

static void float_split(void *to, size_t segment, const void *from, unsigned channels, size_t pixels) {
    for (unsigned c = 0; c < channels; c++) {
        float *restrict out = (float *)to + c * segment;
        const float *restrict in = (const float *)from + c;
        for (size_t x = 0; x < pixels; x++) {
            out[x] = in[x * channels];
        }
    }
}

static void float_merge(void *to, const void *from, size_t segment, unsigned channels, size_t pixels) {
    for (unsigned c = 0; c < channels; c++) {
        float *restrict out = (float *)to + c;
        const float *restrict in = (const float *)from + c * segment;
        for (size_t x = 0; x < pixels; x++) {
            out[x * channels] = in[x];
        }
    }
}

/* The loops below are inlined with constant channels and depth, so that the compiler vectorises them. */

static inline void float_multiply_alpha(float *pixel, unsigned channels, size_t pixels) {
    for (size_t x = 0; x < pixels; x++, pixel += channels) {
        float alpha = pixel[channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            pixel[c] = pixel[c] * alpha;
        }
    }
}

static void float_load(float *to, const void *from, const struct row_format *format, size_t pixels) {
    size_t n = pixels * format->channels;
    const uint8_t *narrow = from;
    const uint16_t *wide = from;
    if (format->depth == 8) {
        for (size_t i = 0; i < n; i++) {
            to[i] = narrow[i];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            to[i] = wide[i];
        }
    }
    if (format->alpha && format->channels == 2) {
        float_multiply_alpha(to, 2, pixels);
    } else if (format->alpha) {
        float_multiply_alpha(to, 4, pixels);
    }
}

/* Rounds half up; values above `max`, also infinity, become `max`. No value is negative, so the cast rounds
 * down. */
static inline int32_t float_round(float value, float max) {
    float raised = value + 0.5f;
    return (int32_t)(raised < max ? raised : max);
}

/* Divides colour by alpha. The division is unconditional, since vectors have no branches. */
static inline float float_divide(float value, float alpha) {
    float quotient = value / (alpha > 0 ? alpha : 1);
    return alpha > 0 ? quotient : 0;
}

static inline void float_store_narrow(uint8_t *restrict to, const float *restrict from, unsigned channels,
                                      size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        float alpha = from[x * channels + channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[x * channels + c] = (uint8_t)float_round(float_divide(from[x * channels + c], alpha), 255);
        }
        to[x * channels + channels - 1] = (uint8_t)float_round(alpha, 255);
    }
}

static inline void float_store_wide(uint16_t *restrict to, const float *restrict from, unsigned channels,
                                    size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        float alpha = from[x * channels + channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[x * channels + c] = (uint16_t)float_round(float_divide(from[x * channels + c], alpha), 65535);
        }
        to[x * channels + channels - 1] = (uint16_t)float_round(alpha, 65535);
    }
}

static void float_store(void *to, const float *from, const struct row_format *format, size_t pixels) {
    unsigned channels = format->alpha ? format->channels : 1;
    size_t n = pixels * (format->alpha ? 1 : format->channels);
    if (format->depth == 8) {
        switch (channels) {
        case 1:
            float_store_narrow(to, from, 1, n);
            return;
        case 2:
            float_store_narrow(to, from, 2, n);
            return;
        default:
            float_store_narrow(to, from, 4, n);
            return;
        }
    }
    switch (channels) {
    case 1:
        float_store_wide(to, from, 1, n);
        return;
    case 2:
        float_store_wide(to, from, 2, n);
        return;
    default:
        float_store_wide(to, from, 4, n);
        return;
    }
}

static const struct row_ops float_ops = {
    .value = sizeof(float),
    .widen = float_widen,
    .taps_source = float_taps,
    .taps = float_taps,
    .taps_last = float_taps,
    .reduce = float_reduce,
    .enlarge = float_enlarge,
    .enlarge_last = float_enlarge,
    .cubic_last = float_cubic,
    .split = float_split,
    .merge = float_merge,
    .load = float_load,
    .store = float_store,
};
