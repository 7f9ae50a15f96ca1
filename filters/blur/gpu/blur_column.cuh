/* SPDX-License-Identifier: MIT
 * Loads groups of adjacent samples or values from the rows of a column and sums them up, for the vertical
 * passes of blur_halve.cuh, blur_reduce.cuh and blur_wide.cuh. Groups are aligned to
 * multiples of their size. A group that extends beyond an end of the row is loaded sample by sample. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_COLUMN_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_COLUMN_CUH

#include "filters/blur/gpu/blur_values.cuh"

/* The type of a loaded group: four bytes, or four values of 16 bits. */
template <class In> struct group_of;
template <> struct group_of<uint8_t> { using type = uint32_t; };
template <> struct group_of<uint16_t> { using type = uint2; };

/* Sample i of a row is the first of a group where i and this are a multiple of the group's size: samples
 * begin with a group, and a group of values begins at position -1. */
template <class In, int Channels>
static __device__ __forceinline__ int group_offset(const struct kernel_grid &source) {
    return sizeof(In) == sizeof(uint16_t) ? (source.lo_x + 1) * Channels : 0;
}

/* The sample of a row that stands for sample `at`, or OUTSIDE. */
template <int Channels>
static __device__ __forceinline__ int fold_sample(const struct kernel_grid &source, int at) {
    int x = floor_divide(at, Channels);
    int folded = fold(x, source.width, source.edge_x);
    return folded == OUTSIDE ? OUTSIDE : folded * Channels + at - x * Channels;
}

/* Sets sample k of a group that was 0. */
static __device__ __forceinline__ void put_in_group(uint32_t &group, int k, uint32_t sample) {
    group |= sample << 8 * k;
}

static __device__ __forceinline__ void put_in_group(uint2 &group, int k, uint32_t value) {
    value <<= 16 * (k & 1);
    group.x |= k < 2 ? value : 0;
    group.y |= k < 2 ? 0 : value;
}

static __device__ __forceinline__ void put_in_group(uint4 &group, int k, uint32_t sample) {
    sample <<= 8 * (k & 3);
    group.x |= k >> 2 == 0 ? sample : 0;
    group.y |= k >> 2 == 1 ? sample : 0;
    group.z |= k >> 2 == 2 ? sample : 0;
    group.w |= k >> 2 == 3 ? sample : 0;
}

static __device__ __forceinline__ void fill_group(uint32_t &group, uint32_t sample) {
    group = sample * 0x01010101u;
}

static __device__ __forceinline__ void fill_group(uint2 &group, uint32_t sample) {
    group = make_uint2(sample << 7 | sample << 23, sample << 7 | sample << 23);
}

static __device__ __forceinline__ void fill_group(uint4 &group, uint32_t sample) {
    sample *= 0x01010101u;
    group = make_uint4(sample, sample, sample, sample);
}

/* Sets all of a group to a sample or value as it is in memory. */
static __device__ __forceinline__ void repeat_in_group(uint32_t &group, uint8_t sample) {
    group = sample * 0x01010101u;
}

static __device__ __forceinline__ void repeat_in_group(uint2 &group, uint16_t value) {
    group.x = group.y = value * 0x00010001u;
}

static __device__ __forceinline__ void repeat_in_group(uint4 &group, uint8_t sample) {
    fill_group(group, sample);
}

