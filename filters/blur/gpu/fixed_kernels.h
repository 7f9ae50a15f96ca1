/* SPDX-License-Identifier: MIT
 * What the launcher of the blur in fixed point (C) hands to its kernels (CUDA C++), by value; more of it:
 * gpu/cuda/kernels.h. */
#ifndef BLURD_FILTERS_BLUR_GPU_FIXED_KERNELS_H
#define BLURD_FILTERS_BLUR_GPU_FIXED_KERNELS_H

#include "gpu/cuda/kernels.h"

/* Sample j of the result is a sum around sample j << shift. weight[k] applies to the samples at -k and k; it
 * has 15 bits, and the identity has 32768. */
struct fixed_taps {
    uint8_t shift;
    uint8_t radius;
    uint16_t weight[KERNEL_RADIUS + 1];
};
KERNEL_SIZE_IS(fixed_taps, 102);

struct fixed_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    struct fixed_taps x, y;
    uint32_t border; /* the sample outside with KERNEL_ZERO */
};
KERNEL_SIZE_IS(fixed_plane, 312);

/* 8 bits without alpha: 1 or 3 interleaved channels. */
struct fixed_pass {
    struct fixed_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t channels;
};
KERNEL_SIZE_IS(fixed_pass, 944);

/* A stage of the reduction; see filters/blur/gpu/blur_reduce.cuh. It takes struct fixed_pass, but knows the
 * weights. */
enum {
    KERNEL_REDUCE_THREADS_Y = 4,
    KERNEL_REDUCE_WIDTH = 384,   /* of the source, in samples */
    KERNEL_REDUCE_ROWS = 4,      /* of the target, from samples; from values half of it */
    KERNEL_REDUCE_COLUMNS = 480, /* values in a row of shared memory */
};

/* A reduction by 2 along both axes; see filters/blur/gpu/blur_halve.cuh. It takes struct fixed_pass without
 * weights. */
enum {
    KERNEL_HALVE_THREADS_Y = 4,
    KERNEL_HALVE_GROUP = 8, /* values that a lane stores: one is at position -1 */
    /* Values of the lanes, all but the first of each warp, less a group, as rows may begin within one. */
    KERNEL_HALVE_WIDTH = (KERNEL_HALVE_THREADS_Y * (KERNEL_THREADS_X - 1) - 1) * KERNEL_HALVE_GROUP,
    KERNEL_HALVE_ROWS = 4,
};

/* Both axes without reduction, radii up to 16; see filters/blur/gpu/blur_wide.cuh. Tiles are counted in
 * samples. */
enum {
    KERNEL_WIDE_RADIUS = 16,
    KERNEL_WIDE_THREADS_Y = 7, /* a warp for each 32 columns that a tile of single samples reads */
    KERNEL_WIDE_WIDTH = 192,
    KERNEL_WIDE_HEIGHT = 32,
    KERNEL_WIDE_PITCH = 336, /* bytes of a row of shared memory: an odd number of 16 bytes */
};

/* Weights times 2 as bytes: all upper ones, then all lower ones; vertical, then horizontal. Zeros are before
 * and behind them. Where they begin in `weight`, in words: */
enum {
    KERNEL_WIDE_ZEROS = 15, /* before the weights for the first of 16 sums */
    KERNEL_WIDE_Y_HIGH = 0,
    KERNEL_WIDE_Y_LOW = 16,
    KERNEL_WIDE_X_HIGH = 32,
    KERNEL_WIDE_X_LOW = 68,
    KERNEL_WIDE_WEIGHTS = 104,
};

struct wide_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    uint32_t weight[KERNEL_WIDE_WEIGHTS + 1];
    uint32_t border;
    int32_t begin; /* the first sample of a row that the first tile reads, where a group begins */
    int32_t radius_y;
    int32_t chunks_x, chunks_y; /* of 16 sources, for 16 sums */
};
KERNEL_SIZE_IS(wide_plane, 544);

struct wide_pass {
    struct wide_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t reserved;
};
KERNEL_SIZE_IS(wide_pass, 1640);

/* Tiles of the enlargement in fixed point: 192 samples by 32 rows, a block of as many threads
 * as samples. */
enum {
    KERNEL_ENLARGE_THREADS_Y = 6,
    KERNEL_ENLARGE_WIDTH = 192,
    KERNEL_ENLARGE_HEIGHT = 32,
};

struct fixed_enlargement {
    struct enlarge_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t reserved;
};
KERNEL_SIZE_IS(fixed_enlargement, 344);

#endif
