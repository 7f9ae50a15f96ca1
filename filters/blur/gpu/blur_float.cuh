/* SPDX-License-Identifier: MIT
 * Passes in single precision: 16-bit samples, and pictures with alpha. Values are samples, colour
 * multiplied by alpha. Every product and every sum is rounded, in the order of docs/filters.md, so
 * that all backends give the same bytes. One thread makes one value. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_FLOAT_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_FLOAT_CUH

#include "filters/blur/gpu/blur_enlarge.cuh"

/* The conversion between samples and values. */
struct sample_format {
    int channels, depth, alpha;
};

static __device__ __forceinline__ float sample_at(const struct kernel_grid &grid, int y, int i, int depth) {
    return depth == 8 ? (float)row_of<const uint8_t>(grid, y)[i] : (float)row_of<const uint16_t>(grid, y)[i];
}

/* The value at index (x, y) of the source, or 0 outside of it. */
template <bool Samples>
static __device__ __forceinline__ float
load_float(const struct kernel_grid &grid, const struct sample_format &format, int x, int y, int channel) {
    if (x == OUTSIDE || y == OUTSIDE) {
        return 0;
    }
    int at = x * format.channels;
    if (!Samples) {
        return row_of<const float>(grid, y)[at + channel];
    }
    float value = sample_at(grid, y, at + channel, format.depth);
    int last = format.channels - 1;
    return format.alpha && channel != last ? __fmul_rn(value, sample_at(grid, y, at + last, format.depth))
                                           : value;
}

template <bool Samples>
static __device__ float float_column(const struct float_pass &pass, const struct sample_format &format, int x,
                                     int centre, int channel) {
    const struct kernel_grid &grid = pass.source;
    float value = load_float<Samples>(grid, format, x, fold(centre, grid.height, grid.edge_y), channel);
    float sum = __fmul_rn(pass.y.weight[0], value);
    for (int k = 1; k <= pass.y.radius; k++) {
        int above = fold(centre - k, grid.height, grid.edge_y);
        int below = fold(centre + k, grid.height, grid.edge_y);
        float pair = __fadd_rn(load_float<Samples>(grid, format, x, above, channel),
                               load_float<Samples>(grid, format, x, below, channel));
        sum = __fadd_rn(sum, __fmul_rn(pass.y.weight[k], pair));
    }
    return sum;
}

template <bool Samples>
static __device__ __forceinline__ void float_columns(const struct float_pass &pass,
                                                     const struct sample_format &format,
                                                     const struct tile &tile, int first) {
    float *memory = (float *)block_memory;
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        int centre = centre_of(tile.y + y, pass.target.lo_y, pass.y.shift, pass.source.lo_y);
        for (int i = (int)threadIdx.x; i < pass.tiles.columns; i += KERNEL_THREADS_X) {
            int x = floor_divide(first + i, format.channels);
            int channel = first + i - x * format.channels;
            x = fold(x, pass.source.width, pass.source.edge_x);
            memory[y * pass.tiles.columns + i] = float_column<Samples>(pass, format, x, centre, channel);
        }
    }
}

static __device__ __forceinline__ float float_row(const struct float_taps &taps, const float *value,
                                                  int step) {
    float sum = __fmul_rn(taps.weight[0], value[0]);
    for (int k = 1; k <= taps.radius; k++) {
        sum = __fadd_rn(sum, __fmul_rn(taps.weight[k], __fadd_rn(value[-k * step], value[k * step])));
    }
    return sum;
}

/* Rounds half up and clamps to the range of samples, infinity too. */
static __device__ __forceinline__ void store_sample(const struct kernel_grid &grid, int y, int i, float value,
                                                    int depth) {
    float max = depth == 8 ? 255.0f : 65535.0f;
    float rounded = floorf(__fadd_rn(value, 0.5f));
    rounded = rounded < max ? rounded : max;
    rounded = rounded > 0 ? rounded : 0.0f;
    if (depth == 8) {
        row_of<uint8_t>(grid, y)[i] = (uint8_t)rounded;
    } else {
        row_of<uint16_t>(grid, y)[i] = (uint16_t)rounded;
    }
}

/* A `finish` that returns the value of sample `i` in row `y` unchanged. */
struct as_it_is {
    __device__ __forceinline__ float operator()(const struct sample_format &, int, int, int,
                                                float value) const {
        return value;
    }
};

/* Stores a pixel. `value(channel)` computes its values, alpha first, because alpha divides the others. The
 * results of `finish` are rounded to samples. */
