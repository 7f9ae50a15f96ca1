/* SPDX-License-Identifier: MIT
 * The enlargement in fixed point: a cubic B-spline through the blurred low-resolution picture. In the
 * horizontal pass a thread makes one column, whose weights stay in registers, and stores it to shared memory.
 * In the vertical pass it makes four samples of eight rows, most of which need the same four value rows. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_SPLINE_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_SPLINE_CUH

#include "filters/blur/gpu/blur_column.cuh"
#include "filters/blur/gpu/blur_enlarge.cuh"

enum { SPLINE_ROWS = 8 /* of a thread in the vertical pass */ };

struct fixed_spline {
    uint32_t weight[SPLINE_TAPS];
};

/* scaled * 32768 / (6 * 8^levels), rounded: a shift, then a division of 32 bits by 3. */
static __device__ __forceinline__ uint32_t spline_weight(uint32_t scaled, int levels) {
    uint64_t sum = ((uint64_t)scaled << 15) + ((uint64_t)3 << (3 * levels));
    return (uint32_t)(sum >> (3 * levels + 1)) / 3;
}

/* See blur_enlarge() in filters/blur/blur.h. The basis functions times 6 * 8^levels are below 2^27. */
static __device__ __forceinline__ struct fixed_spline spline_at(int levels, int position) {
    int f = 1 << levels;
    int i = position & (f - 1);
    int r = f - i;
    struct fixed_spline spline;
    spline.weight[0] = spline_weight((uint32_t)(r * r * r), levels);
    spline.weight[1] = spline_weight((uint32_t)(3 * i * i * i - 6 * i * i * f + 4 * f * f * f), levels);
    spline.weight[2] = spline_weight((uint32_t)(3 * r * r * r - 6 * r * r * f + 4 * f * f * f), levels);
    spline.weight[3] = spline_weight((uint32_t)(i * i * i), levels);
    uint32_t rest = (1 << 15) - spline.weight[0] - spline.weight[1] - spline.weight[2] - spline.weight[3];
    spline.weight[1] += 2 * i <= f ? rest : 0;
    spline.weight[2] += 2 * i <= f ? 0 : rest;
    return spline;
}

/* ---- horizontal ---- */

/* A thread's column of a tile: the position of its values in the first source row. */
struct spline_column {
    struct fixed_spline spline;
    const uint16_t *value;
    int64_t stride; /* of the source, in values */
};

template <int Channels>
static __device__ __forceinline__ struct spline_column spline_column_at(const struct enlarge_plane &plane,
                                                                        const struct tile &tile, int i) {
    struct spline_column column;
    int x = tile.x + i / Channels;
    int low = plane.levels_x ? (x >> plane.levels_x) - 1 - plane.source.lo_x : x - plane.source.lo_x;
    column.spline = spline_at(plane.levels_x, x);
    column.value =
        row_of<const uint16_t>(plane.source, low_first(plane, tile.y)) + low * Channels + i % Channels;
    column.stride = plane.source.stride / (int64_t)sizeof(uint16_t);
    return column;
}

template <int Channels>
static __device__ __forceinline__ uint32_t spline_across(const struct spline_column &column, int y) {
    const uint16_t *value = column.value + y * column.stride;
    uint32_t sum = 0;
#pragma unroll
    for (int k = 0; k < SPLINE_TAPS; k++) {
        sum += column.spline.weight[k] * __ldg(value + k * Channels);
    }
    return sum;
}

/* Stores a row to shared memory. Without levels it is a copy. */
template <int Channels>
static __device__ __forceinline__ void spline_rows(const struct enlarge_plane &plane, const struct tile &tile,
                                                   uint16_t *values) {
    int i = thread_number();
    if (i >= tile.width * Channels) {
        return;
    }
    struct spline_column column = spline_column_at<Channels>(plane, tile, i);
    int rows = low_rows(plane, tile);
    if (plane.levels_x == 0) {
        for (int y = 0; y < rows; y++) {
            values[y * KERNEL_ENLARGE_WIDTH + i] = __ldg(column.value + y * column.stride);
        }
        return;
    }
#pragma unroll 4
    for (int y = 0; y < rows; y++) {
        put_rounded(values + y * KERNEL_ENLARGE_WIDTH + i, spline_across<Channels>(column, y));
    }
}

