/* SPDX-License-Identifier: MIT
 * The weights of a resize, for C and for CUDA: the same operations in the same order give the same numbers
 * everywhere. The arithmetic is + - * / and comparisons of doubles. Compilers must not fuse a product with a
 * sum. docs/filters.md has the definition.
 *
 * A sample of the target is a sum over samples of the source. Those under the kernel that lie outside of the
 * plane repeat the sample at its border, so its weight includes theirs. */
#ifndef BLURD_FILTERS_RESIZE_RESIZE_WEIGHTS_H
#define BLURD_FILTERS_RESIZE_RESIZE_WEIGHTS_H

#include <stdint.h>

#if defined(__CUDACC__)
#define RESIZE_INLINE static __device__ __forceinline__
#else
#define RESIZE_INLINE static inline
#endif

enum resize_kernel {
    RESIZE_LANCZOS3,
    RESIZE_MITCHELL, /* B = C = 1/3 */
    RESIZE_CUBIC,    /* Catmull-Rom: B = 0, C = 1/2 */
    RESIZE_LINEAR,
    RESIZE_NEAREST,
    RESIZE_AREA,
    RESIZE_KERNELS
};

/* Samples are added up in blocks, each of which begins at a multiple of this index in the source. The sums
 * of the blocks are then added. Long sums stay exact enough that way. */
enum { RESIZE_BLOCK = 32 };

/* The samples of the source that make sample i of the target, along one axis. */
struct resize_taps {
    int32_t kernel;   /* enum resize_kernel */
    int32_t size;     /* of the source's side */
    int32_t lo, hi;   /* under the kernel: lo to hi - 1, which may lie outside of the source */
    int32_t from, to; /* the samples with a weight: from to to - 1 */
    double centre;    /* in samples of the source; sample j has its centre at j + 0.5 */
    double stretch;   /* of the kernel; RESIZE_AREA: samples that the target's one covers */
};

RESIZE_INLINE int32_t resize_taps_floor(double x) {
    int32_t whole = (int32_t)x;
    return (double)whole > x ? whole - 1 : whole;
}

/* Half of the width of the kernel. The area has half a sample more, as it meets samples in part. */
RESIZE_INLINE double resize_taps_reach(int32_t kernel, double scale) {
    double stretch = scale > 1.0 ? scale : 1.0;
    switch (kernel) {
    case RESIZE_LANCZOS3:
        return 3.0 * stretch;
    case RESIZE_MITCHELL:
    case RESIZE_CUBIC:
        return 2.0 * stretch;
    case RESIZE_LINEAR:
        return stretch;
    case RESIZE_AREA:
        return 0.5 * scale + 0.5;
    default:
        return 0.5;
    }
}

/* The most samples that have a weight, on a side of `size` samples. */
RESIZE_INLINE int32_t resize_taps_most(int32_t kernel, double scale, int32_t size) {
    double most = 2.0 * resize_taps_reach(kernel, scale) + 2.0;
    return most < (double)size ? (int32_t)most : size;
}

/* Sample i of a target whose samples are `scale` samples of the source wide, and whose first one begins at
 * `begin`. */
RESIZE_INLINE struct resize_taps resize_taps_at(int32_t kernel, double scale, double begin, int32_t size,
                                                int32_t i) {
    struct resize_taps taps;
    double centre = ((double)i + 0.5) * scale + begin;
    double reach = resize_taps_reach(kernel, scale);
    taps.kernel = kernel;
    taps.size = size;
    taps.centre = centre;
    taps.stretch = kernel == RESIZE_AREA || scale > 1.0 ? scale : 1.0;
    if (kernel == RESIZE_NEAREST) {
        taps.lo = resize_taps_floor(centre);
        taps.hi = taps.lo + 1;
    } else {
        taps.lo = resize_taps_floor(centre - reach - 0.5) + 1;
        taps.hi = -resize_taps_floor(0.5 - centre - reach);
    }
    taps.from = taps.lo < 0 ? 0 : taps.lo >= size ? size - 1 : taps.lo;
    taps.to = taps.hi > size ? size : taps.hi <= 0 ? 1 : taps.hi;
    return taps;
}