template <bool Samples, class Finish, class Value>
static __device__ __forceinline__ void store_pixel(const struct kernel_grid &grid,
                                                   const struct sample_format &format, int x, int y,
                                                   const Finish &finish, const Value &value) {
    int last = format.channels - 1;
    int at = x * format.channels;
    float alpha = value(last);
    for (int channel = 0; channel < format.channels; channel++) {
        float v = channel == last ? alpha : value(channel);
        if (!Samples) {
            row_of<float>(grid, y)[at + channel] = v;
            continue;
        }
        if (format.alpha && channel != last) {
            v = alpha > 0 ? __fdiv_rn(v, alpha) : 0.0f;
        }
        v = finish(format, y, at + channel, channel, v);
        store_sample(grid, y, at + channel, v, format.depth);
    }
}

template <bool Samples, class Finish>
static __device__ __forceinline__ void float_rows(const struct float_pass &pass,
                                                  const struct sample_format &format, const struct tile &tile,
                                                  const float *memory, int first, const Finish &finish) {
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        for (int x = (int)threadIdx.x; x < tile.width; x += KERNEL_THREADS_X) {
            int centre = centre_of(tile.x + x, pass.target.lo_x, pass.x.shift, pass.source.lo_x);
            const float *at = memory + y * pass.tiles.columns + centre * format.channels - first;
            store_pixel<Samples>(pass.target, format, tile.x + x, tile.y + y, finish, [&](int channel) {
                return float_row(pass.x, at + channel, format.channels);
            });
        }
    }
}

template <bool From, bool To, class Finish = struct as_it_is>
static __device__ __forceinline__ void float_pass_tile(const struct float_pass &pass,
                                                       const Finish &finish = Finish()) {
    struct sample_format format = {pass.channels, pass.depth, pass.alpha};
    struct tile tile = tile_of(pass.tiles, pass.target);
    int centre = centre_of(tile.x, pass.target.lo_x, pass.x.shift, pass.source.lo_x);
    int first = first_sample(centre, pass.x.radius, pass.channels);
    float_columns<From>(pass, format, tile, first);
    __syncthreads();
    float_rows<To>(pass, format, tile, (const float *)block_memory, first, finish);
}

static __device__ __forceinline__ float spline_sum(const struct float_spline &spline, const float *value,
                                                   int step) {
    float sum = __fmul_rn(spline.weight[0], value[0]);
    for (int k = 1; k < SPLINE_TAPS; k++) {
        sum = __fadd_rn(sum, __fmul_rn(spline.weight[k], value[k * step]));
    }
    return sum;
}

static __device__ __forceinline__ void
float_enlarge_rows(const struct enlarge_plane &plane, int channels, const struct tile &tile,
                   const struct enlargement<struct float_spline> &made) {
    int first = low_first(plane, tile.y);
    int rows = low_rows(plane, tile);
    for (int y = (int)threadIdx.y; y < rows; y += KERNEL_THREADS_Y) {
        const float *row = row_of<const float>(plane.source, first + y);
        float *out = (float *)made.values + y * plane.tiles.columns;
        for (int i = (int)threadIdx.x; i < tile.width * channels; i += KERNEL_THREADS_X) {
            int x = i / channels;
            int low = ((tile.x + x) >> plane.levels_x) - 1 - plane.source.lo_x;
            out[i] = plane.levels_x ? spline_sum(made.x[x & made.mask_x],
                                                 row + low * channels + (i - x * channels), channels)
                                    : row[(tile.x - plane.source.lo_x) * channels + i];
        }
    }
}

template <class Finish = struct as_it_is>
static __device__ __forceinline__ void float_enlarge_tile(const struct float_enlargement &pass,
                                                          const Finish &finish = Finish()) {
    const struct enlarge_plane &plane = pass.plane;
    struct sample_format format = {pass.channels, pass.depth, pass.alpha};
    struct tile tile = tile_of(plane.tiles, plane.target);
    struct enlargement<struct float_spline> made = fill_splines<struct float_spline>(plane, tile);
    __syncthreads();
    float_enlarge_rows(plane, format.channels, tile, made);
    __syncthreads();
    int top = tile.y >> plane.levels_y;
    for (int y = (int)threadIdx.y; y < tile.height; y += KERNEL_THREADS_Y) {
        int low = plane.levels_y ? ((tile.y + y) >> plane.levels_y) - top : y;
        const float *values = (const float *)made.values + low * plane.tiles.columns;
        for (int x = (int)threadIdx.x; x < tile.width; x += KERNEL_THREADS_X) {
            const float *at = values + x * format.channels;
            store_pixel<true>(plane.target, format, tile.x + x, tile.y + y, finish, [&](int channel) {
                return plane.levels_y ? spline_sum(made.y[y & made.mask_y], at + channel, plane.tiles.columns)
                                      : at[channel];
            });
        }
    }
}

#endif
