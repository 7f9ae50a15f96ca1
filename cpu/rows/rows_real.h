/* SPDX-License-Identifier: MIT
 * Floating-point row primitives. Included once per instruction set with VECTOR_BYTES set to the
 * width of its registers; the lanes are independent, so that the width changes no result. Every
 * sum is `sum = sum + weight * value`, rounded after the product and after the addition (the
 * build forbids fusing them), in the order of docs/filters.md. */
#include <string.h>

#include "cpu/rows/rows.h"

typedef float reals __attribute__((vector_size(VECTOR_BYTES)));

enum { REAL_LANES = VECTOR_BYTES / sizeof(float), REAL_UNROLL = 2, REAL_BLOCK = REAL_UNROLL * REAL_LANES };

static inline reals real_at(const float *from) {
    reals value;
    memcpy(&value, from, sizeof value);
    return value;
}

static inline void real_put(float *to, reals value) {
    memcpy(to, &value, sizeof value);
}

static void real_widen(void *to, const void *from, size_t n) {
    memcpy(to, from, n * sizeof(float));
}

static void real_taps(void *to, const void *const *row, const struct taps *taps, size_t n) {
    const float *const *in = (const float *const *)row + taps->radius;
    float *out = to;
    for (size_t x = 0; x < n; x += REAL_BLOCK) {
        reals a = real_at(in[0] + x) * taps->real[0];
        reals b = real_at(in[0] + x + REAL_LANES) * taps->real[0];
        for (int k = 1; k <= (int)taps->radius; k++) {
            const float *before = in[-k] + x;
            const float *after = in[k] + x;
            a = a + (real_at(before) + real_at(after)) * taps->real[k];
            b = b + (real_at(before + REAL_LANES) + real_at(after + REAL_LANES)) * taps->real[k];
        }
        real_put(out + x, a);
        real_put(out + x + REAL_LANES, b);
    }
}

static void real_reduce(void *to, const void *from, const struct taps *taps, unsigned shift, size_t n) {
    enum { STEP_MAX = 8, LANES = REAL_BLOCK + 4 };
    unsigned step = 1u << shift;
    float phase[STEP_MAX][LANES];
    const void *row[2 * BLUR_STAGE_RADIUS_MAX + 1];
    for (unsigned k = 0; k <= 2 * taps->radius; k++) { /* as in whole_reduce() */
        unsigned place = k + 2 * step - taps->radius;
        row[k] = &phase[place % step][place / step];
    }
    for (size_t x = 0; x < n; x += REAL_BLOCK) {
        const float *in = (const float *)from + (ptrdiff_t)(x * step) - 2 * (ptrdiff_t)step;
        for (unsigned p = 0; p < step; p++) {
            for (unsigned i = 0; i < LANES; i++) {
                phase[p][i] = in[i * step + p];
            }
        }
        real_taps((float *)to + x, row, taps, REAL_BLOCK);
    }
}

static void real_enlarge(void *to, const void *from, const struct cubic *cubic, size_t n) {
    float *restrict out = to;
    const float *restrict in = from;
    size_t factor = (size_t)1 << cubic->levels;
    for (size_t x = 0; x < n; x++) {
        const float *at = in + (x >> cubic->levels);
        size_t phase = x & (factor - 1);
        float sum = cubic->real[0][phase] * at[-1];
        sum = sum + cubic->real[1][phase] * at[0];
        sum = sum + cubic->real[2][phase] * at[1];
        out[x] = sum + cubic->real[3][phase] * at[2];
    }
}

static void real_cubic(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                       unsigned phase, size_t n) {
    const float *const *in = (const float *const *)row;
    float *out = to;
    for (size_t x = 0; x < n; x += REAL_LANES) {
        reals sum = real_at(in[0] + x) * cubic->real[0][phase];
        for (unsigned k = 1; k < BLUR_TAPS_ENLARGE; k++) {
            sum = sum + real_at(in[k] + x) * cubic->real[k][phase];
        }
        real_put(out + x, sum);
    }
}

