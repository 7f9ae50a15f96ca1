/* SPDX-License-Identifier: MIT
 * Resizing in single precision. One kernel computes the weights of all axes. The next one makes the sums of
 * columns, which stay floats in scratch memory: a thread makes four adjacent ones. The last one makes the
 * sums of their rows and stores samples. docs/filters.md has the order of all sums. A sum begins with 0 here;
 * adding the first product to it changes only the sign of a zero. */
#ifndef BLURD_FILTERS_RESIZE_GPU_RESIZE_CUH
#define BLURD_FILTERS_RESIZE_GPU_RESIZE_CUH

#include "filters/resize/gpu/resize_store.cuh"

static_assert((RESIZE_BLOCK & (RESIZE_BLOCK - 1)) == 0, "the bits of an index tell where a block begins");

/* ---- weights ---- */

static __device__ __forceinline__ double resize_of_lane(double value, int lane) {
    uint64_t bits = (uint64_t)__double_as_longlong(value);
    uint64_t low = __shfl_sync(0xffffffffu, (uint32_t)bits, lane);
    uint64_t high = __shfl_sync(0xffffffffu, (uint32_t)(bits >> 32), lane);
    return __longlong_as_double((long long)(high << 32 | low));
}

/* Called in several places, and long. */
static __device__ __noinline__ double resize_value(const struct resize_taps &taps, int j) {
    return resize_taps_value(&taps, j);
}

/* resize_taps_add() by a warp: each lane computes other values, and all of them add up all values in order.
 */
static __device__ __forceinline__ double resize_add_warp(const struct resize_taps &taps, int first,
                                                         int last) {
    double sum = 0;
    for (int base = first; base < last; base += KERNEL_THREADS_X) {
        int j = base + (int)threadIdx.x, count = min(last - base, (int)KERNEL_THREADS_X);
        double value = j < last ? resize_value(taps, j) : 0.0;
#pragma unroll 8
        for (int lane = 0; lane < count; lane++) {
            sum += resize_of_lane(value, lane);
        }
    }
    return sum;
}

/* What the samples at both ends weigh. Samples beyond a border repeat the last one before it. */
struct resize_ends {
    double first, last;
};

static __device__ __forceinline__ struct resize_ends resize_ends_of(const struct resize_taps &taps,
                                                                    double sum) {
    struct resize_ends ends = {sum, sum};
    if (taps.to - taps.from > 1) {
        ends.first = resize_add_warp(taps, taps.lo, taps.from + 1);
        ends.last = resize_add_warp(taps, taps.to - 1, taps.hi);
    }
    return ends;
}

/* A warp computes the weights of one sample of the target. */
static __device__ __forceinline__ void resize_line_weights(const struct resize_weights_pass &pass) {
    int number = 0;
    for (int l = 1; l < pass.lines; l++) {
        number += (int)blockIdx.x >= pass.line[l].first_block;
    }
    const struct resize_line &line = pass.line[number];
    int i = ((int)blockIdx.x - line.first_block) * KERNEL_THREADS_Y + (int)threadIdx.y;
    if (i >= line.count) {
        return;
    }
    const struct resize_taps taps = resize_taps_at(pass.kernel, line.scale, line.begin, line.size, i);
    double sum = resize_add_warp(taps, taps.lo, taps.hi);
    bool inside = taps.from == taps.lo && taps.to == taps.hi;
    struct resize_ends ends = {0, 0};
    if (!inside) {
        ends = resize_ends_of(taps, sum);
    }
    float *weight = (float *)line.weights + (int64_t)i * line.sample_step;
    for (int k = (int)threadIdx.x; k < taps.to - taps.from; k += KERNEL_THREADS_X) {
        int j = taps.from + k;
        double value = inside || (j > taps.from && j < taps.to - 1) ? resize_value(taps, j)
                       : j == taps.from                             ? ends.first
                                                                    : ends.last;
        weight[(int64_t)k * line.tap_step] = (float)(value / sum);
    }
    if (threadIdx.x == 0) {
        ((struct resize_range *)line.ranges)[i] = {taps.from, taps.to - taps.from};
    }
}

/* ---- sums of columns ---- */

struct resize_quad {
    float of[KERNEL_RESIZE_QUAD];
};

/* The bytes that the selector names, as a float: they become the low bits of 2^23. Conversions from integers
 * may be slower. */
static __device__ __forceinline__ float resize_float(uint32_t word, uint32_t selector) {
    return __fadd_rn(__uint_as_float(__byte_perm(word, 0x4b000000, selector)), -8388608.0f);
}

