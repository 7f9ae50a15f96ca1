/* SPDX-License-Identifier: MIT
 * The enlargement in single precision: a cubic B-spline through the blurred low-resolution picture,
 * horizontally into shared memory, then vertically into the target. blur_spline.cuh has the fixed-point
 * version. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_ENLARGE_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_ENLARGE_CUH

#include "gpu/stream/grid.cuh"

enum { SPLINE_TAPS = 4 };

struct float_spline {
    float weight[SPLINE_TAPS];
};

/* The basis functions at phase / 2^levels, times 6 * 2^(3 * levels); below 2^27. */
static __device__ __forceinline__ int64_t spline_basis(int levels, int phase, int k) {
    int64_t f = 1 << levels;
    int64_t i = k == 0 || k == 2 ? f - phase : phase;
    return k == 0 || k == 3 ? i * i * i : 3 * i * i * i - 6 * i * i * f + 4 * f * f * f;
}

static __device__ __forceinline__ void fill_spline(struct float_spline &spline, int levels, int phase) {
    for (int k = 0; k < SPLINE_TAPS; k++) {
        double all = (double)((int64_t)6 << (3 * levels));
        spline.weight[k] = (float)((double)spline_basis(levels, phase, k) / all);
    }
}

/* Shared memory: the distinct splines of a tile's columns and rows, then the values. */
template <class Spline> struct enlargement {
    Spline *x, *y;
    int mask_x, mask_y;
    char *values;
};

template <class Spline>
static __device__ __forceinline__ struct enlargement<Spline> fill_splines(const struct enlarge_plane &plane,
                                                                          const struct tile &tile) {
    struct enlargement<Spline> made;
    made.mask_x = min(plane.tiles.width, 1 << plane.levels_x) - 1;
    made.mask_y = min(plane.tiles.height, 1 << plane.levels_y) - 1;
    made.x = (Spline *)block_memory;
    made.y = made.x + made.mask_x + 1;
    made.values = (char *)(((uint64_t)(made.y + made.mask_y + 1) + 15) & ~(uint64_t)15);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int count = made.mask_x + made.mask_y + 2;
    for (int i = thread; i < count; i += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        bool across = i <= made.mask_x;
        int at = across ? tile.x + i : tile.y + i - made.mask_x - 1;
        int levels = across ? plane.levels_x : plane.levels_y;
        fill_spline(across ? made.x[i] : made.y[i - made.mask_x - 1], levels, at & ((1 << levels) - 1));
    }
    return made;
}

/* The number of source rows that a tile reads. */
static __device__ __forceinline__ int
low_first(const struct enlarge_plane &plane, int y) {
    return plane.levels_y ? (y >> plane.levels_y) - 1 - plane.source.lo_y : y - plane.source.lo_y;
}

static __device__ __forceinline__ int low_rows(const struct enlarge_plane &plane, const struct tile &tile) {
    int last = tile.y + tile.height - 1;
    return plane.levels_y ? (last >> plane.levels_y) - (tile.y >> plane.levels_y) + SPLINE_TAPS : tile.height;
}

#endif
