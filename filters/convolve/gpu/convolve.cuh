/* SPDX-License-Identifier: MIT
 * A window of any weights. A block loads a tile and its surroundings into shared memory, as floats. A thread
 * then makes 4 rows of 4 samples at a distance of 32, so that each value serves 4 rows and each weight 16
 * sums. For a separable window the columns are summed first, in place; the row then is a window of height 1.
 * Every product and every sum is rounded, in the order of docs/filters.md. A sum begins with 0; adding the
 * first product to it changes only the sign of a zero. */
#ifndef BLURD_FILTERS_CONVOLVE_GPU_CONVOLVE_CUH
#define BLURD_FILTERS_CONVOLVE_GPU_CONVOLVE_CUH

#include "filters/blur/gpu/blur_near.cuh"
#include "filters/convolve/gpu/convolve_quotient.cuh"

enum { CONVOLVE_ROWS = 4, CONVOLVE_RUNS = 4 };

struct convolve_sums {
    float of[CONVOLVE_ROWS][CONVOLVE_RUNS];
};

/* Makes vertical sums, 4 at a time. They overwrite the first samples that they read. */
static __device__ __forceinline__ void convolve_columns(const struct convolve_pass &pass, int rows,
                                                        float *column) {
    for (int y = 0; y < rows; y += CONVOLVE_ROWS) {
        float sum[CONVOLVE_ROWS] = {};
        float *at = column + y * KERNEL_COLUMNS;
        for (int k = 0; k < pass.height; k++) {
#pragma unroll
            for (int r = 0; r < CONVOLVE_ROWS; r++) {
                float value = at[(k + r) * KERNEL_COLUMNS];
                sum[r] = __fadd_rn(sum[r], __fmul_rn(pass.column[k], value));
            }
        }
#pragma unroll
        for (int r = 0; r < CONVOLVE_ROWS; r++) {
            at[r * KERNEL_COLUMNS] = sum[r];
        }
    }
}

/* ---- sums ---- */

/* Adds the products of row `y` to the 4 rows of sums, or with `All` without checking which rows need it. */
template <bool All>
static __device__ __forceinline__ void convolve_row(const struct convolve_pass &pass, int height, int y,
                                                    const float *value, struct convolve_sums &sums) {
    const float *weight = pass.weight + y * KERNEL_CONVOLVE_STRIDE;
    for (int x = 0; x < pass.width; x++) {
        float v[CONVOLVE_RUNS];
#pragma unroll
        for (int c = 0; c < CONVOLVE_RUNS; c++) {
            v[c] = value[c * KERNEL_THREADS_X];
        }
#pragma unroll
        for (int r = 0; r < CONVOLVE_ROWS; r++) {
            if (All || (unsigned)(y - r) < (unsigned)height) {
                float w = weight[x - r * KERNEL_CONVOLVE_STRIDE];
#pragma unroll
                for (int c = 0; c < CONVOLVE_RUNS; c++) {
                    sums.of[r][c] = __fadd_rn(sums.of[r][c], __fmul_rn(w, v[c]));
                }
            }
        }
        value += pass.channels;
    }
}

static __device__ __forceinline__ struct convolve_sums convolve_window(const struct convolve_pass &pass,
                                                                       const float *value) {
    struct convolve_sums sums = {};
    int height = pass.separable ? 1 : pass.height;
    for (int y = 0; y < height + CONVOLVE_ROWS - 1; y++) {
        if (y >= CONVOLVE_ROWS - 1 && y < height) {
            convolve_row<true>(pass, height, y, value, sums);
        } else {
            convolve_row<false>(pass, height, y, value, sums);
        }
        value += KERNEL_COLUMNS;
    }
    return sums;
}

/* ---- samples ---- */

/* Tells whether the window around position `at` extends beyond an axis of that size. */
static __device__ __forceinline__ bool convolve_leaves(int at, int window, int size) {
    return at < window / 2 || at >= size - window / 2;
}

/* A thread's sample of each of its rows. */
struct convolve_place {
    int i;       /* in the row */
    int last;    /* the last sample of its pixel: alpha */
    bool framed; /* the window extends beyond the row */
};

static __device__ __forceinline__ struct convolve_place convolve_place_at(const struct convolve_pass &pass,
                                                                          int i) {
    struct convolve_place place;
    int x = i / pass.channels;
    place.i = i;
    place.last = x * pass.channels + pass.channels - 1;
    place.framed = pass.frame && convolve_leaves(x, pass.width, pass.source.width);
    return place;
}