static __device__ __forceinline__ struct resize_quad resize_load(const uint8_t *from) {
    uint32_t word = __ldg((const uint32_t *)from);
    return {{resize_float(word, 0x7440), resize_float(word, 0x7441), resize_float(word, 0x7442),
             resize_float(word, 0x7443)}};
}

static __device__ __forceinline__ struct resize_quad resize_load(const uint16_t *from) {
    uint2 words = __ldg((const uint2 *)from);
    return {{resize_float(words.x, 0x7410), resize_float(words.x, 0x7432), resize_float(words.y, 0x7410),
             resize_float(words.y, 0x7432)}};
}

/* Colour times alpha: one pixel of four channels, or two of two. */
static __device__ __forceinline__ void resize_multiply(struct resize_quad &quad, int channels) {
    bool pixel = channels == KERNEL_RESIZE_QUAD;
    quad.of[0] = __fmul_rn(quad.of[0], pixel ? quad.of[3] : quad.of[1]);
    quad.of[1] = pixel ? __fmul_rn(quad.of[1], quad.of[3]) : quad.of[1];
    quad.of[2] = __fmul_rn(quad.of[2], quad.of[3]);
}

/* Adds the products of Count rows. All of them are loaded first, so that no load waits for another. */
template <class T, bool Alpha, int Count>
static __device__ __forceinline__ void resize_add_rows(const uint8_t *&row, int64_t stride,
                                                       const float *&weight, int channels,
                                                       struct resize_quad &sum) {
    struct resize_quad value[Count];
    float w[Count];
#pragma unroll
    for (int n = 0; n < Count; n++) {
        value[n] = resize_load((const T *)row);
        w[n] = __ldg(weight++);
        row += stride;
    }
#pragma unroll
    for (int n = 0; n < Count; n++) {
        if (Alpha) {
            resize_multiply(value[n], channels);
        }
#pragma unroll
        for (int i = 0; i < KERNEL_RESIZE_QUAD; i++) {
            sum.of[i] = __fadd_rn(sum.of[i], __fmul_rn(w[n], value[n].of[i]));
        }
    }
}

template <class T, bool Alpha>
static __device__ __forceinline__ struct resize_quad
resize_columns_of(const struct resize_columns_pass &pass, const struct resize_columns_plane &plane, int x,
                  int y) {
    struct resize_range range = ((const struct resize_range *)plane.ranges)[y];
    const float *weight = (const float *)plane.weights + (int64_t)y * plane.taps;
    const uint8_t *row = (const uint8_t *)(row_of<const T>(plane.source, range.from) + plane.target.lo_x + x);
    const int64_t stride = plane.source.stride;
    struct resize_quad total = {};
    for (int left = range.count, block = RESIZE_BLOCK - range.from % RESIZE_BLOCK; left > 0;
         left -= block, block = RESIZE_BLOCK) {
        struct resize_quad sum = {};
        int k = min(block, left);
#pragma unroll 1
        for (; k >= 8; k -= 8) {
            resize_add_rows<T, Alpha, 8>(row, stride, weight, pass.channels, sum);
        }
        if (k & 4) {
            resize_add_rows<T, Alpha, 4>(row, stride, weight, pass.channels, sum);
        }
        if (k & 2) {
            resize_add_rows<T, Alpha, 2>(row, stride, weight, pass.channels, sum);
        }
        if (k & 1) {
            resize_add_rows<T, Alpha, 1>(row, stride, weight, pass.channels, sum);
        }
#pragma unroll
        for (int i = 0; i < KERNEL_RESIZE_QUAD; i++) {
            total.of[i] = __fadd_rn(total.of[i], sum.of[i]);
        }
    }
    return total;
}

/* A block's tile. The last thread of a row also reads the padding behind it. */
template <class T, bool Alpha>
static __device__ __forceinline__ void resize_columns_tile(const struct resize_columns_pass &pass) {
    const struct resize_columns_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    int x = tile.x + (int)threadIdx.x * KERNEL_RESIZE_QUAD, y = tile.y + (int)threadIdx.y;
    if (x >= plane.target.width || y >= plane.target.height) {
        return;
    }
    struct resize_quad sums = resize_columns_of<T, Alpha>(pass, plane, x, y);
    *(uint4 *)(row_of<float>(plane.target, y) + x) =
        make_uint4(__float_as_uint(sums.of[0]), __float_as_uint(sums.of[1]), __float_as_uint(sums.of[2]),
                   __float_as_uint(sums.of[3]));
}

