/* SPDX-License-Identifier: MIT
 * The row primitive of colour adjustments. Included after cpu/rows/rows_filters.h has defined the rounding to
 * samples, for each instruction set. */
#include "cpu/rows/rows.h"

enum { ADJUST_BLOCK = 20 * ADJUST_PERIOD };

/* The parabola through three nodes. */
static inline float adjust_curve_wide(const float *curve, uint32_t sample) {
    float at;
    const float *node = curve + adjust_nodes(sample, &at);
    float slope = (node[2] - node[0]) * 0.5f;
    float bend = (node[2] + node[0]) * 0.5f - node[1];
    return node[1] + at * (slope + at * bend);
}

/* ---- pixels that keep their channels ---- */

static inline void adjust_samples(float *restrict to, const void *from, unsigned depth, size_t n) {
    const uint8_t *restrict narrow = from;
    const uint16_t *restrict wide = from;
    if (depth == 8) {
        for (size_t i = 0; i < n; i++) {
            to[i] = narrow[i];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            to[i] = wide[i];
        }
    }
}

static inline void adjust_curved(float *restrict to, const void *from, const struct adjust_row *how,
                                 size_t n) {
    const uint8_t *restrict narrow = from;
    const uint16_t *restrict wide = from;
    unsigned channels = how->from + 1;
    if (how->depth == 8) {
        for (size_t i = 0; i < n; i++) {
            to[i] = how->curve[narrow[i]];
        }
    } else {
        for (size_t i = 0; i < n; i++) {
            to[i] = adjust_curve_wide(how->curve, wide[i]);
        }
    }
    for (size_t i = channels - 1; how->alpha && i < n; i += channels) {
        to[i] = how->depth == 8 ? (float)narrow[i] : (float)wide[i];
    }
}

static inline void adjust_alone(float *value, const struct adjust_row *how, size_t n) {
    for (size_t x = 0; x < n; x += ADJUST_PERIOD) {
        for (unsigned i = 0; i < ADJUST_PERIOD; i += FLOAT_LANES) {
            floats sum = float_at(value + x + i) * float_at(how->weight[ADJUST_REACH] + i);
            float_put(value + x + i, sum + float_at(how->added + i));
        }
    }
}

static inline void adjust_together(float *to, const float *from, const struct adjust_row *how, size_t n) {
    for (size_t x = 0; x < n; x += ADJUST_PERIOD) {
        for (unsigned i = 0; i < ADJUST_PERIOD; i += FLOAT_LANES) {
            const float *in = from + x + i - ADJUST_REACH;
            floats sum = float_at(in) * float_at(how->weight[0] + i);
            for (unsigned o = 1; o <= 2 * ADJUST_REACH; o++) {
                sum = sum + float_at(in + o) * float_at(how->weight[o] + i);
            }
            float_put(to + x + i, sum + float_at(how->added + i));
        }
    }
}

/* `n` samples from a whole pixel on, at most a block. */
static void adjust_block(void *to, const void *from, const struct adjust_row *how, size_t n) {
    float in[ADJUST_REACH + ADJUST_BLOCK + ADJUST_REACH], out[ADJUST_BLOCK];
    float *value = in + ADJUST_REACH;
    size_t whole = (n + ADJUST_PERIOD - 1) / ADJUST_PERIOD * ADJUST_PERIOD;
    memset(in, 0, ADJUST_REACH * sizeof *in);
    memset(value + n, 0,
           (whole + ADJUST_REACH - n) * sizeof *in); /* infinities times 0 would be no numbers */
    if (how->curve) {
        adjust_curved(value, from, how, n);
    } else {
        adjust_samples(value, from, how->depth, n);
    }
    if (how->alone) {
        adjust_alone(value, how, whole);
    } else {
        adjust_together(out, value, how, whole);
    }
    filter_store(to, how->alone ? value : out, how->depth, n);
}

static void adjust_same(void *to, const void *from, const struct adjust_row *how, size_t pixels) {
    size_t samples = pixels * (how->from + how->alpha), bytes = how->depth / 8;
    for (size_t i = 0; i < samples; i += ADJUST_BLOCK) {
        size_t n = samples - i < ADJUST_BLOCK ? samples - i : ADJUST_BLOCK;
        adjust_block((uint8_t *)to + i * bytes, (const uint8_t *)from + i * bytes, how, n);
    }
}

/* ---- pixels that lose or gain channels ---- */

enum { ADJUST_PIXELS = 64 };

/* The colours of some pixels, one segment for each. Loops over them have constant strides, so that the
 * compiler vectorises them. */
struct adjust_pixels {
    float value[3][ADJUST_PIXELS];
};

static inline void adjust_load(struct adjust_pixels *block, const void *from, unsigned depth,
                               unsigned colours, unsigned stride, size_t pixels) {
    const uint8_t *restrict narrow = from;
    const uint16_t *restrict wide = from;
    for (unsigned c = 0; c < colours; c++) {
        for (size_t x = 0; x < pixels; x++) {
            block->value[c][x] = depth == 8 ? (float)narrow[x * stride + c] : (float)wide[x * stride + c];
        }
    }
}

