/* SPDX-License-Identifier: MIT
 * Where samples lie: positions, edges and tiles, for both kinds of arithmetic. */
#ifndef BLURD_GPU_STREAM_GRID_CUH
#define BLURD_GPU_STREAM_GRID_CUH

#include "gpu/cuda/kernels.h"

/* What the launch gives each block. */
extern __shared__ uint4 block_memory[];

enum { OUTSIDE = -1 };

/* The index that stands for `at` on an axis of `size` samples, or OUTSIDE. With one sample the launcher makes
 * KERNEL_CLAMP of what repeats, so that no period is 0. */
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

/* Rounds towards minus infinity. */
static __device__ __forceinline__ int floor_divide(int value, int by) {
    return value >= 0 ? value / by : -((by - 1 - value) / by);
}

template <class T> static __device__ __forceinline__ T *row_of(const struct kernel_grid &grid, int y) {
    return (T *)(grid.data + (uint64_t)(y * grid.stride));
}

/* A block's tile: where its target pixels begin and how many there are. */
struct tile {
    int x, y;
    int width, height;
};

static __device__ __forceinline__ struct tile tile_of(const struct kernel_tiles &tiles,
                                                      const struct kernel_grid &target) {
    int index = (int)blockIdx.x - tiles.first_tile;
    int row = tiles.inverse ? (int)((uint64_t)(uint32_t)index * tiles.inverse >> 32) : index;
    row -=
        row * tiles.tiles_x > index; /* the inverse is rounded up: one too many where there are many tiles */
    struct tile tile;
    tile.x = (index - row * tiles.tiles_x) * tiles.width;
    tile.y = row * tiles.height;
    tile.width = min(tiles.width, target.width - tile.x);
    tile.height = min(tiles.height, target.height - tile.y);
    return tile;
}

/* The plane whose tiles have this block. Interleaved samples are the only one, which is known without
 * looking. */
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

/* The source position, as an index of its grid, around which target index `at` is summed. */
static __device__ __forceinline__ int centre_of(int at, int target_lo, int shift, int source_lo) {
    return (target_lo + at) * (1 << shift) - source_lo;
}

/* The first sample of the source row that a tile reads, aligned down to a group; the rows of
 * shared memory begin there. */
static __device__ __forceinline__ int first_sample(int centre, int radius, int channels) {
    return ((centre - radius) * channels) & ~(KERNEL_GROUP - 1);
}

#endif