static __device__ __forceinline__ int thread_number() {
    return (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
}

/* Shared memory begins with a table of the rows of the source that a tile reads, folded at the edges. */
static __device__ __forceinline__ const int *fill_row_table(const struct kernel_grid &source, int top) {
    int *table = (int *)block_memory;
    int i = thread_number();
    if (i < KERNEL_ROW_TABLE) {
        table[i] = fold(top + i, source.height, source.edge_y);
    }
    __syncthreads();
    return table;
}

static __device__ __forceinline__ uint16_t *values_memory(void) {
    return (uint16_t *)block_memory + KERNEL_ROW_TABLE * sizeof(int) / sizeof(uint16_t);
}

/* Row i of a window, which has four adjacent rows in each `Step`. */
template <int Step> static __device__ __forceinline__ constexpr int window_row(int i) {
    return i / KERNEL_GROUP * Step + i % KERNEL_GROUP;
}

/* Loads a group that extends beyond an end of the row, one sample of all rows at a time. The table is read
 * each time, because the compiler would otherwise keep all rows in registers. */
template <class In, int Channels, int Step, class Group, int Window>
static __device__ __forceinline__ void gather_column(const struct kernel_grid &source, uint32_t border,
                                                     int at, const volatile int *table,
                                                     Group (&group)[Window]) {
    const char *data = row_of<const char>(source, 0);
    int stride = (int)source.stride;
#pragma unroll
    for (int i = 0; i < Window; i++) {
        fill_group(group[i], 0);
    }
#pragma unroll 1
    for (int k = 0; k < (int)(sizeof(Group) / sizeof(In)); k++) {
        int x = fold_sample<Channels>(source, at + k);
#pragma unroll
        for (int i = 0; i < Window; i++) {
            int y = table[window_row<Step>(i)];
            uint32_t value = border;
            if ((x | y) >= 0) {
                value = __ldg((const In *)(data + (int64_t)y * stride) + x);
            }
            put_in_group(group[i], k, value);
        }
    }
}

/* Loads a group beyond an end of a row that repeats its last sample: one sample of each row. */
template <class In, int Step, class Group, int Window>
static __device__ __forceinline__ void clamp_column(const struct kernel_grid &source, uint32_t border, int at,
                                                    const int *table, Group (&group)[Window]) {
    const char *column = (const char *)(row_of<const In>(source, 0) + (at < 0 ? 0 : source.width - 1));
    int stride = (int)source.stride;
#pragma unroll
    for (int i = 0; i < Window; i++) {
        fill_group(group[i], border);
        int y = table[window_row<Step>(i)];
        if (y != OUTSIDE) {
            repeat_in_group(group[i], __ldg((const In *)(column + (int64_t)y * stride)));
        }
    }
}

/* Loads the rows of the table at sample `at` of the row, where a group begins; `top` is the first row. No
 * load waits for another, because loads outside the picture are predicated. Values have no outside: their
 * edge is KERNEL_CLAMP or KERNEL_WRAP. In the middle of the picture the table is not read. */
template <class In, int Channels, int Step = KERNEL_GROUP, class Group, int Window>
static __device__ __forceinline__ void load_column(const struct kernel_grid &source, uint32_t border, int at,
                                                   int top, const int *table, Group (&group)[Window]) {
    constexpr int size = (int)(sizeof(Group) / sizeof(In));
    int stride = (int)source.stride;
    bool adjacent = at >= 0 && at + size <= source.width * Channels;
    if (adjacent && top >= 0 && top + window_row<Step>(Window - 1) < source.height) {
        const char *row = (const char *)(row_of<const In>(source, top) + at);
#pragma unroll
        for (int i = 0; i < Window; i++) {
            group[i] = __ldg((const Group *)(row + (int64_t)window_row<Step>(i) * stride));
        }
        return;
    }
    if (Channels == 1 && source.edge_x == KERNEL_CLAMP && (at + size <= 1 || at >= source.width - 1)) {
        clamp_column<In, Step>(source, border, at, table, group);
        return;
    }
    if (!adjacent) {
        gather_column<In, Channels, Step>(source, border, at, table, group);
        return;
    }
    const char *column = (const char *)(row_of<const In>(source, 0) + at);
#pragma unroll
    for (int i = 0; i < Window; i++) {
        fill_group(group[i], border);
        int y = table[window_row<Step>(i)];
        if (y != OUTSIDE) {
            group[i] = __ldg((const Group *)(column + (int64_t)y * stride));
        }
    }
}

#endif
