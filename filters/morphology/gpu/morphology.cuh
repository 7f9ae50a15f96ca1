/* SPDX-License-Identifier: MIT
 * Filters that order samples. Extremes go down the columns first, then along the rows: a thread makes several
 * neighbours, whose windows have most samples in common. A median is found bit by bit: the samples of the
 * window that are less than a bound are counted, with their weights, in shared memory. */
#ifndef BLURD_FILTERS_MORPHOLOGY_GPU_MORPHOLOGY_CUH
#define BLURD_FILTERS_MORPHOLOGY_GPU_MORPHOLOGY_CUH

#include "gpu/stream/grid.cuh"

/* ---- extremes ---- */

static __device__ __forceinline__ uint32_t rank_extreme(uint32_t a, uint32_t b, bool largest) {
    return largest ? max(a, b) : min(a, b);
}

/* A sample, or colour times alpha. */
template <class T>
static __device__ __forceinline__ uint32_t rank_element(const struct morphology_pass &pass, int row, int i) {
    const T *samples = row_of<const T>(pass.source, row);
    int last = pass.channels - 1;
    uint32_t value = samples[i];
    if (pass.alpha && i % pass.channels != last) {
        value *= (uint32_t)samples[i - i % pass.channels + last];
    }
    return value;
}

/* Element i of row y of the extended picture. */
static __device__ __forceinline__ uint32_t rank_load(const struct morphology_pass &pass, int y, int i) {
    int row = fold(y, pass.source.height, pass.source.edge_y);
    if (row == OUTSIDE) {
        return 0;
    }
    return pass.depth == 8 ? rank_element<uint8_t>(pass, row, i) : rank_element<uint16_t>(pass, row, i);
}

/* The element of channel c at position x of a row of column extremes. */
static __device__ __forceinline__ uint32_t rank_column(const struct morphology_pass &pass, int y, int x,
                                                       int c) {
    int column = fold(x, pass.source.width, pass.source.edge_x);
    return column == OUTSIDE ? 0 : row_of<const uint32_t>(pass.middle, y)[column * pass.channels + c];
}

/* Gives out[k] the extreme of elements k to k + 2 radius, for all k. */
template <class Load>
static __device__ __forceinline__ void rank_run(uint32_t out[KERNEL_RANK_RUN], int radius, bool largest,
                                                Load load) {
    int window = 2 * radius + 1;
    if (window < KERNEL_RANK_RUN) {
#pragma unroll
        for (int k = 0; k < KERNEL_RANK_RUN; k++) {
            uint32_t value = load(k);
            for (int i = 1; i < window; i++) {
                value = rank_extreme(value, load(k + i), largest);
            }
            out[k] = value;
        }
        return;
    }
    uint32_t common = load(KERNEL_RANK_RUN - 1);
    for (int i = KERNEL_RANK_RUN; i < window; i++) {
        common = rank_extreme(common, load(i), largest);
    }
    uint32_t before = common;
    out[KERNEL_RANK_RUN - 1] = common;
#pragma unroll
    for (int k = KERNEL_RANK_RUN - 2; k >= 0; k--) {
        before = rank_extreme(before, load(k), largest);
        out[k] = before;
    }
    uint32_t after = common;
#pragma unroll
    for (int k = 1; k < KERNEL_RANK_RUN; k++) {
        after = rank_extreme(after, load(window - 1 + k), largest);
        out[k] = rank_extreme(out[k], after, largest);
    }
}

static __device__ __forceinline__ void rank_columns(const struct morphology_pass &pass) {
    struct tile tile = tile_of(pass.columns, pass.middle);
    int i = tile.x + (int)threadIdx.x, y = tile.y + (int)threadIdx.y * KERNEL_RANK_RUN;
    if ((int)threadIdx.x >= tile.width || y >= pass.source.height) {
        return;
    }
    uint32_t out[KERNEL_RANK_RUN];
    rank_run(out, pass.radius, pass.largest, [&](int k) { return rank_load(pass, y - pass.radius + k, i); });
#pragma unroll
    for (int k = 0; k < KERNEL_RANK_RUN; k++) {
        if (y + k < pass.source.height) {
            row_of<uint32_t>(pass.middle, y + k)[i] = out[k];
        }
    }
}

