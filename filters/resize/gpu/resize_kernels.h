/* SPDX-License-Identifier: MIT
 * What the launcher of a resize (C) hands to its kernels (CUDA C++), see filters/resize/gpu/resize.cuh, by
 * value and in device memory. Both read this header. */
#ifndef BLURD_FILTERS_RESIZE_GPU_RESIZE_KERNELS_H
#define BLURD_FILTERS_RESIZE_GPU_RESIZE_KERNELS_H

#include "gpu/cuda/kernels.h"

enum {
    KERNEL_RESIZE_LINES = 4, /* axes: those of the picture, and those of reduced planes */
    KERNEL_RESIZE_QUAD = 4,  /* samples that a thread sums up in its columns */
    KERNEL_RESIZE_WIDTH = KERNEL_THREADS_X * KERNEL_RESIZE_QUAD, /* of a tile of columns, in samples */
    KERNEL_RESIZE_ROWS_1 = 4, /* rows that a thread makes of a plane with one channel, */
    KERNEL_RESIZE_ROWS = 2,   /* and of one with several */
    KERNEL_RESIZE_LONG = 96,  /* with more taps in a row, a warp makes a pixel */
    KERNEL_RESIZE_STRIDE =
        33, /* of blocks of products in shared memory, so that they do not meet in a bank */
    KERNEL_RESIZE_LONG_BYTES = KERNEL_THREADS_Y * KERNEL_THREADS_X * KERNEL_RESIZE_STRIDE * 4,
};

/* The samples of the source that make a sample of the target: from to from + count - 1. */
struct resize_range {
    int32_t from, count;
};
KERNEL_SIZE_IS(resize_range, 8);

/* The weights of an axis. Tap k of sample i is number i * sample_step + k * tap_step of them. */
struct resize_line {
    double scale, begin; /* as of resize_taps_at() */
    uint64_t ranges;     /* device address of `count` struct resize_range */
    uint64_t weights;    /* of floats */
    int32_t size, count; /* samples of the source and of the target */
    int32_t sample_step, tap_step;
    int32_t first_block, reserved;
};
KERNEL_SIZE_IS(resize_line, 56);

struct resize_weights_pass {
    struct resize_line line[KERNEL_RESIZE_LINES];
    int32_t lines;
    int32_t kernel; /* enum resize_kernel */
};
KERNEL_SIZE_IS(resize_weights_pass, 232);

/* Sums of columns: `target` has a float for each sample from lo_x on of the source's rows. */
struct resize_columns_plane {
    struct kernel_grid source, target;
    struct kernel_tiles tiles;
    uint64_t ranges, weights; /* of the target's first row */
    int32_t taps;             /* weights of a row, at most */
    int32_t reserved;
};
KERNEL_SIZE_IS(resize_columns_plane, 128);

struct resize_columns_pass {
    struct resize_columns_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t channels;
};
KERNEL_SIZE_IS(resize_columns_pass, 392);

/* Rows of the canvas. The picture is in a rectangle of them. */
struct resize_rows_plane {
    struct kernel_grid source; /* sums of columns, a row for each of the rectangle */
    struct kernel_grid target;
    struct kernel_tiles tiles;
    uint64_t ranges, weights;
    int32_t left, top, width; /* of the rectangle, in pixels; source.height is its height */
    uint16_t colour[4];       /* around it */
    int32_t taps;             /* weights of a pixel, at most, where they lie side by side */
};
KERNEL_SIZE_IS(resize_rows_plane, 144);

struct resize_rows_pass {
    struct resize_rows_plane plane[KERNEL_PLANES];
    int32_t planes;
    int32_t channels, depth, alpha; /* as of struct float_pass */
    int32_t kept;                   /* 1: what surrounds the rectangles stays, instead of the colour */
    int32_t reserved;
};
KERNEL_SIZE_IS(resize_rows_pass, 456);

#endif