/* ---- sums of rows ---- */

/* The pixels of a thread: one in each of several rows. */
template <int Channels, int Rows> struct resize_pixels { float of[Rows][Channels]; };

/* Where the sums of a thread's rows have arrived. */
template <int Channels, int Rows> struct resize_walk {
    const float *row[Rows];
    const float *weight;
    int step; /* from a weight to the next */
    int j;    /* sample of the source */
    struct resize_pixels<Channels, Rows> sum, total;
};

/* Adds the products of Count pixels of each row. */
template <int Count, int Channels, int Rows>
static __device__ __forceinline__ void resize_add_pixels(struct resize_walk<Channels, Rows> &walk) {
    float w[Count], value[Count][Rows][Channels];
#pragma unroll
    for (int n = 0; n < Count; n++) {
        w[n] = __ldg(walk.weight);
        walk.weight += walk.step;
#pragma unroll
        for (int i = 0; i < Rows * Channels; i++) {
            value[n][i / Channels][i % Channels] =
                __ldg(walk.row[i / Channels] + n * Channels + i % Channels);
        }
    }
#pragma unroll
    for (int n = 0; n < Count; n++) {
        bool begins = (walk.j++ & (RESIZE_BLOCK - 1)) == 0;
#pragma unroll
        for (int i = 0; i < Rows * Channels; i++) {
            float &sum = walk.sum.of[i / Channels][i % Channels];
            float &total = walk.total.of[i / Channels][i % Channels];
            if (begins) {
                total = __fadd_rn(total, sum);
                sum = 0;
            }
            sum = __fadd_rn(sum, __fmul_rn(w[n], value[n][i / Channels][i % Channels]));
        }
    }
#pragma unroll
    for (int r = 0; r < Rows; r++) {
        walk.row[r] += Count * Channels;
    }
}

/* The sums at column i of the rectangle, in rows y, y + KERNEL_THREADS_Y and so on of it. Rows outside of it
 * are computed as those at its border, and are not stored. */
template <int Channels, int Rows>
static __device__ __forceinline__ struct resize_pixels<Channels, Rows>
resize_sums_of_rows(const struct resize_rows_plane &plane, int i, int y) {
    struct resize_range range = ((const struct resize_range *)plane.ranges)[i];
    struct resize_walk<Channels, Rows> walk = {};
    walk.weight = (const float *)plane.weights + i;
    walk.step = plane.width;
    walk.j = range.from;
#pragma unroll
    for (int r = 0; r < Rows; r++) {
        int at = min(max(y + r * KERNEL_THREADS_Y, 0), plane.source.height - 1);
        walk.row[r] = row_of<const float>(plane.source, at) + (range.from * Channels - plane.source.lo_x);
    }
#pragma unroll 1
    for (int k = range.count; k >= 4; k -= 4) {
        resize_add_pixels<4>(walk);
    }
    if (range.count & 2) {
        resize_add_pixels<2>(walk);
    }
    if (range.count & 1) {
        resize_add_pixels<1>(walk);
    }
#pragma unroll
    for (int i = 0; i < Rows * Channels; i++) {
        float &total = walk.total.of[i / Channels][i % Channels];
        total = __fadd_rn(total, walk.sum.of[i / Channels][i % Channels]);
    }
    return walk.total;
}

template <int Channels, int Rows>
static __device__ __forceinline__ void resize_rows_tile(const struct resize_rows_pass &pass) {
    const struct resize_rows_plane &plane = pass.plane[plane_of<Channels>(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    int x = tile.x + (int)threadIdx.x, y = tile.y + (int)threadIdx.y;
    if (x >= plane.target.width) {
        return;
    }
    int i = x - plane.left, top = y - plane.top, end = plane.source.height;
    bool column = end > 0 && (unsigned)i < (unsigned)plane.width;
    struct resize_pixels<Channels, Rows> pixels = {};
    if (column && top < end && top + (Rows - 1) * KERNEL_THREADS_Y >= 0) {
        pixels = resize_sums_of_rows<Channels, Rows>(plane, i, top);
    }
#pragma unroll
    for (int r = 0; r < Rows; r++) {
        int row = y + r * KERNEL_THREADS_Y;
        if (row >= plane.target.height) {
            break;
        }
        if (column && (unsigned)(row - plane.top) < (unsigned)end) {
            resize_store(pass, plane.target, x, row, Channels, pixels.of[r]);
        } else if (!pass.kept) {
            resize_fill(plane, x, row, Channels, pass.depth);
        }
    }
}

#endif
