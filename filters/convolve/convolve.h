/* SPDX-License-Identifier: MIT
 * Convolution with any small matrix as written (not flipped), then division, bias and rounding. */
#ifndef BLURD_FILTERS_CONVOLVE_CONVOLVE_H
#define BLURD_FILTERS_CONVOLVE_CONVOLVE_H

#include "filters/argument/edge.h"
#include "filters/argument/matrix.h"
#include "filters/definition.h"

struct convolve_arguments {
    struct matrix kernel;
    int size;       /* side of a flat list, or of preset=box; 0: not given */
    int preset;     /* number of the preset's name; 0: none */
    double divisor; /* 0: not given */
    double bias;    /* steps of 255 */
    int edge;       /* enum edge */
};

/* The plan, in real arithmetic; docs/filters.md has the order of the sums. A pixel's window begins width / 2
 * to its left and height / 2 above. */
struct convolve_plan {
    uint8_t edge;                  /* enum edge */
    uint8_t width, height;         /* odd, 1 to MATRIX_SIDE_MAX */
    uint8_t separable;             /* two passes: column, then row; `weight` is not used */
    uint8_t alpha;                 /* alpha is filtered, as the weights sum to the divisor; else it is kept */
    float divisor;                 /* not 0 */
    float bias;                    /* in samples of the picture */
    float weight[MATRIX_MAX];      /* row by row */
    float column[MATRIX_SIDE_MAX]; /* weight[y][x] = column[y] * row[x] */
    float row[MATRIX_SIDE_MAX];
};

extern const struct filter filter_convolve;

#endif