/* A sample of row y. `sum` and `alpha` are already divided by the divisor. */
static __device__ __forceinline__ float convolve_value(const struct convolve_pass &pass, int y,
                                                       const struct convolve_place &place, bool framed,
                                                       float sum, float alpha) {
    if (pass.alpha && (framed || !pass.filter_alpha)) {
        alpha = sample_at(pass.source, y, place.last, pass.depth);
    }
    if (pass.alpha && place.i == place.last) {
        return alpha;
    }
    if (framed) {
        return 0;
    }
    if (pass.alpha) {
        sum = alpha > 0 ? __fdiv_rn(sum, alpha) : 0.0f;
    }
    return __fadd_rn(sum, pass.bias);
}

/* All lanes of a warp call this together; the lanes of a pixel are adjacent. Samples from `end` on belong to
 * the next tile. */
static __device__ __forceinline__ void convolve_store(const struct convolve_pass &pass, int y, int end,
                                                      const struct convolve_place &place, float sum) {
    float alpha = 0;
    if (pass.alpha) {
        int lane = (int)threadIdx.x | (pass.channels - 1);
        sum = __fdiv_rn(sum, pass.divisor); /* exact for tiny sums, too, as alpha divides them */
        alpha = __uint_as_float(__shfl_sync(0xffffffffu, __float_as_uint(sum), lane));
    } else {
        struct quotient quotient = {pass.divisor, pass.inverse};
        sum = quotient.of(sum);
    }
    if (place.i < end && y < pass.target.height) {
        bool framed = place.framed || (pass.frame && convolve_leaves(y, pass.height, pass.source.height));
        float value = convolve_value(pass, y, place, framed, sum, alpha);
        store_sample(pass.target, y, place.i, value, pass.depth);
    }
}

/* Not unrolled, because storing takes much code: the sums of the next row move to the front instead. */
static __device__ __forceinline__ void convolve_store_rows(const struct convolve_pass &pass,
                                                           const struct tile &tile, int y, int i,
                                                           struct convolve_sums &sums) {
    struct convolve_place place[CONVOLVE_RUNS];
#pragma unroll
    for (int c = 0; c < CONVOLVE_RUNS; c++) {
        place[c] = convolve_place_at(pass, tile.x * pass.channels + i + c * KERNEL_THREADS_X);
    }
#pragma unroll 1
    for (int r = 0; r < CONVOLVE_ROWS; r++) {
#pragma unroll
        for (int c = 0; c < CONVOLVE_RUNS; c++) {
            convolve_store(pass, tile.y + y + r, (tile.x + tile.width) * pass.channels, place[c],
                           sums.of[0][c]);
#pragma unroll
            for (int next = 1; next < CONVOLVE_ROWS; next++) {
                sums.of[next - 1][c] = sums.of[next][c];
            }
        }
    }
}

static __device__ __forceinline__ void convolve_tile(const struct convolve_pass &pass) {
    struct tile tile = tile_of(pass.tiles, pass.target);
    const int *table = fill_row_table(pass.source, tile.y - pass.height / 2);
    float *memory = (float *)values_memory();
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    int x = thread / pass.channels;
    if (x < tile.width + pass.width - 1) {
        struct sample_format format = {pass.channels, pass.depth, pass.alpha};
        struct sample_column column = {tile.x - pass.width / 2 + x, thread - x * pass.channels};
        load_column(pass.source, format, column, table, tile.height + pass.height - 1, memory + thread);
        if (pass.separable) {
            convolve_columns(pass, tile.height, memory + thread);
        }
    }
    __syncthreads();
    constexpr int run = CONVOLVE_RUNS * KERNEL_THREADS_X;
    int across = (tile.width * pass.channels + run - 1) / run;
    int tasks = across * ((tile.height + CONVOLVE_ROWS - 1) / CONVOLVE_ROWS);
    for (int task = (int)threadIdx.y; task < tasks; task += KERNEL_THREADS_Y) {
        int y = task / across * CONVOLVE_ROWS;
        int i = (task - task / across * across) * run + (int)threadIdx.x;
        struct convolve_sums sums = convolve_window(pass, memory + y * KERNEL_COLUMNS + i);
        convolve_store_rows(pass, tile, y, i, sums);
    }
}

#endif