template <class T>
static __device__ __forceinline__ void rank_store(const struct morphology_pass &pass, int y, int i,
                                                  uint32_t value) {
    row_of<T>(pass.target, y)[i] = (T)value;
}

static __device__ __forceinline__ void rank_rows(const struct morphology_pass &pass) {
    struct tile tile = tile_of(pass.rows, pass.target);
    int x = tile.x + (int)threadIdx.x * KERNEL_RANK_RUN, y = tile.y + (int)threadIdx.y;
    if (x >= pass.target.width || y >= pass.target.height) {
        return;
    }
    uint32_t out[KERNEL_RANK_RUN], alpha[KERNEL_RANK_RUN];
    for (int c = pass.channels - 1; c >= 0; c--) {
        rank_run(out, pass.radius, pass.largest,
                 [&](int k) { return rank_column(pass, y, x - pass.radius + k, c); });
#pragma unroll
        for (int k = 0; k < KERNEL_RANK_RUN; k++) {
            if (x + k >= pass.target.width) {
                break;
            }
            uint32_t value = out[k];
            if (c == pass.channels - 1) {
                alpha[k] = value;
            } else if (pass.alpha) {
                value = alpha[k] ? (value + alpha[k] / 2) / alpha[k] : 0;
            }
            if (pass.depth == 8) {
                rank_store<uint8_t>(pass, y, (x + k) * pass.channels + c, value);
            } else {
                rank_store<uint16_t>(pass, y, (x + k) * pass.channels + c, value);
            }
        }
    }
}

/* ---- medians ---- */

/* Shared memory: the samples of a channel in the tile with its margins, and alpha. */
struct rank_tile {
    int columns, rows;
    uint16_t *sample;
    uint16_t *weight;
};

template <class T>
static __device__ __forceinline__ uint16_t rank_sample(const struct median_plane &plane, int y, int i) {
    return row_of<const T>(plane.source, y)[i];
}

/* Loads a channel of the tile that begins at (x, y). */
static __device__ __forceinline__ void rank_load_channel(const struct median_pass &pass,
                                                         const struct median_plane &plane,
                                                         const struct rank_tile &shared, uint16_t *to, int x,
                                                         int y, int channel, int border) {
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    for (int at = thread; at < shared.columns * shared.rows; at += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        int row = at / shared.columns;
        int from_y = fold(y - plane.radius_y + row, plane.source.height, plane.source.edge_y);
        int from_x =
            fold(x - plane.radius_x + at - row * shared.columns, plane.source.width, plane.source.edge_x);
        uint16_t value = (uint16_t)border;
        if (from_x != OUTSIDE && from_y != OUTSIDE) {
            int i = from_x * pass.channels + channel;
            value = pass.depth == 8 ? rank_sample<uint8_t>(plane, from_y, i)
                                    : rank_sample<uint16_t>(plane, from_y, i);
        }
        to[at] = value;
    }
}

/* What a thread's windows have, one below the other: the weights of samples below their bounds. */
struct rank_sums {
    uint32_t of[KERNEL_MEDIAN_RUN];
};

template <bool Weighted>
static __device__ __forceinline__ struct rank_sums rank_below(const struct median_plane &plane,
                                                              const struct rank_tile &shared, int column,
                                                              int row, const uint32_t *bound) {
    struct rank_sums sums = {};
    int width = 2 * plane.radius_x + 1, height = 2 * plane.radius_y + 1;
    for (int j = 0; j < height + KERNEL_MEDIAN_RUN - 1; j++) {
        const uint16_t *sample = shared.sample + (row + j) * shared.columns + column;
        const uint16_t *weight = shared.weight + (row + j) * shared.columns + column;
        uint32_t limit[KERNEL_MEDIAN_RUN];
#pragma unroll
        for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
            limit[k] = (unsigned)(j - k) < (unsigned)height ? bound[k] : 0;
        }
#pragma unroll 4
        for (int i = 0; i < width; i++) {
            uint32_t value = sample[i], one = Weighted ? weight[i] : 1;
#pragma unroll
            for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
                sums.of[k] += value < limit[k] ? one : 0;
            }
        }
    }
    return sums;
}

