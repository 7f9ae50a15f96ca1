/* SPDX-License-Identifier: MIT
 * A stage of the reduction. The weights of the three stages are the same for every request, so they are
 * constants, and both loops are unrolled.
 *
 * Vertically a thread makes a few rows of four samples from one window of source rows; pairs of picture rows
 * go through the two-way dot product. Shared memory holds the values sorted by their position modulo the
 * step, so that adjacent threads read adjacent values in the horizontal pass for any number of channels. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_REDUCE_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_REDUCE_CUH

#include "filters/blur/gpu/blur_column.cuh"

template <int Shift, int Channels> struct reduction {
    static constexpr int step = 1 << Shift;
    static constexpr int radius = 2 * (step - 1);
    static constexpr int length = KERNEL_REDUCE_WIDTH >> Shift; /* samples in a tile's row */
    static constexpr int pitch = length + 4 * Channels;         /* from one remainder to the next */
    /* Pixels before the first centre, a multiple of the step. */
    static constexpr int before = (radius + step - 1) / step * step;
    static constexpr int needed = ((length / Channels - 1) * step + before + radius + 1) * Channels;
    static_assert(step * pitch <= KERNEL_REDUCE_COLUMNS, "a row of shared memory");
};

/* The number of ways in which four non-negative numbers add up to k. */
static __device__ __forceinline__ constexpr int ways(int k) {
    return k < 0 ? 0 : (k + 3) * (k + 2) * (k + 1) / 6;
}

/* The same for numbers below the step, scaled so that all weights sum to 32768. */
template <int Shift> static __device__ __forceinline__ constexpr uint32_t stage_weight(int k) {
    constexpr int step = 1 << Shift;
    return k > 4 * (step - 1)
               ? 0
               : (uint32_t)(ways(k) - 4 * ways(k - step) + 6 * ways(k - 2 * step) - 4 * ways(k - 3 * step))
                     << (15 - 4 * Shift);
}

/* ---- vertical ---- */