/* Stores samples, where this is the last pass. */
template <int Channels>
static __device__ __forceinline__ void spline_rows_last(const struct enlarge_plane &plane,
                                                        const struct tile &tile) {
    int i = thread_number();
    if (i >= tile.width * Channels) {
        return;
    }
    struct spline_column column = spline_column_at<Channels>(plane, tile, i);
#pragma unroll 4
    for (int y = 0; y < tile.height; y++) {
        put_rounded(row_of<uint8_t>(plane.target, tile.y + y) + tile.x * Channels + i,
                    spline_across<Channels>(column, y));
    }
}

/* ---- vertical ---- */

/* Stores the highest bytes of four sums, or fewer at the end of a row. */
static __device__ __forceinline__ void spline_store(uint8_t *to, const struct sums &sum, int count) {
    uint32_t word = __byte_perm(__byte_perm(sum.of[0], sum.of[1], 0x0073),
                                __byte_perm(sum.of[2], sum.of[3], 0x0073), 0x5410);
    if (count >= KERNEL_GROUP) {
        __stcg((uint32_t *)to, word);
        return;
    }
#pragma unroll 1
    for (int k = 0; k < count; k++) {
        to[k] = (uint8_t)(word >> 8 * k);
    }
}

/* Makes rows y to y + Run - 1 of four samples. All of them need the same rows of values. */
template <int Run>
static __device__ __forceinline__ void spline_run(const struct tile &tile, const uint16_t *values,
                                                  const uint4 *weights, int y, uint8_t *to, int64_t stride,
                                                  int count) {
    uint32_t value[SPLINE_TAPS][KERNEL_GROUP];
#pragma unroll
    for (int k = 0; k < SPLINE_TAPS; k++) {
        uint2 word = *(const uint2 *)(values + k * KERNEL_ENLARGE_WIDTH);
        value[k][0] = word.x & 0xffff;
        value[k][1] = word.x >> 16;
        value[k][2] = word.y & 0xffff;
        value[k][3] = word.y >> 16;
    }
#pragma unroll
    for (int n = 0; n < Run; n++) {
        const uint4 weight = weights[y + n];
        struct sums sum;
#pragma unroll
        for (int i = 0; i < KERNEL_GROUP; i++) {
            sum.of[i] = (1u << 23) + weight.x * value[0][i] + weight.y * value[1][i] +
                        weight.z * value[2][i] + weight.w * value[3][i];
        }
        if (y + n < tile.height) {
            spline_store(to + n * stride, sum, count);
        }
    }
}

template <int Channels, int Run>
static __device__ __forceinline__ void spline_columns(const struct enlarge_plane &plane,
                                                      const struct tile &tile, const uint4 *weights,
                                                      const uint16_t *values) {
    constexpr int groups = KERNEL_ENLARGE_WIDTH / KERNEL_GROUP;
    int i = thread_number() % groups * KERNEL_GROUP;
    int first = thread_number() / groups * SPLINE_ROWS;
    int count = tile.width * Channels - i;
    uint8_t *to = row_of<uint8_t>(plane.target, tile.y + first) + tile.x * Channels + i;
#pragma unroll 1
    for (int n = 0; n < SPLINE_ROWS; n += Run) {
        int y = first + n;
        int low = ((tile.y + y) >> plane.levels_y) - (tile.y >> plane.levels_y);
        if (count > 0 && y < tile.height) {
            spline_run<Run>(tile, values + low * KERNEL_ENLARGE_WIDTH + i, weights, y,
                            to + n * plane.target.stride, plane.target.stride, count);
        }
    }
}

/* ---- both ---- */

template <int Channels>
static __device__ __forceinline__ void spline_tile(const struct fixed_enlargement &pass) {
    const struct enlarge_plane &plane = pass.plane[plane_of<Channels>(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    if (plane.levels_y == 0) {
        spline_rows_last<Channels>(plane, tile);
        return;
    }
    uint4 *weights = block_memory; /* multiplied by 4: the highest byte of a sum is the sample */
    uint16_t *values = (uint16_t *)(block_memory + KERNEL_ENLARGE_HEIGHT);
    int y = thread_number();
    if (y < KERNEL_ENLARGE_HEIGHT) {
        struct fixed_spline spline = spline_at(plane.levels_y, tile.y + y);
        weights[y] = make_uint4(4 * spline.weight[0], 4 * spline.weight[1], 4 * spline.weight[2],
                                4 * spline.weight[3]);
    }
    spline_rows<Channels>(plane, tile, values);
    __syncthreads();
    if (plane.levels_y == 1) {
        spline_columns<Channels, 2>(plane, tile, weights, values);
    } else {
        spline_columns<Channels, 4>(plane, tile, weights, values);
    }
}

#endif
