/* SPDX-License-Identifier: MIT
 * A segmented reduction: sums up tiles and fills them with their means. A thread adds up a column of samples
 * of its block's cell. The columns are added in shared memory in two parts of 32 bits, because only 32-bit
 * additions are fast there. Sums are integers, so their order does not matter. */
#ifndef BLURD_FILTERS_PIXELATE_GPU_PIXELATE_CUH
#define BLURD_FILTERS_PIXELATE_GPU_PIXELATE_CUH

#include "gpu/stream/grid.cuh"

enum { PIXELATE_LOW_BITS = 24 }; /* of a sum; 8 more hold the carries of all threads of a block */

static_assert((uint64_t)KERNEL_COLUMNS << PIXELATE_LOW_BITS <= 1ull << 32,
              "the low halves of all columns fit in 32 bits");

/* Shared memory: one entry for each tile of a cell and each channel. */
struct pixelate_block {
    uint32_t low[KERNEL_COLUMNS];
    uint32_t high[KERNEL_COLUMNS];
    uint32_t mean[KERNEL_COLUMNS];
};

/* The position of a block's samples in the plane, and the tile of its first sample. */
struct pixelate_cell {
    int x, y, width, height;
    int tile_x, tile_y;
};

static __device__ __forceinline__ struct pixelate_cell pixelate_cell_of(const struct pixelate_plane &plane) {
    int index = (int)blockIdx.x - plane.tiles.first_tile;
    int row = index / plane.tiles.tiles_x;
    int column = index - row * plane.tiles.tiles_x;
    int left = column / plane.parts_x * plane.span_x;
    int top = row / plane.parts_y * plane.span_y;
    struct pixelate_cell cell;
    cell.x = left + column % plane.parts_x * plane.tiles.width;
    cell.y = top + row % plane.parts_y * plane.tiles.height;
    cell.width = min(min(cell.x + plane.tiles.width, left + plane.span_x), plane.source.width) - cell.x;
    cell.height = min(min(cell.y + plane.tiles.height, top + plane.span_y), plane.source.height) - cell.y;
    cell.tile_x = left / plane.block_x;
    cell.tile_y = top / plane.block_y;
    return cell;
}

/* A thread's column of samples in the cell, and the index of its sums. */
struct pixelate_column {
    int at;      /* index in a row of the plane */
    int channel; /* OUTSIDE where the cell has no such column */
    int slot;
};

static __device__ __forceinline__ struct pixelate_column
pixelate_column_of(const struct pixelate_pass &pass, const struct pixelate_plane &plane,
                   const struct pixelate_cell &cell) {
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int x = thread / pass.channels;
    struct pixelate_column column;
    column.at = cell.x * pass.channels + thread;
    column.channel = x < cell.width ? thread - x * pass.channels : OUTSIDE;
    column.slot = ((cell.x + x) / plane.block_x - cell.tile_x) * pass.channels + column.channel;
    return column;
}

/* ---- sums ---- */

template <class T>
static __device__ __forceinline__ uint64_t pixelate_sum(const struct pixelate_plane &plane,
                                                        const struct pixelate_cell &cell, int at,
                                                        int factor) {
    uint64_t sum = 0;
#pragma unroll 8
    for (int y = 0; y < cell.height; y++) {
        const T *row = row_of<const T>(plane.source, cell.y + y);
        uint32_t value = row[at];
        sum += factor == OUTSIDE ? value : value * (uint32_t)row[factor];
    }
    return sum;
}

/* Leaves the sums of the cell in shared memory. */
static __device__ __forceinline__ void pixelate_add(const struct pixelate_pass &pass,
                                                    const struct pixelate_plane &plane,
                                                    const struct pixelate_cell &cell,
                                                    const struct pixelate_column &column) {
    struct pixelate_block &block = *(struct pixelate_block *)block_memory;
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int last = pass.channels - 1;
    block.low[thread] = block.high[thread] = 0;
    __syncthreads();
    if (column.channel != OUTSIDE) {
        int factor = pass.alpha && column.channel != last ? column.at - column.channel + last : OUTSIDE;
        uint64_t sum = pass.depth == 8 ? pixelate_sum<uint8_t>(plane, cell, column.at, factor)
                                       : pixelate_sum<uint16_t>(plane, cell, column.at, factor);
        atomicAdd(&block.low[column.slot], (uint32_t)sum & ((1u << PIXELATE_LOW_BITS) - 1));
        if (sum >> PIXELATE_LOW_BITS) {
            atomicAdd(&block.high[column.slot], (uint32_t)(sum >> PIXELATE_LOW_BITS));
        }
    }
    __syncthreads();
}

