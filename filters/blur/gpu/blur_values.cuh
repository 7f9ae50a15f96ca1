/* SPDX-License-Identifier: MIT
 * Passes in fixed-point arithmetic. *Values* are samples times 128, in 16 bits. Weights have 15 bits and sum
 * to 32768, and sums are exact in 32 bits in any order. This file has the blur without reduction for every
 * radius. Smaller radii have faster kernels, so only kernel sizes above 33 use this one. Threads work on
 * groups of four adjacent samples of a row. The distance of taps along a row is the number of channels. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_VALUES_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_VALUES_CUH

#include "filters/blur/gpu/fixed_kernels.h"
#include "gpu/stream/dot.cuh"
#include "gpu/stream/grid.cuh"

struct sums {
    uint32_t of[KERNEL_GROUP];
};

struct value_group { /* four values of 16 bits */
    uint32_t low, high;
};

static __device__ __forceinline__ struct value_group pack_values(const struct sums &sum, int shift) {
    struct value_group group;
    group.low = (sum.of[0] >> shift) | (sum.of[1] >> shift) << 16;
    group.high = (sum.of[2] >> shift) | (sum.of[3] >> shift) << 16;
    return group;
}

/* Loads four samples at `at`, which is inside the row. Row `y` may lie outside. */
static __device__ __forceinline__ uint32_t load_samples(const struct fixed_plane &plane, int y, int at) {
    y = fold(y, plane.source.height, plane.source.edge_y);
    return y == OUTSIDE ? plane.border * 0x01010101u
                        : *(const uint32_t *)(row_of<const uint8_t>(plane.source, y) + at);
}

/* Weights k and k + 1, where 0 is the tap at -radius. Weights behind the last tap are 0. */
static __device__ __forceinline__ uint32_t weight_pair(const struct fixed_taps &taps, int k) {
    int radius = taps.radius;
    uint32_t first = taps.weight[abs(k - radius)];
    uint32_t second = k < 2 * radius ? taps.weight[abs(k + 1 - radius)] : 0;
    return first | second << 16;
}

/* Vertical sums of four samples around row `centre`. Interleaves two rows for the two-way dot product. */
static __device__ __forceinline__ struct value_group column_values(const struct fixed_plane &plane,
                                                                   int centre, int at) {
    struct sums sum = {{128, 128, 128, 128}}; /* half of 1 << 8 */
    int first = centre - plane.y.radius;
    for (int k = 0; k <= 2 * plane.y.radius; k += 2) {
        uint32_t a = load_samples(plane, first + k, at);
        uint32_t b = k < 2 * plane.y.radius ? load_samples(plane, first + k + 1, at) : 0;
        uint32_t weights = weight_pair(plane.y, k);
        uint32_t low = __byte_perm(a, b, 0x5140);
        uint32_t high = __byte_perm(a, b, 0x7362);
        sum.of[0] = dot_low(weights, low, sum.of[0]);
        sum.of[1] = dot_high(weights, low, sum.of[1]);
        sum.of[2] = dot_low(weights, high, sum.of[2]);
        sum.of[3] = dot_high(weights, high, sum.of[3]);
    }
    return pack_values(sum, 8);
}

static __device__ __forceinline__ void add_values(struct sums &sum, uint32_t weight,
                                                  const struct value_group &group) {
    sum.of[0] += weight * (group.low & 0xffff);
    sum.of[1] += weight * (group.low >> 16);
    sum.of[2] += weight * (group.high & 0xffff);
    sum.of[3] += weight * (group.high >> 16);
}

/* The value at a position that may lie outside the row. */
static __device__ uint16_t edge_value(const struct fixed_plane &plane, int channels, int centre, int at) {
    int x = floor_divide(at, channels);
    int channel = at - x * channels;
    x = fold(x, plane.source.width, plane.source.edge_x);
    if (x == OUTSIDE) {
        return (uint16_t)(plane.border << 7);
    }
    at = x * channels + channel;
    struct value_group group = column_values(plane, centre, at & ~(KERNEL_GROUP - 1));
    uint32_t word = at & 2 ? group.high : group.low;
    return (uint16_t)(at & 1 ? word >> 16 : word);
}

/* The vertical pass of a tile into shared memory. Groups beyond the row's ends are made value by value. */
static __device__ __forceinline__ void tile_columns(const struct fixed_plane &plane, int channels,
                                                    const struct tile &tile, int first) {
    uint16_t *memory = (uint16_t *)block_memory;
    int end = plane.source.width * channels;
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        int centre = centre_of(tile.y + y, plane.target.lo_y, plane.y.shift, plane.source.lo_y);
        uint16_t *row = memory + y * plane.tiles.columns;
        for (int i = (int)threadIdx.x * KERNEL_GROUP; i < plane.tiles.columns;
             i += KERNEL_THREADS_X * KERNEL_GROUP) {
            int at = first + i;
            if (at >= 0 && at + KERNEL_GROUP <= end) {
                struct value_group group = column_values(plane, centre, at);
                *(uint2 *)(row + i) = make_uint2(group.low, group.high);
                continue;
            }
            for (int k = 0; k < KERNEL_GROUP; k++) {
                row[i + k] = edge_value(plane, channels, centre, at + k);
            }
        }
    }
}

static __device__ __forceinline__ uint32_t row_sum(const struct fixed_taps &taps, int channels,
                                                   const uint16_t *value) {
    uint32_t sum = taps.weight[0] * (uint32_t)value[0];
    for (int k = 1; k <= taps.radius; k++) {
        sum += taps.weight[k] * ((uint32_t)value[-k * channels] + value[k * channels]);
    }
    return sum;
}

static __device__ __forceinline__ void put_rounded(uint8_t *to, uint32_t sum) {
    *to = (uint8_t)((sum + (1 << 21)) >> 22);
}

static __device__ __forceinline__ void put_rounded(uint16_t *to, uint32_t sum) {
    *to = (uint16_t)((sum + (1 << 14)) >> 15);
}

/* The horizontal pass of a tile from shared memory. */
static __device__ __forceinline__ void tile_rows(const struct fixed_plane &plane, int channels,
                                                 const struct tile &tile, int first) {
    const uint16_t *memory = (const uint16_t *)block_memory;
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        const uint16_t *row = memory + y * plane.tiles.columns;
        uint8_t *out = row_of<uint8_t>(plane.target, tile.y + y) + tile.x * channels;
        for (int i = (int)threadIdx.x; i < tile.width * channels; i += KERNEL_THREADS_X) {
            int x = i / channels;
            int centre = centre_of(tile.x + x, plane.target.lo_x, plane.x.shift, plane.source.lo_x);
            int at = centre * channels + (i - x * channels) - first;
            put_rounded(out + i, row_sum(plane.x, channels, row + at));
        }
    }
}

static __device__ __forceinline__ void fixed_pass_tile(const struct fixed_pass &pass) {
    const struct fixed_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    int centre = centre_of(tile.x, plane.target.lo_x, plane.x.shift, plane.source.lo_x);
    int first = first_sample(centre, plane.x.radius, pass.channels);
    tile_columns(plane, pass.channels, tile, first);
    __syncthreads();
    tile_rows(plane, pass.channels, tile, first);
}

#endif
