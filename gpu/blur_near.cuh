/* SPDX-License-Identifier: MIT
 * Both axes in one launch for radii up to 16, in single precision. A thread loads a column of samples, with what is
 * above and below, into shared memory, and replaces it by its vertical sums, 4 at a time. Horizontally it is
 * blur_real.cuh. */
#ifndef BLURD_GPU_BLUR_NEAR_CUH
#define BLURD_GPU_BLUR_NEAR_CUH

#include "gpu/blur_real.cuh"

/* A sample of each row: position x, which may lie outside, and channel. */
struct sample_column {
    int x, channel;
};

/* The value of a sample of the pixel: colour times alpha. */
template <class T>
static __device__ __forceinline__ float pixel_value(const T *pixel, const struct sample_format &format,
                                                    int channel) {
    int last = format.channels - 1;
    float value = (float)pixel[channel];
    return format.alpha && channel != last ? __fmul_rn(value, (float)pixel[last]) : value;
}

/* Nothing is outside for most columns: those go from row to row without looking at each. */
template <class T>
static __device__ __forceinline__ void load_column_of(const struct kernel_grid &grid,
                                                      const struct sample_format &format,
                                                      const struct sample_column &column, int top, int rows,
                                                      float *to) {
    int x = fold(column.x, grid.width, grid.edge_x);
    if (x != OUTSIDE && top >= 0 && top + rows <= grid.height) {
        const char *row = (const char *)(row_of<const T>(grid, top) + x * format.channels);
#pragma unroll 8
        for (int i = 0; i < rows; i++) {
            to[i * KERNEL_COLUMNS] = pixel_value((const T *)row, format, column.channel);
            row += grid.stride;
        }
        return;
    }
#pragma unroll 1
    for (int i = 0; i < rows; i++) {
        int y = x == OUTSIDE ? OUTSIDE : fold(top + i, grid.height, grid.edge_y);
        to[i * KERNEL_COLUMNS] =
            y == OUTSIDE ? 0.0f
                         : pixel_value(row_of<const T>(grid, y) + x * format.channels, format, column.channel);
    }
}

/* Loads `rows` rows from position `top` on into a column of shared memory. */
static __device__ __forceinline__ void load_column(const struct kernel_grid &grid,
                                                   const struct sample_format &format,
                                                   const struct sample_column &column, int top, int rows,
                                                   float *to) {
    if (format.depth == 8) {
        load_column_of<uint8_t>(grid, format, column, top, rows, to);
    } else {
        load_column_of<uint16_t>(grid, format, column, top, rows, to);
    }
}

/* Sums stand where the first samples that they read stood; nothing reads those later. */
static __device__ __forceinline__ void near_column(const struct real_taps &taps, int rows, float *column) {
    enum { ROWS = 4 };
    for (int y = 0; y < rows; y += ROWS) {
        const float *centre = column + (y + taps.radius) * KERNEL_COLUMNS;
        float sum[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            sum[r] = __fmul_rn(taps.weight[0], centre[r * KERNEL_COLUMNS]);
        }
        for (int k = 1; k <= taps.radius; k++) {
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                float pair = __fadd_rn(centre[(r - k) * KERNEL_COLUMNS], centre[(r + k) * KERNEL_COLUMNS]);
                sum[r] = __fadd_rn(sum[r], __fmul_rn(taps.weight[k], pair));
            }
        }
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            column[(y + r) * KERNEL_COLUMNS] = sum[r];
        }
    }
}

template <class Finish = struct as_it_is>
static __device__ __forceinline__ void near_tile(const struct real_pass &pass,
                                                 const Finish &finish = Finish()) {
    struct sample_format format = {pass.channels, pass.depth, pass.alpha};
    struct tile tile = tile_of(pass.tiles, pass.target);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int x = thread / pass.channels;
    if (x < tile.width + 2 * pass.x.radius) {
        struct sample_column column = {tile.x - pass.x.radius + x, thread - x * pass.channels};
        float *memory = (float *)block_memory + thread;
        load_column(pass.source, format, column, tile.y - pass.y.radius, tile.height + 2 * pass.y.radius,
                    memory);
        near_column(pass.y, tile.height, memory);
    }
    __syncthreads();
    real_rows<true>(pass, format, tile, (tile.x - pass.x.radius) * pass.channels, finish);
}

#endif