static __device__ __forceinline__ uint64_t pixelate_total(int slot) {
    const struct pixelate_block &block = *(const struct pixelate_block *)block_memory;
    return ((uint64_t)block.high[slot] << PIXELATE_LOW_BITS) + block.low[slot];
}

/* The sums of a tile that has several cells, in device memory. */
static __device__ __forceinline__ unsigned long long *pixelate_sums_of(const struct pixelate_pass &pass,
                                                                       const struct pixelate_plane &plane,
                                                                       const struct pixelate_cell &cell) {
    int64_t tile = (int64_t)cell.tile_y * plane.across + cell.tile_x;
    return (unsigned long long *)plane.sums + tile * pass.channels;
}

/* ---- means ---- */

/* The mean of a channel in tile `tile` of the cell. */
static __device__ __forceinline__ uint32_t pixelate_mean(const struct pixelate_pass &pass,
                                                         const struct pixelate_plane &plane,
                                                         const struct pixelate_cell &cell, int tile,
                                                         int channel, uint64_t sum, uint64_t alpha) {
    int width = min(plane.block_x, plane.source.width - (cell.tile_x + tile) * plane.block_x);
    int height = min(plane.block_y, plane.source.height - cell.tile_y * plane.block_y);
    uint64_t by = pass.alpha && channel != pass.channels - 1 ? alpha : (uint64_t)width * (uint64_t)height;
    return by ? (uint32_t)((sum + by / 2) / by) : 0;
}

/* Fills the cell with the means from shared memory. */
static __device__ __forceinline__ void pixelate_fill_cell(const struct pixelate_pass &pass,
                                                          const struct pixelate_plane &plane,
                                                          const struct pixelate_cell &cell,
                                                          const struct pixelate_column &column) {
    const struct pixelate_block &block = *(const struct pixelate_block *)block_memory;
    __syncthreads();
    if (column.channel == OUTSIDE) {
        return;
    }
    uint32_t mean = block.mean[column.slot];
    for (int y = 0; y < cell.height; y++) {
        if (pass.depth == 8) {
            row_of<uint8_t>(plane.target, cell.y + y)[column.at] = (uint8_t)mean;
        } else {
            row_of<uint16_t>(plane.target, cell.y + y)[column.at] = (uint16_t)mean;
        }
    }
}

/* ---- kernels ---- */

/* Small tiles, each of which lies within one block. */
static __device__ __forceinline__ void pixelate_small_cell(const struct pixelate_pass &pass) {
    const struct pixelate_plane &plane = pass.plane[plane_of(pass)];
    struct pixelate_block &block = *(struct pixelate_block *)block_memory;
    struct pixelate_cell cell = pixelate_cell_of(plane);
    struct pixelate_column column = pixelate_column_of(pass, plane, cell);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int tile = thread / pass.channels;
    pixelate_add(pass, plane, cell, column);
    if (tile * plane.block_x < cell.width) {
        int channel = thread - tile * pass.channels;
        uint64_t alpha = pixelate_total(tile * pass.channels + pass.channels - 1);
        block.mean[thread] = pixelate_mean(pass, plane, cell, tile, channel, pixelate_total(thread), alpha);
    }
    pixelate_fill_cell(pass, plane, cell, column);
}

/* Parts of large tiles. Some parts at the right and at the bottom lie outside the picture and have no
 * samples. */
static __device__ __forceinline__ void pixelate_sum_cell(const struct pixelate_pass &pass) {
    const struct pixelate_plane &plane = pass.plane[plane_of(pass)];
    struct pixelate_cell cell = pixelate_cell_of(plane);
    struct pixelate_column column = pixelate_column_of(pass, plane, cell);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    pixelate_add(pass, plane, cell, column);
    if (thread < pass.channels && cell.width > 0 && cell.height > 0) {
        atomicAdd(pixelate_sums_of(pass, plane, cell) + thread, (unsigned long long)pixelate_total(thread));
    }
}

static __device__ __forceinline__ void pixelate_mean_cell(const struct pixelate_pass &pass) {
    const struct pixelate_plane &plane = pass.plane[plane_of(pass)];
    struct pixelate_block &block = *(struct pixelate_block *)block_memory;
    struct pixelate_cell cell = pixelate_cell_of(plane);
    struct pixelate_column column = pixelate_column_of(pass, plane, cell);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    if (thread < pass.channels) {
        const unsigned long long *sums = pixelate_sums_of(pass, plane, cell);
        block.mean[thread] =
            pixelate_mean(pass, plane, cell, 0, thread, sums[thread], sums[pass.channels - 1]);
    }
    pixelate_fill_cell(pass, plane, cell, column);
}

#endif
