/* SPDX-License-Identifier: MIT
 * The operations of cpu/detect/simd/sse2.h in plain C. With PLAIN_BYTES vectors have 16 lanes, and inputs
 * stay bytes, as with AVX-512: for tests of cpu/detect/simd/tiles.h on every processor. */
#ifndef BLURD_CPU_DETECT_SIMD_PLAIN_H
#define BLURD_CPU_DETECT_SIMD_PLAIN_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#ifdef PLAIN_BYTES
enum { LANES = 16, UNIT = 4 };
typedef uint8_t input;
typedef int8_t weight;
#else
enum { LANES = 4, UNIT = 1, CHUNK = 8, SPLIT = 0 };
typedef int16_t input;
typedef int16_t weight;
#endif
enum { TILE_1 = 1, TILE_2 = 1, TILE_3 = 1, TILE_4 = 1 };

typedef struct {
    int32_t lane[LANES];
} vec;
typedef struct {
    float lane[LANES];
} flt;
typedef struct {
    int16_t lane[2 * LANES];
} words;

#define EACH_LANE for (unsigned i = 0; i < LANES; i++)

static inline vec vec_at(const int32_t *from) {
    vec a;
    EACH_LANE a.lane[i] = from[i];
    return a;
}
static inline void vec_put_sums(int32_t *to, vec a) {
    EACH_LANE to[i] = a.lane[i];
}
static inline vec vec_inputs(const input *from) {
    vec a;
    EACH_LANE a.lane[i] = *from;
    return a;
}
static inline vec vec_dot(vec sum, vec x, const weight *weights) {
    EACH_LANE sum.lane[i] += x.lane[i] * weights[i];
    return sum;
}
static inline flt vec_scaled(vec a, const float *scale) {
    flt scaled;
    EACH_LANE scaled.lane[i] = (float)a.lane[i] * scale[i];
    return scaled;
}
static inline vec vec_round(flt a) {
    vec rounded;
    EACH_LANE rounded.lane[i] = (int32_t)rintf(a.lane[i]);
    return rounded;
}
static inline flt flt_at(const float *from) {
    flt a;
    EACH_LANE a.lane[i] = from[i];
    return a;
}
static inline flt flt_relu(flt a) {
    EACH_LANE a.lane[i] = a.lane[i] > 0 ? a.lane[i] : 0;
    return a;
}
static inline flt flt_add(flt a, flt b) {
    EACH_LANE a.lane[i] += b.lane[i];
    return a;
}
static inline flt flt_multiply(flt a, flt b) {
    EACH_LANE a.lane[i] *= b.lane[i];
    return a;
}
static inline flt flt_all(float a) {
    flt all;
    EACH_LANE all.lane[i] = a;
    return all;
}
static inline flt flt_bytes(const uint8_t *from, size_t apart) {
    flt bytes;
    EACH_LANE bytes.lane[i] = from[i / 4 * apart + i % 4];
    return bytes;
}
static inline void vec_put(uint8_t *to, const vec *a, unsigned vectors, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        const unsigned four = LANES > 4 ? i / (4 * vectors) : 0;
        int32_t value = a[i / 4 - four * vectors].lane[4 * four + i % 4];
        to[i] = (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
    }
}
static inline words words_bytes(const uint8_t *from) {
    words a;
    for (unsigned i = 0; i < 2 * LANES; i++) {
        a.lane[i] = from[i];
    }
    return a;
}
static inline void words_dot(vec sum[2], words a, words b, const weight *weights) {
    for (unsigned i = 0; i < 2 * LANES; i++) {
        sum[i / LANES].lane[i % LANES] += a.lane[i] * weights[2 * i] + b.lane[i] * weights[2 * i + 1];
    }
}

#endif
