/* SPDX-License-Identifier: MIT
 * Positions of samples, edges and tiles, for fixed-point and floating-point kernels. */
#ifndef BLURD_GPU_STREAM_GRID_CUH
#define BLURD_GPU_STREAM_GRID_CUH

#include "gpu/cuda/kernels.h"

/* The dynamic shared memory of a block. */
extern __shared__ uint4 block_memory[];

enum { OUTSIDE = -1 };

/* The index that stands for `at` on an axis of `size` samples, or OUTSIDE. For an axis of one sample the
 * launcher replaces repeated edges by KERNEL_CLAMP, so that no period is 0. */
static __device__ __forceinline__ int fold(int at, int size, int edge) {
    if ((unsigned)at < (unsigned)size) {
        return at;
    }
    if (edge == KERNEL_CLAMP) {
        return at < 0 ? 0 : size - 1;
    }
    if (edge == KERNEL_ZERO) {
        return OUTSIDE;
    }
    int period = edge == KERNEL_WRAP ? size : 2 * (size - 1);
    at %= period;
    at += at < 0 ? period : 0;
    return at < size ? at : period - at;
}

/* Divides and rounds towards minus infinity. */
static __device__ __forceinline__ int floor_divide(int value, int by) {
    return value >= 0 ? value / by : -((by - 1 - value) / by);
}

template <class T> static __device__ __forceinline__ T *row_of(const struct kernel_grid &grid, int y) {
    return (T *)(grid.data + (uint64_t)(y * grid.stride));
}

/* A block's tile: its first target pixel and its size. */
struct tile {
    int x, y;
    int width, height;
};

static __device__ __forceinline__ struct tile tile_of(const struct kernel_tiles &tiles,
                                                      const struct kernel_grid &target) {
    int index = (int)blockIdx.x - tiles.first_tile;
    int row = tiles.inverse ? (int)((uint64_t)(uint32_t)index * tiles.inverse >> 32) : index;
    row -= row * tiles.tiles_x > index; /* the rounded-up inverse may give one row too many */
    struct tile tile;
    tile.x = (index - row * tiles.tiles_x) * tiles.width;
    tile.y = row * tiles.height;
    tile.width = min(tiles.width, target.width - tile.x);
    tile.height = min(tiles.height, target.height - tile.y);
    return tile;
}

/* The plane that this block works on. Interleaved samples are a single plane. */
template <int Channels = 1, class Pass> static __device__ __forceinline__ int plane_of(const Pass &pass) {
    int plane = 0;
    if (Channels > 1) {
        return plane;
    }
    for (int i = 1; i < pass.planes; i++) {
        plane += (int)blockIdx.x >= pass.plane[i].tiles.first_tile;
    }
    return plane;
}

/* The index of the source sample at the centre of target index `at`. */
static __device__ __forceinline__ int centre_of(int at, int target_lo, int shift, int source_lo) {
    return (target_lo + at) * (1 << shift) - source_lo;
}

/* The first sample that a tile reads of a row, aligned down to a group. Rows of shared memory begin there. */
static __device__ __forceinline__ int first_sample(int centre, int radius, int channels) {
    return ((centre - radius) * channels) & ~(KERNEL_GROUP - 1);
}

#endif