template <int Shift, int Rows, int Window>
static __device__ __forceinline__ void reduce_window(const uint32_t (&group)[Window],
                                                     struct value_group (&made)[Rows]) {
    struct sums sum[Rows];
#pragma unroll
    for (int i = 0; i < Rows; i++) {
        sum[i].of[0] = sum[i].of[1] = sum[i].of[2] = sum[i].of[3] = 128;
    }
#pragma unroll
    for (int j = 0; j < Window; j += 2) {
        uint32_t low = __byte_perm(group[j], group[j + 1], 0x5140);
        uint32_t high = __byte_perm(group[j], group[j + 1], 0x7362);
#pragma unroll
        for (int i = 0; i < Rows; i++) {
            int k = j - (i << Shift);
            if (k >= -1 && k <= 4 * ((1 << Shift) - 1)) {
                uint32_t weights = stage_weight<Shift>(k) | stage_weight<Shift>(k + 1) << 16;
                sum[i].of[0] = dot_low(weights, low, sum[i].of[0]);
                sum[i].of[1] = dot_high(weights, low, sum[i].of[1]);
                sum[i].of[2] = dot_low(weights, high, sum[i].of[2]);
                sum[i].of[3] = dot_high(weights, high, sum[i].of[3]);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < Rows; i++) {
        made[i] = pack_values(sum[i], 8);
    }
}

template <int Shift, int Rows, int Window>
static __device__ __forceinline__ void reduce_window(const uint2 (&group)[Window],
                                                     struct value_group (&made)[Rows]) {
    struct sums sum[Rows];
#pragma unroll
    for (int i = 0; i < Rows; i++) {
        sum[i].of[0] = sum[i].of[1] = sum[i].of[2] = sum[i].of[3] = 1 << 14;
    }
#pragma unroll
    for (int j = 0; j < Window; j++) {
        struct value_group values = {group[j].x, group[j].y};
#pragma unroll
        for (int i = 0; i < Rows; i++) {
            int k = j - (i << Shift);
            if (k >= 0 && k <= 4 * ((1 << Shift) - 1)) {
                add_values(sum[i], stage_weight<Shift>(k), values);
            }
        }
    }
#pragma unroll
    for (int i = 0; i < Rows; i++) {
        made[i] = pack_values(sum[i], 15);
    }
}

/* The `count` samples of a row that a tile reads, from `begin` on, which may lie inside a group. */
struct reduce_span {
    int begin, count;
    int shift, pitch; /* of the horizontal axis */
};

/* The index of sample i in a row of shared memory. */
template <int Channels>
static __device__ __forceinline__ int sorted_place(const struct reduce_span &span, int i) {
    int x = i / Channels;
    int remainder = x & ((1 << span.shift) - 1);
    return remainder * span.pitch + (x >> span.shift) * Channels + i - x * Channels;
}

template <class In, int Channels, int Shift, int Rows>
static __device__ __forceinline__ void
reduce_columns(const struct fixed_plane &plane, const struct tile &tile, const struct reduce_span &span) {
    constexpr int radius = reduction<Shift, Channels>::radius;
    constexpr int window = (((Rows - 1) << Shift) + 2 * radius + 2) & ~1;
    static_assert(window <= KERNEL_ROW_TABLE, "all rows are in the table");
    uint16_t *memory = values_memory();
    int top = centre_of(tile.y, plane.target.lo_y, Shift, plane.source.lo_y) - radius;
    const int *table = fill_row_table(plane.source, top);
    int late = (span.begin + group_offset<In, Channels>(plane.source)) & (KERNEL_GROUP - 1);
    for (int at = thread_number() * KERNEL_GROUP - late; at < span.count;
         at += KERNEL_THREADS_X * KERNEL_REDUCE_THREADS_Y * KERNEL_GROUP) {
        typename group_of<In>::type group[window];
        struct value_group made[Rows];
        load_column<In, Channels>(plane.source, plane.border, span.begin + at, top, table, group);
        reduce_window<Shift>(group, made);
#pragma unroll
        for (int k = 0; k < KERNEL_GROUP; k++) {
            if (at + k < 0 || at + k >= span.count) {
                continue;
            }
            uint16_t *to = memory + sorted_place<Channels>(span, at + k);
#pragma unroll
            for (int i = 0; i < Rows; i++) {
                uint32_t word = k & 2 ? made[i].high : made[i].low;
                to[i * KERNEL_REDUCE_COLUMNS] = (uint16_t)(k & 1 ? word >> 16 : word);
            }
        }
    }
}

/* ---- horizontal ---- */

template <int Channels, int Shift, int Rows>
static __device__ __forceinline__ void reduce_rows(const struct fixed_plane &plane, const struct tile &tile) {
    using shape = reduction<Shift, Channels>;
    const uint16_t *memory = values_memory();
    for (int task = thread_number(); task < shape::length * Rows;
         task += KERNEL_THREADS_X * KERNEL_REDUCE_THREADS_Y) {
        int y = task / shape::length;
        int i = task - y * shape::length;
        if (y >= tile.height || i >= tile.width * Channels) {
            continue;
        }
        const uint16_t *centre = memory + y * KERNEL_REDUCE_COLUMNS + (shape::before >> Shift) * Channels + i;
        uint32_t sum = 1 << 14;
#pragma unroll
        for (int k = -shape::radius; k <= shape::radius; k++) {
            int from = (k & (shape::step - 1)) * shape::pitch + (k >> Shift) * Channels;
            sum += stage_weight<Shift>(k + shape::radius) * centre[from];
        }
        __stcg(row_of<uint16_t>(plane.target, tile.y + y) + tile.x * Channels + i, (uint16_t)(sum >> 15));
    }
}

/* ---- both ---- */

template <int Channels, int Shift>
static __device__ __forceinline__ struct reduce_span reduce_span_of(const struct fixed_plane &plane,
                                                                    const struct tile &tile) {
    using shape = reduction<Shift, Channels>;
    int centre = centre_of(tile.x, plane.target.lo_x, Shift, plane.source.lo_x);
    struct reduce_span span = {(centre - shape::before) * Channels, shape::needed, Shift, shape::pitch};
    return span;
}

template <class In, int Channels, int Rows>
static __device__ __forceinline__ void reduce_tile(const struct fixed_pass &pass) {
    const struct fixed_plane &plane = pass.plane[plane_of<Channels>(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    struct reduce_span span = plane.x.shift == 0   ? reduce_span_of<Channels, 0>(plane, tile)
                              : plane.x.shift == 1 ? reduce_span_of<Channels, 1>(plane, tile)
                              : plane.x.shift == 2 ? reduce_span_of<Channels, 2>(plane, tile)
                                                   : reduce_span_of<Channels, 3>(plane, tile);
    switch (plane.y.shift) {
    case 0:
        reduce_columns<In, Channels, 0, Rows>(plane, tile, span);
        break;
    case 1:
        reduce_columns<In, Channels, 1, Rows>(plane, tile, span);
        break;
    case 2:
        reduce_columns<In, Channels, 2, Rows>(plane, tile, span);
        break;
    default:
        reduce_columns<In, Channels, 3, Rows>(plane, tile, span);
        break;
    }
    __syncthreads();
    switch (plane.x.shift) {
    case 0:
        reduce_rows<Channels, 0, Rows>(plane, tile);
        break;
    case 1:
        reduce_rows<Channels, 1, Rows>(plane, tile);
        break;
    case 2:
        reduce_rows<Channels, 2, Rows>(plane, tile);
        break;
    default:
        reduce_rows<Channels, 3, Rows>(plane, tile);
        break;
    }
}

#endif