static void real_split(void *to, size_t segment, const void *from, unsigned channels, size_t pixels) {
    for (unsigned c = 0; c < channels; c++) {
        float *restrict out = (float *)to + c * segment;
        const float *restrict in = (const float *)from + c;
        for (size_t x = 0; x < pixels; x++) {
            out[x] = in[x * channels];
        }
    }
}

static void real_merge(void *to, const void *from, size_t segment, unsigned channels, size_t pixels) {
    for (unsigned c = 0; c < channels; c++) {
        float *restrict out = (float *)to + c;
        const float *restrict in = (const float *)from + c * segment;
        for (size_t x = 0; x < pixels; x++) {
            out[x * channels] = in[x];
        }
    }
}

/* The loops below take the number of channels and the depth as constants, so that the compiler makes
 * vectors of them: they are inlined where those are known. */

static inline void real_multiply_alpha(float *pixel, unsigned channels, size_t pixels) {
    for (size_t x = 0; x < pixels; x++, pixel += channels) {
        float alpha = pixel[channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            pixel[c] = pixel[c] * alpha;
        }
    }
}

static void real_load(float *to, const void *from, const struct sample_format *format, size_t pixels) {
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
        real_multiply_alpha(to, 2, pixels);
    } else if (format->alpha) {
        real_multiply_alpha(to, 4, pixels);
    }
}

/* Rounds half up; what is above `max`, also infinity, becomes `max`. Nothing is negative, so that
 * cutting off is rounding down. */
static inline int32_t real_round(float value, float max) {
    float raised = value + 0.5f;
    return (int32_t)(raised < max ? raised : max);
}

/* Colour from colour times alpha. The division is not in a branch, which vectors do not have. */
static inline float real_divide(float value, float alpha) {
    float quotient = value / (alpha > 0 ? alpha : 1);
    return alpha > 0 ? quotient : 0;
}

static inline void real_store_narrow(uint8_t *restrict to, const float *restrict from, unsigned channels,
                                     size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        float alpha = from[x * channels + channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[x * channels + c] = (uint8_t)real_round(real_divide(from[x * channels + c], alpha), 255);
        }
        to[x * channels + channels - 1] = (uint8_t)real_round(alpha, 255);
    }
}

static inline void real_store_wide(uint16_t *restrict to, const float *restrict from, unsigned channels,
                                   size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        float alpha = from[x * channels + channels - 1];
        for (unsigned c = 0; c + 1 < channels; c++) {
            to[x * channels + c] = (uint16_t)real_round(real_divide(from[x * channels + c], alpha), 65535);
        }
        to[x * channels + channels - 1] = (uint16_t)real_round(alpha, 65535);
    }
}

/* Without alpha every sample is its own pixel of one channel. */
static void real_store(void *to, const float *from, const struct sample_format *format, size_t pixels) {
    unsigned channels = format->alpha ? format->channels : 1;
    size_t n = pixels * (format->alpha ? 1 : format->channels);
    if (format->depth == 8) {
        switch (channels) {
        case 1:
            real_store_narrow(to, from, 1, n);
            return;
        case 2:
            real_store_narrow(to, from, 2, n);
            return;
        default:
            real_store_narrow(to, from, 4, n);
            return;
        }
    }
    switch (channels) {
    case 1:
        real_store_wide(to, from, 1, n);
        return;
    case 2:
        real_store_wide(to, from, 2, n);
        return;
    default:
        real_store_wide(to, from, 4, n);
        return;
    }
}

static const struct row_ops real_ops = {
    .value = sizeof(float),
    .widen = real_widen,
    .taps_source = real_taps,
    .taps = real_taps,
    .taps_last = real_taps,
    .reduce = real_reduce,
    .enlarge = real_enlarge,
    .enlarge_last = real_enlarge,
    .cubic_last = real_cubic,
    .split = real_split,
    .merge = real_merge,
    .load = real_load,
    .store = real_store,
};
