/* SPDX-License-Identifier: MIT
 * The enlargement: a cubic B-spline through the blurred low-resolution picture, horizontally into
 * shared memory, then vertically into the target. */
#ifndef BLURD_GPU_BLUR_ENLARGE_CUH
#define BLURD_GPU_BLUR_ENLARGE_CUH

#include "gpu/blur_whole.cuh"

enum { SPLINE_TAPS = 4 };

struct whole_spline {
    uint16_t weight[SPLINE_TAPS];
};

struct real_spline {
    float weight[SPLINE_TAPS];
};

/* The basis functions at phase / 2^levels, times 6 * 2^(3 * levels); below 2^27. */
static __device__ __forceinline__ int64_t spline_basis(int levels, int phase, int k) {
    int64_t f = 1 << levels;
    int64_t i = k == 0 || k == 2 ? f - phase : phase;
    return k == 0 || k == 3 ? i * i * i : 3 * i * i * i - 6 * i * i * f + 4 * f * f * f;
}

/* As blur_enlarge() of filters/blur.h. The divisor is 6 * 8^levels: a shift, then a division by 3 of a
 * number that fits in 32 bits. */
static __device__ __forceinline__ void fill_spline(struct whole_spline &spline, int levels, int phase) {
    int rest = 1 << 15;
    for (int k = 0; k < SPLINE_TAPS; k++) {
        int64_t scaled = (spline_basis(levels, phase, k) << 15) + ((int64_t)3 << (3 * levels));
        uint32_t weight = (uint32_t)(scaled >> (3 * levels + 1)) / 3;
        spline.weight[k] = (uint16_t)weight;
        rest -= (int)weight;
    }
    int larger = 2 * phase <= 1 << levels ? 1 : 2;
    spline.weight[larger] = (uint16_t)(spline.weight[larger] + rest);
}

static __device__ __forceinline__ void fill_spline(struct real_spline &spline, int levels, int phase) {
    for (int k = 0; k < SPLINE_TAPS; k++) {
        double all = (double)((int64_t)6 << (3 * levels));
        spline.weight[k] = (float)((double)spline_basis(levels, phase, k) / all);
    }
}

/* Shared memory: the splines of a tile's columns and rows, as many as differ, then the values. */
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

/* The rows of the source that a tile reads. */
static __device__ __forceinline__ int
low_first(const struct enlarge_plane &plane, int y) {
    return plane.levels_y ? (y >> plane.levels_y) - 1 - plane.source.lo_y : y - plane.source.lo_y;
}

static __device__ __forceinline__ int low_rows(const struct enlarge_plane &plane, const struct tile &tile) {
    int last = tile.y + tile.height - 1;
    return plane.levels_y ? (last >> plane.levels_y) - (tile.y >> plane.levels_y) + SPLINE_TAPS : tile.height;
}

/* ---- whole numbers ---- */

template <int Channels>
static __device__ __forceinline__ uint32_t enlarged_sum(const struct enlarge_plane &plane,
                                                        const struct enlargement<struct whole_spline> &made,
                                                        const uint16_t *row, int tile_x, int i) {
    int x = i / Channels;
    const struct whole_spline &spline = made.x[x & made.mask_x];
    int low = ((tile_x + x) >> plane.levels_x) - 1 - plane.source.lo_x;
    const uint16_t *value = row + low * Channels + (i - x * Channels);
    uint32_t sum = 0;
    for (int k = 0; k < SPLINE_TAPS; k++) {
        sum += spline.weight[k] * (uint32_t)value[k * Channels];
    }
    return sum;
}

/* The horizontal enlargement of the rows of a tile; without levels a copy. */
template <int Channels>
static __device__ __forceinline__ void enlarge_rows(const struct enlarge_plane &plane,
                                                    const struct tile &tile,
                                                    const struct enlargement<struct whole_spline> &made) {
    int first = low_first(plane, tile.y);
    int rows = low_rows(plane, tile);
    uint16_t *values = (uint16_t *)made.values;
    for (int y = (int)threadIdx.y; y < rows; y += KERNEL_THREADS_Y) {
        const uint16_t *row = row_of<const uint16_t>(plane.source, first + y);
        uint16_t *out = values + y * plane.tiles.columns;
        for (int i = (int)threadIdx.x; i < tile.width * Channels; i += KERNEL_THREADS_X) {
            if (plane.levels_x) {
                put_rounded(out + i, enlarged_sum<Channels>(plane, made, row, tile.x, i));
            } else {
                out[i] = row[(tile.x - plane.source.lo_x) * Channels + i];
            }
        }
    }
}

/* The horizontal enlargement where it is the last pass. */
template <int Channels>
static __device__ __forceinline__ void
enlarge_rows_last(const struct enlarge_plane &plane, const struct tile &tile,
                  const struct enlargement<struct whole_spline> &made) {
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        const uint16_t *row = row_of<const uint16_t>(plane.source, tile.y + y - plane.source.lo_y);
        uint8_t *out = row_of<uint8_t>(plane.target, tile.y + y) + tile.x * Channels;
        for (int i = (int)threadIdx.x; i < tile.width * Channels; i += KERNEL_THREADS_X) {
            put_rounded(out + i, enlarged_sum<Channels>(plane, made, row, tile.x, i));
        }
    }
}

/* Writes `count` of four samples; whole groups at once. */
static __device__ __forceinline__ void store_samples(uint8_t *to, const struct sums &sum, int count) {
    if (count >= KERNEL_GROUP) {
        *(uint32_t *)to =
            sum.of[0] >> 22 | sum.of[1] >> 22 << 8 | sum.of[2] >> 22 << 16 | sum.of[3] >> 22 << 24;
        return;
    }
    for (int k = 0; k < KERNEL_GROUP - 1; k++) {
        if (k < count) {
            to[k] = (uint8_t)(sum.of[k] >> 22);
        }
    }
}

/* The vertical enlargement. Threads go along columns, four samples wide. */
template <int Channels>
static __device__ __forceinline__ void enlarge_columns(const struct enlarge_plane &plane,
                                                       const struct tile &tile,
                                                       const struct enlargement<struct whole_spline> &made) {
    int top = tile.y >> plane.levels_y;
    int length = tile.width * Channels;
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        const struct whole_spline spline = made.y[y & made.mask_y];
        int low = ((tile.y + y) >> plane.levels_y) - top;
        const uint16_t *values = (const uint16_t *)made.values + low * plane.tiles.columns;
        uint8_t *out = row_of<uint8_t>(plane.target, tile.y + y) + tile.x * Channels;
        for (int i = (int)threadIdx.x * KERNEL_GROUP; i < length; i += KERNEL_THREADS_X * KERNEL_GROUP) {
            struct sums sum = {{1 << 21, 1 << 21, 1 << 21, 1 << 21}};
            for (int k = 0; k < SPLINE_TAPS; k++) {
                uint2 word = *(const uint2 *)(values + k * plane.tiles.columns + i);
                struct value_group group = {word.x, word.y};
                add_values(sum, spline.weight[k], group);
            }
            store_samples(out + i, sum, length - i);
        }
    }
}

template <int Channels>
static __device__ __forceinline__ void whole_enlarge_tile(const struct whole_enlargement &pass) {
    const struct enlarge_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    struct enlargement<struct whole_spline> made = fill_splines<struct whole_spline>(plane, tile);
    __syncthreads();
    if (plane.levels_y == 0) {
        enlarge_rows_last<Channels>(plane, tile, made);
        return;
    }
    enlarge_rows<Channels>(plane, tile, made);
    __syncthreads();
    enlarge_columns<Channels>(plane, tile, made);
}

#endif
