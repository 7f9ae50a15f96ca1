/* SPDX-License-Identifier: MIT
 * Both axes in one launch for radii up to 16, in single precision. A thread loads a column of samples and the
 * rows above and below into shared memory. It replaces them by their vertical sums, 4 at a time. The
 * horizontal pass is that of blur_float.cuh. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_NEAR_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_NEAR_CUH

#include "filters/blur/gpu/blur_column.cuh"
#include "filters/blur/gpu/blur_float.cuh"

/* One sample of each row. Position x may lie outside. */
struct sample_column {
    int x, channel;
};

/* Loads eight rows at once, so that no load waits for another. Rows outside are skipped. With `Alpha`, colour
 * is multiplied by alpha. */
template <class T, bool Alpha>
static __device__ __forceinline__ void load_column_of(const struct kernel_grid &grid, int channels,
                                                      const struct sample_column &column, const int *table,
                                                      int rows, float *to) {
    int x = fold(column.x, grid.width, grid.edge_x);
    const T *first = row_of<const T>(grid, 0) + x * channels;
    int stride = (int)(grid.stride / (int64_t)sizeof(T));
    bool factor = Alpha && column.channel != channels - 1;
#pragma unroll 8
    for (int i = 0; i < rows; i++) {
        T value = 0, alpha = 0;
        int y = table[i];
        if ((x | y) >= 0) {
            value = __ldg(first + (int64_t)y * stride + column.channel);
            alpha = Alpha ? __ldg(first + (int64_t)y * stride + channels - 1) : (T)0;
        }
        to[i * KERNEL_COLUMNS] = factor ? __fmul_rn((float)value, (float)alpha) : (float)value;
    }
}

/* Loads the rows of the table into a column of shared memory. */
static __device__ __forceinline__ void load_column(const struct kernel_grid &grid,
                                                   const struct sample_format &format,
                                                   const struct sample_column &column, const int *table,
                                                   int rows, float *to) {
    if (format.depth == 8 && format.alpha) {
        load_column_of<uint8_t, true>(grid, format.channels, column, table, rows, to);
    } else if (format.depth == 8) {
        load_column_of<uint8_t, false>(grid, format.channels, column, table, rows, to);
    } else if (format.alpha) {
        load_column_of<uint16_t, true>(grid, format.channels, column, table, rows, to);
    } else {
        load_column_of<uint16_t, false>(grid, format.channels, column, table, rows, to);
    }
}

/* Sums overwrite the first samples that they read, which no later sum needs. */
static __device__ __forceinline__ void near_column(const struct float_taps &taps, int rows, float *column) {
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
static __device__ __forceinline__ void near_tile(const struct float_pass &pass,
                                                 const Finish &finish = Finish()) {
    struct sample_format format = {pass.channels, pass.depth, pass.alpha};
    struct tile tile = tile_of(pass.tiles, pass.target);
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int x = thread / pass.channels;
    const int *table = fill_row_table(pass.source, tile.y - pass.y.radius);
    float *memory = (float *)values_memory();
    if (x < tile.width + 2 * pass.x.radius) {
        struct sample_column column = {tile.x - pass.x.radius + x, thread - x * pass.channels};
        load_column(pass.source, format, column, table, tile.height + 2 * pass.y.radius, memory + thread);
        near_column(pass.y, tile.height, memory + thread);
    }
    __syncthreads();
    float_rows<true>(pass, format, tile, memory, (tile.x - pass.x.radius) * pass.channels, finish);
}

#endif