/* The medians of a thread's windows. Windows with half of their weights in samples of 0 have 0; without
 * weights, too. */
template <bool Weighted>
static __device__ __forceinline__ void
rank_search(const struct median_pass &pass, const struct median_plane &plane, const struct rank_tile &shared,
            int column, int row, uint32_t *median) {
    uint32_t bound[KERNEL_MEDIAN_RUN], wanted[KERNEL_MEDIAN_RUN];
    if (Weighted) {
        for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
            bound[k] = 1u << 16;
        }
        struct rank_sums total = rank_below<true>(plane, shared, column, row, bound);
        for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
            wanted[k] = (total.of[k] + 1) / 2;
        }
    } else {
        uint32_t half = (uint32_t)((2 * plane.radius_x + 1) * (2 * plane.radius_y + 1)) / 2;
        for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
            wanted[k] = half + 1;
        }
    }
    for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
        median[k] = 0;
    }
    for (uint32_t bit = 1u << (pass.depth - 1); bit > 0; bit >>= 1) {
        for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
            bound[k] = median[k] | bit;
        }
        struct rank_sums sums = rank_below<Weighted>(plane, shared, column, row, bound);
        for (int k = 0; k < KERNEL_MEDIAN_RUN; k++) {
            median[k] = sums.of[k] < wanted[k] ? bound[k] : median[k];
        }
    }
}

/* Stores a channel of a thread's pixels. `visible` gets whether alpha is not 0, and is read for colours. */
static __device__ __forceinline__ void rank_store_medians(const struct median_pass &pass,
                                                          const struct median_plane &plane, int x, int y,
                                                          int end, int channel, const uint32_t *median,
                                                          uint32_t *visible) {
    for (int k = 0; k < KERNEL_MEDIAN_RUN && y + k < end; k++) {
        if (channel == pass.channels - 1) {
            visible[k] = !pass.alpha || median[k] > 0;
        }
        uint32_t value = visible[k] ? median[k] : 0;
        int i = x * pass.channels + channel;
        if (pass.depth == 8) {
            row_of<uint8_t>(plane.target, y + k)[i] = (uint8_t)value;
        } else {
            row_of<uint16_t>(plane.target, y + k)[i] = (uint16_t)value;
        }
    }
}

static __device__ __forceinline__ void rank_median_tile(const struct median_pass &pass) {
    const struct median_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    struct rank_tile shared;
    shared.columns = KERNEL_MEDIAN_TILE + 2 * plane.radius_x;
    shared.rows = KERNEL_MEDIAN_TILE + 2 * plane.radius_y;
    shared.sample = (uint16_t *)block_memory;
    shared.weight = shared.sample + shared.columns * shared.rows;
    int column = (int)threadIdx.x, row = (int)threadIdx.y * KERNEL_MEDIAN_RUN, last = pass.channels - 1;
    uint32_t median[KERNEL_MEDIAN_RUN], visible[KERNEL_MEDIAN_RUN] = {};
    if (pass.alpha) {
        rank_load_channel(pass, plane, shared, shared.weight, tile.x, tile.y, last, 0);
    }
    for (int c = last; c >= 0; c--) {
        rank_load_channel(pass, plane, shared, shared.sample, tile.x, tile.y, c, plane.border);
        __syncthreads();
        if (column < tile.width && row < tile.height) {
            if (pass.alpha && c != last) {
                rank_search<true>(pass, plane, shared, column, row, median);
            } else {
                rank_search<false>(pass, plane, shared, column, row, median);
            }
            rank_store_medians(pass, plane, tile.x + column, tile.y + row, tile.y + tile.height, c, median,
                               visible);
        }
        __syncthreads();
    }
}

#endif
