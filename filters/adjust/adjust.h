/* SPDX-License-Identifier: MIT
 * Adjustments of colour. All of them together are one curve and one matrix; docs/filters.md has their order.
 */
#ifndef BLURD_FILTERS_ADJUST_ADJUST_H
#define BLURD_FILTERS_ADJUST_ADJUST_H

#include <string.h>

#include "filters/definition.h"

enum {
    ADJUST_CURVE = 256,
    ADJUST_FINE = 16,           /* nodes of the curve in each octave of 16-bit samples */
    ADJUST_NODES = 13 * 16 + 1, /* node n is at n below 2 * ADJUST_FINE; the last one is at 65536 */
};

struct adjust_duotone {
    bool given;
    uint8_t shadow[3], highlight[3]; /* red, green, blue */
};

struct adjust_arguments {
    double brightness, contrast, saturation; /* factors, 0 to 10 */
    double gamma;                            /* 0.2 to 5 */
    bool grayscale;
    double sepia; /* 0 to 1 */
    struct adjust_duotone duotone;
    bool negate;
    bool keep_model; /* no request sets it: the result has the colour model of the source, for blending */
};

/* The plan, in real arithmetic. Each colour of a pixel goes through the curve; then colour c of the result is
 * matrix[c][0] r + matrix[c][1] g + matrix[c][2] b + matrix[c][3]. A grey source has r only, a grey result
 * row 0 only. Plane c of YCbCr has matrix[c][c] and matrix[c][3] only. */
struct adjust_plan {
    uint8_t model;             /* enum pixel_model of the result */
    uint8_t curved;            /* 0: the curve is the identity and is not filled in */
    float matrix[3][4];        /* for samples of the picture's depth */
    float curve[ADJUST_CURVE]; /* of samples of 8 bits; of nodes for 16 bits */
};

/* The even node at or below this 16-bit sample. Interpolation takes it and the next two, and *at, the place
 * of the sample between them: from -1 (the first) to just below 1 (the third). Compilers vectorise this. */
static inline uint32_t adjust_nodes(uint32_t sample, float *at) {
    float value = (float)(int32_t)sample;
    uint32_t pattern;
    memcpy(&pattern, &value, sizeof pattern);
    uint32_t octave = pattern >> 23; /* 127 for samples from 1 on, 128 from 2 on, ... */
    uint32_t bits = octave < 127 + 5 ? 0 : octave - (127 + 4);
    uint32_t pair = sample >> bits & ~1u;
    uint32_t inverse = (127 - bits) << 23;
    float step;
    memcpy(&step, &inverse, sizeof step);
    *at = (float)(int32_t)(sample - ((pair + 1) << bits)) * step;
    return bits * ADJUST_FINE + pair;
}

extern const struct filter filter_adjust;

#endif
