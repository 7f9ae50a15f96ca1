/* SPDX-License-Identifier: MIT
 * Floating-point row primitives. Included once per instruction set with VECTOR_BYTES set to the width of its
 * registers; lanes are independent, so the width changes no result. Every step of a sum is `sum = sum +
 * weight * value`, rounded after the product and after the addition (the build forbids fusing them), in the
 * order of docs/filters.md. */
#include <string.h>

#include "cpu/rows/rows.h"

typedef float floats __attribute__((vector_size(VECTOR_BYTES)));
typedef float float_four __attribute__((vector_size(16)));

/* The same anywhere in memory. Not memcpy: its checks of bounds would cost more than the copy. */
typedef float floats_loose __attribute__((vector_size(VECTOR_BYTES), aligned(4), may_alias));
typedef float float_four_loose __attribute__((vector_size(16), aligned(4), may_alias));

enum { FLOAT_LANES = VECTOR_BYTES / sizeof(float) };

static inline floats float_at(const float *from) {
    return *(const floats_loose *)from;
}

static inline void float_put(float *to, floats value) {
    *(floats_loose *)to = value;
}

static inline float_four float_four_at(const float *from) {
    return *(const float_four_loose *)from;
}

static inline void float_four_put(float *to, float_four value) {
    *(float_four_loose *)to = value;
}

/* these need the types above */
#include "cpu/rows/rows_float_samples.h"
#include "cpu/rows/rows_float_taps.h"
#if VECTOR_BYTES == 64
#include "cpu/rows/rows_float_across.h"
#endif

static void float_widen(void *to, const void *from, size_t n) {
    float *restrict out = to;
    const uint16_t *restrict in = from;
    for (size_t i = 0; i < n; i++) {
        out[i] = in[i];
    }
}

/* Copies the pixels of each place in the step to a row of their own: phase[p] has pixels p, p + step, ...
 * Copies whole vectors of four, of which fewer channels overwrite the rest. */
static inline __attribute__((always_inline)) void float_sort_pixels(float *phase, size_t stride,
                                                                    const float *from, unsigned step,
                                                                    unsigned channels, unsigned count) {
    for (unsigned i = 0; i < count; i++, from += step * channels) {
        for (unsigned p = 0; p < step; p++) {
            float *to = phase + p * stride + (size_t)i * channels;
            if (channels == 1) {
                *to = from[p];
            } else {
                float_four_put(to, float_four_at(from + (size_t)p * channels));
            }
        }
    }
}

enum { REDUCE_PIXELS = 32, REDUCE_REACH = 4, REDUCE_STEP_MAX = 8 };

static inline __attribute__((always_inline)) void float_reduce_by(float *to, const float *from,
                                                                  const struct taps *taps, unsigned step,
                                                                  unsigned channels, size_t pixels) {
    enum { LENGTH = 4 * (REDUCE_PIXELS + REDUCE_REACH) + FLOAT_BLOCK };
    float phase[REDUCE_STEP_MAX][LENGTH];
    const void *row[2 * BLUR_STAGE_RADIUS_MAX + 1];
    for (unsigned k = 0; k <= 2 * taps->radius; k++) { /* as in fixed_reduce() */
        unsigned place = k + 2 * step - taps->radius;
        row[k] = &phase[place % step][place / step * channels];
    }
    const float *in = from - (size_t)2 * step * channels;
    for (size_t x = 0; x < pixels; x += REDUCE_PIXELS) {
        unsigned count = pixels - x < REDUCE_PIXELS ? (unsigned)(pixels - x) : REDUCE_PIXELS;
        float_sort_pixels(phase[0], LENGTH, in + x * step * channels, step, channels, count + REDUCE_REACH);
        float_taps(to + x * channels, row, taps, (size_t)count * channels);
    }
}

static inline __attribute__((always_inline)) void float_reduce_step(float *to, const float *from,
                                                                    const struct taps *taps, unsigned step,
                                                                    unsigned channels, size_t pixels) {
    switch (channels) { /* the compiler knows the numbers here */
    case 1:
        float_reduce_by(to, from, taps, step, 1, pixels);
        break;
    case 2:
        float_reduce_by(to, from, taps, step, 2, pixels);
        break;
    case 3:
        float_reduce_by(to, from, taps, step, 3, pixels);
        break;
    default:
        float_reduce_by(to, from, taps, step, 4, pixels);
        break;
    }
}

static void float_reduce(void *to, const void *from, const struct taps *taps, unsigned shift,
                         unsigned channels, size_t pixels) {
    switch (shift) {
    case 1:
        float_reduce_step(to, from, taps, 2, channels, pixels);
        break;
    case 2:
        float_reduce_step(to, from, taps, 4, channels, pixels);
        break;
    default:
        float_reduce_step(to, from, taps, 8, channels, pixels);
        break;
    }
}

/* The pixels between two of the source, one after the other. Stores whole vectors of four, of which fewer
 * channels overwrite the rest. */
