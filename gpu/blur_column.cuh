/* SPDX-License-Identifier: MIT
 * Loads of four adjacent samples or values of each row of a column, for the vertical passes of
 * blur_reduce.cuh and blur_wide.cuh. Groups lie at multiples of four of the row; where one
 * reaches over an end of the row, its four are gathered. */
#ifndef BLURD_GPU_BLUR_COLUMN_CUH
#define BLURD_GPU_BLUR_COLUMN_CUH

#include "gpu/blur_whole.cuh"

/* What a group is loaded as: four bytes, or four times 16 bits. */
template <class In> struct group_of;
template <> struct group_of<uint8_t> { using type = uint32_t; };
template <> struct group_of<uint16_t> { using type = uint2; };

struct group_column {
    int at[KERNEL_GROUP];
    bool adjacent;
};

template <int Channels>
static __device__ __forceinline__ struct group_column group_column_at(const struct kernel_grid &source,
                                                                      int at) {
    struct group_column column;
    column.adjacent = at >= 0 && at + KERNEL_GROUP <= source.width * Channels;
    column.at[0] = column.at[1] = column.at[2] = column.at[3] = at;
    for (int k = 0; k < KERNEL_GROUP && !column.adjacent; k++) {
        int x = floor_divide(at + k, Channels);
        int folded = fold(x, source.width, source.edge_x);
        column.at[k] = folded == OUTSIDE ? OUTSIDE : folded * Channels + at + k - x * Channels;
    }
    return column;
}

/* Of a row that exists. */
static __device__ __forceinline__ uint32_t gather(const uint8_t *row, const struct group_column &column,
                                                  uint32_t border) {
    uint32_t word = 0;
    for (int k = 0; k < KERNEL_GROUP; k++) {
        word |= (column.at[k] == OUTSIDE ? border : (uint32_t)row[column.at[k]]) << 8 * k;
    }
    return word;
}

/* Nothing is outside of values: their edge is KERNEL_CLAMP. */
static __device__ __forceinline__ uint2 gather(const uint16_t *row, const struct group_column &column,
                                               uint32_t) {
    return make_uint2(row[column.at[0]] | (uint32_t)row[column.at[1]] << 16,
                      row[column.at[2]] | (uint32_t)row[column.at[3]] << 16);
}

static __device__ __forceinline__ void fill_border(uint32_t &group, uint32_t border) {
    group = border * 0x01010101u;
}

static __device__ __forceinline__ void fill_border(uint2 &group, uint32_t border) {
    group = make_uint2(border << 7 | border << 23, border << 7 | border << 23);
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

/* The rows of the table from `first` on, the first of which is row `top`. In the picture's middle nothing
 * depends on anything but the address, so that all loads are under way at once. */
template <class In, int Window>
static __device__ __forceinline__ void
load_column(const struct kernel_grid &source, uint32_t border, const struct group_column &column, int top,
            const int *table, typename group_of<In>::type (&group)[Window]) {
    if (column.adjacent && top >= 0 && top + Window <= source.height) {
        const In *row = row_of<const In>(source, top) + column.at[0];
#pragma unroll
        for (int i = 0; i < Window; i++) {
            group[i] = *(const typename group_of<In>::type *)row;
            row = (const In *)((const char *)row + source.stride);
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < Window; i++) {
        const In *row = row_of<const In>(source, max(table[i], 0));
        if (table[i] == OUTSIDE) {
            fill_border(group[i], border);
        } else if (column.adjacent) {
            group[i] = *(const typename group_of<In>::type *)(row + column.at[0]);
        } else {
            group[i] = gather(row, column, border);
        }
    }
}

#endif