/* sin(pi x) sin(pi x / 3) / (pi x (pi x / 3)) for |x| <= 3. With u = x / 3 and the polynomial p = sin(pi u) /
 * (pi u), whose error is below 1e-15, this is p^2 (1 - 4/3 (pi u p)^2). */
RESIZE_INLINE double resize_taps_lanczos3(double x) {
    double u = x / 3.0;
    double v = u * u;
    double p = -6.4928942992284556e-09;
    p = p * v + 2.5142862347865403e-07;
    p = p * v + -6.973900041946727e-06;
    p = p * v + 0.0001484273974247041;
    p = p * v + -0.00234608042348004;
    p = p * v + 0.026147847654102503;
    p = p * v + -0.19075182409696004;
    p = p * v + 0.8117424252813926;
    p = p * v + -1.6449340668481671;
    p = p * v + 0.9999999999999997;
    double q = p * p;
    return q * (1.0 - 13.159472534785811 * v * q);
}

/* Mitchell and Netravali's cubics, for |x| < 2. */
RESIZE_INLINE double resize_taps_bicubic(double x, double b, double c) {
    double near3 = 12.0 - 9.0 * b - 6.0 * c, near2 = -18.0 + 12.0 * b + 6.0 * c, near0 = 6.0 - 2.0 * b;
    double far3 = -b - 6.0 * c, far2 = 6.0 * b + 30.0 * c, far1 = -12.0 * b - 48.0 * c;
    double far0 = 8.0 * b + 24.0 * c;
    x = x < 0.0 ? -x : x;
    return x < 1.0 ? ((near3 * x + near2) * x * x + near0) / 6.0
                   : (((far3 * x + far2) * x + far1) * x + far0) / 6.0;
}

/* The part of sample j that lies within the width of a sample of the target. */
RESIZE_INLINE double resize_taps_overlap(const struct resize_taps *taps, int32_t j) {
    double begin = taps->centre - 0.5 * taps->stretch, end = taps->centre + 0.5 * taps->stretch;
    double low = begin > (double)j ? begin : (double)j;
    double high = end < (double)j + 1.0 ? end : (double)j + 1.0;
    return high > low ? high - low : 0.0;
}

/* The place of sample j's centre in the kernel. */
RESIZE_INLINE double resize_taps_place(const struct resize_taps *taps, int32_t j) {
    return ((double)j + 0.5 - taps->centre) / taps->stretch;
}

/* The kernel at sample j, lo to hi - 1, before the division by the sum. */
RESIZE_INLINE double resize_taps_value(const struct resize_taps *taps, int32_t j) {
    double x = resize_taps_place(taps, j);
    switch (taps->kernel) {
    case RESIZE_LANCZOS3:
        return resize_taps_lanczos3(x);
    case RESIZE_MITCHELL:
        return resize_taps_bicubic(x, 1.0 / 3.0, 1.0 / 3.0);
    case RESIZE_CUBIC:
        return resize_taps_bicubic(x, 0.0, 0.5);
    case RESIZE_LINEAR:
        return x < 0.0 ? 1.0 + x : 1.0 - x;
    case RESIZE_AREA:
        return resize_taps_overlap(taps, j);
    default:
        return 1.0;
    }
}

/* The values of samples first to last - 1, in ascending order. */
RESIZE_INLINE double resize_taps_add(const struct resize_taps *taps, int32_t first, int32_t last) {
    double sum = resize_taps_value(taps, first);
    for (int32_t j = first + 1; j < last; j++) {
        sum = sum + resize_taps_value(taps, j);
    }
    return sum;
}

/* What all weights are divided by. */
RESIZE_INLINE double resize_taps_sum(const struct resize_taps *taps) {
    return resize_taps_add(taps, taps->lo, taps->hi);
}

/* The weight of sample j, from to to - 1. */
RESIZE_INLINE float resize_taps_weight(const struct resize_taps *taps, double sum, int32_t j) {
    int32_t first = j == taps->from ? taps->lo : j;
    int32_t last = j == taps->to - 1 ? taps->hi : j + 1;
    return (float)(resize_taps_add(taps, first, last) / sum);
}

#endif