static inline void adjust_load_curved(struct adjust_pixels *block, const void *from, const float *curve,
                                      unsigned depth, unsigned colours, unsigned stride, size_t pixels) {
    const uint8_t *narrow = from;
    const uint16_t *wide = from;
    for (unsigned c = 0; c < colours; c++) {
        for (size_t x = 0; x < pixels; x++) {
            block->value[c][x] =
                depth == 8 ? curve[narrow[x * stride + c]] : adjust_curve_wide(curve, wide[x * stride + c]);
        }
    }
}

static inline void adjust_multiply(struct adjust_pixels *to, const struct adjust_pixels *from,
                                   const struct adjust_row *how, unsigned from_colours, unsigned to_colours) {
    for (unsigned c = 0; c < to_colours; c++) {
        const float *m = how->matrix[c];
        for (unsigned x = 0; x < ADJUST_PIXELS; x++) {
            float sum = m[0] * from->value[0][x];
            if (from_colours == 3) {
                sum = sum + m[1] * from->value[1][x];
                sum = sum + m[2] * from->value[2][x];
            }
            to->value[c][x] = sum + m[3];
        }
    }
}

static inline void adjust_store(void *to, const struct adjust_pixels *block, unsigned depth, unsigned colours,
                                unsigned stride, size_t pixels) {
    uint8_t *restrict narrow = to;
    uint16_t *restrict wide = to;
    for (unsigned c = 0; c < colours; c++) {
        for (size_t x = 0; x < pixels; x++) {
            if (depth == 8) {
                narrow[x * stride + c] = (uint8_t)filter_round(block->value[c][x], 255);
            } else {
                wide[x * stride + c] = (uint16_t)filter_round(block->value[c][x], 65535);
            }
        }
    }
}

static inline void adjust_copy_alpha(void *to, const void *from, unsigned depth, unsigned to_stride,
                                     unsigned from_stride, size_t pixels) {
    for (size_t x = 0; x < pixels; x++) {
        if (depth == 8) {
            ((uint8_t *)to)[x * to_stride + to_stride - 1] =
                ((const uint8_t *)from)[x * from_stride + from_stride - 1];
        } else {
            ((uint16_t *)to)[x * to_stride + to_stride - 1] =
                ((const uint16_t *)from)[x * from_stride + from_stride - 1];
        }
    }
}

/* One block; the caller makes everything but the number of pixels, the curve and the matrix constant. */
static inline __attribute__((always_inline)) void adjust_some(void *to, const void *from,
                                                              const struct adjust_row *how, unsigned depth,
                                                              bool alpha, unsigned from_colours,
                                                              unsigned to_colours, size_t pixels) {
    struct adjust_pixels in, out;
    unsigned from_stride = from_colours + alpha, to_stride = to_colours + alpha;
    if (how->curve) {
        adjust_load_curved(&in, from, how->curve, depth, from_colours, from_stride, pixels);
    } else {
        adjust_load(&in, from, depth, from_colours, from_stride, pixels);
    }
    adjust_multiply(&out, &in, how, from_colours, to_colours);
    adjust_store(to, &out, depth, to_colours, to_stride, pixels);
    if (alpha) {
        adjust_copy_alpha(to, from, depth, to_stride, from_stride, pixels);
    }
}

static inline __attribute__((always_inline)) void adjust_colours(void *to, const void *from,
                                                                 const struct adjust_row *how, unsigned depth,
                                                                 bool alpha, unsigned from_colours,
                                                                 unsigned to_colours, size_t pixels) {
    size_t from_bytes = (size_t)(from_colours + alpha) * depth / 8,
           to_bytes = (size_t)(to_colours + alpha) * depth / 8;
    for (size_t x = 0; x < pixels; x += ADJUST_PIXELS) {
        const uint8_t *in = (const uint8_t *)from + x * from_bytes;
        uint8_t *out = (uint8_t *)to + x * to_bytes;
        if (pixels - x >= ADJUST_PIXELS) {
            adjust_some(out, in, how, depth, alpha, from_colours, to_colours, ADJUST_PIXELS);
        } else {
            adjust_some(out, in, how, depth, alpha, from_colours, to_colours, pixels - x);
        }
    }
}

static inline __attribute__((always_inline)) void adjust_of(void *to, const void *from,
                                                            const struct adjust_row *how, unsigned depth,
                                                            bool alpha, size_t pixels) {
    if (how->to == 1) {
        adjust_colours(to, from, how, depth, alpha, 3, 1, pixels);
    } else {
        adjust_colours(to, from, how, depth, alpha, 1, 3, pixels);
    }
}

static void filter_adjust_row(void *to, const void *from, const struct adjust_row *how, size_t pixels) {
    if (how->from == how->to) {
        adjust_same(to, from, how, pixels);
    } else if (how->depth == 8 && !how->alpha) {
        adjust_of(to, from, how, 8, false, pixels);
    } else if (how->depth == 8) {
        adjust_of(to, from, how, 8, true, pixels);
    } else if (!how->alpha) {
        adjust_of(to, from, how, 16, false, pixels);
    } else {
        adjust_of(to, from, how, 16, true, pixels);
    }
}