static inline __attribute__((always_inline)) void
float_enlarge_pixels(float *out, const float *in, const struct cubic *cubic, unsigned channels, size_t n) {
    const size_t factor = (size_t)1 << cubic->levels;
    for (size_t x = 0; x < n; x += factor, in += channels) {
        const float_four a = float_four_at(in - channels), b = float_four_at(in);
        const float_four c = float_four_at(in + channels), d = float_four_at(in + 2 * (size_t)channels);
        for (size_t phase = 0; phase < factor; phase++, out += channels) {
            float_four sum = a * cubic->weight_float[0][phase];
            sum = sum + b * cubic->weight_float[1][phase];
            sum = sum + c * cubic->weight_float[2][phase];
            sum = sum + d * cubic->weight_float[3][phase];
            float_four_put(out, sum);
        }
    }
}

#if VECTOR_BYTES == 64
/* The same of four channels: four pixels between the same two are a vector. */
static void float_enlarge_four(float *out, const float *in, const struct cubic *cubic, size_t n) {
    const size_t factor = (size_t)1 << cubic->levels;
    const __m512i spread = _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
    for (size_t phase = 0; phase < factor; phase += 4) {
        floats weight[BLUR_TAPS_ENLARGE];
        for (unsigned k = 0; k < BLUR_TAPS_ENLARGE; k++) {
            __m512 four = _mm512_castps128_ps512(_mm_loadu_ps(&cubic->weight_float[k][phase]));
            weight[k] = (floats)_mm512_permutexvar_ps(spread, four);
        }
        for (size_t x = 0; x < n; x += factor) {
            const float *at = in + (x >> cubic->levels) * 4;
            floats sum = weight[0] * (floats)_mm512_broadcast_f32x4(_mm_loadu_ps(at - 4));
            sum = sum + weight[1] * (floats)_mm512_broadcast_f32x4(_mm_loadu_ps(at));
            sum = sum + weight[2] * (floats)_mm512_broadcast_f32x4(_mm_loadu_ps(at + 4));
            sum = sum + weight[3] * (floats)_mm512_broadcast_f32x4(_mm_loadu_ps(at + 8));
            float_put(out + (x + phase) * 4, sum);
        }
    }
}
#endif

/* The same of one channel: the positions between two of the source at once. */
static void float_enlarge_one(float *restrict out, const float *restrict in, const struct cubic *cubic,
                              size_t n) {
    const size_t factor = (size_t)1 << cubic->levels;
    for (size_t x = 0; x < n; x += factor, in++) {
        for (size_t phase = 0; phase < factor; phase++) {
            float sum = cubic->weight_float[0][phase] * in[-1];
            sum = sum + cubic->weight_float[1][phase] * in[0];
            sum = sum + cubic->weight_float[2][phase] * in[1];
            out[x + phase] = sum + cubic->weight_float[3][phase] * in[2];
        }
    }
}

static void float_enlarge(void *to, const void *from, const struct cubic *cubic, unsigned channels,
                          size_t pixels) {
#if VECTOR_BYTES == 64
    if (channels == 4 && cubic->levels >= 2) {
        float_enlarge_four(to, from, cubic, pixels);
        return;
    }
#endif
    switch (channels) {
    case 1:
        float_enlarge_one(to, from, cubic, pixels);
        break;
    case 2:
        float_enlarge_pixels(to, from, cubic, 2, pixels);
        break;
    case 3:
        float_enlarge_pixels(to, from, cubic, 3, pixels);
        break;
    default:
        float_enlarge_pixels(to, from, cubic, 4, pixels);
        break;
    }
}

static void float_cubic(void *to, const void *const row[BLUR_TAPS_ENLARGE], const struct cubic *cubic,
                        unsigned phase, size_t n) {
    float *restrict out = to;
    const float *a = row[0], *b = row[1], *c = row[2], *d = row[3];
    const float weight[] = {cubic->weight_float[0][phase], cubic->weight_float[1][phase],
                            cubic->weight_float[2][phase], cubic->weight_float[3][phase]};
    for (size_t x = 0; x < n; x += FLOAT_LANES) {
        floats sum = float_at(a + x) * weight[0];
        sum = sum + float_at(b + x) * weight[1];
        sum = sum + float_at(c + x) * weight[2];
        float_put(out + x, sum + float_at(d + x) * weight[3]);
    }
}

static const struct row_ops float_ops = {
    .value = sizeof(float),
    .widen = float_widen,
    .taps_source = float_taps_source,
    .taps = float_taps,
    .taps_last = float_taps,
    .reduce = float_reduce,
    .enlarge = float_enlarge,
    .enlarge_last = float_enlarge,
    .cubic_last = float_cubic,
    .taps_group = float_taps_group,
    .taps_group_source = float_taps_group_source,
#if VECTOR_BYTES == 64
    .across_group = float_across_group,
#endif
    .multiply = float_multiply,
    .cubic_store = float_cubic_store,
    .load = float_load,
    .store = float_store,
};
