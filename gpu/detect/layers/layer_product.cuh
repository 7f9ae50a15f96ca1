/* SPDX-License-Identifier: MIT
 * Dense, point and transposed layers as products of matrices. A warp makes 32 pixels, one after the other in
 * rows, and some columns of their sums. A lane reads 8 bytes of 4 pixels at a time, and has in the end a word
 * of 4 outputs of each of them for each 16 columns. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_PRODUCT_CUH
#define BLURD_GPU_DETECT_LAYERS_LAYER_PRODUCT_CUH

#include "gpu/detect/layers/layer_finish.cuh"

enum {
    LAYER_ROWS = KERNEL_LAYER_PIXELS / 8, /* pixels of a lane, 8 from each other */
    LAYER_TILES = KERNEL_LAYER_PIXELS / 16,
    LAYER_TAPS = 9,
    LAYER_SIDE = 3,
    LAYER_AHEAD = 3, /* steps that are fetched before they are needed */
};

/* Where the lane's bytes of its pixels lie: at the upper left tap of the window, or of the pixel alone the
 * lane's first. Bits of the taps that lie in the source. */
struct layer_rows {
    const uint8_t *at[LAYER_ROWS];
    uint32_t inside[LAYER_ROWS];
};

/* A place in the row of values that a window has: a tap, and a channel of it. */
struct layer_tap {
    int tap, channel;
};

static __device__ __forceinline__ void layer_move(struct layer_tap &at, int values, int inputs) {
    at.channel += values;
    while (at.channel >= inputs) {
        at.channel -= inputs;
        at.tap++;
    }
}

static __device__ __forceinline__ uint32_t layer_taps_inside(const struct layer_product_pass &pass, int left,
                                                             int top) {
    uint32_t inside = 0;
#pragma unroll
    for (int tap = 0; tap < LAYER_TAPS; tap++) {
        bool there = (unsigned)(left + tap % LAYER_SIDE) < (unsigned)pass.width &&
                     (unsigned)(top + tap / LAYER_SIDE) < (unsigned)pass.height;
        inside |= there ? 1u << tap : 0;
    }
    return inside;
}

template <bool Window>
static __device__ __forceinline__ struct layer_rows layer_rows_of(const struct layer_product_pass &pass,
                                                                  int first) {
    struct layer_rows rows = {};
#pragma unroll
    for (int i = 0; i < LAYER_ROWS; i++) {
        int pixel = min(first + 8 * i, pass.pixels - 1);
        int64_t at = pixel;
        if (Window) {
            int y = pixel / pass.across;
            int left = (pixel - y * pass.across) * pass.stride - 1, top = y * pass.stride - 1;
            rows.inside[i] = layer_taps_inside(pass, left, top);
            at = (int64_t)top * pass.width + left;
        }
        rows.at[i] = (const uint8_t *)pass.source + at * pass.inputs;
    }
    return rows;
}

static __device__ __forceinline__ int layer_offset(const struct layer_product_pass &pass,
                                                   const struct layer_tap &at) {
    int y = at.tap / LAYER_SIDE;
    return (y * pass.width + at.tap - y * LAYER_SIDE) * pass.inputs + at.channel;
}

/* Where the lane's values lie, or what may be read in their stead: loads that do not depend on a condition
 * need not wait for each other. */
template <bool Window>
static __device__ __forceinline__ const uint8_t *layer_address(const struct layer_product_pass &pass,
                                                               const struct layer_rows &rows, int i,
                                                               const struct layer_tap &tap, bool there) {
    const uint8_t *at = rows.at[i] + (Window ? layer_offset(pass, tap) : tap.channel);
    return there ? at : (const uint8_t *)pass.source;
}

/* The lane's eight values of a pixel; `low` and `high` are the places of its words. */
template <bool Window, bool Narrow>
static __device__ __forceinline__ uint2 layer_load(const struct layer_product_pass &pass,
                                                   const struct layer_rows &rows, int i,
                                                   const struct layer_tap &low,
                                                   const struct layer_tap &high) {
    const bool there = !Window || rows.inside[i] >> low.tap & 1;
    const uint8_t *at = layer_address<Window>(pass, rows, i, low, there);
    if (!Narrow) {
        const uint2 value = __ldg((const uint2 *)at);
        return make_uint2(there ? value.x : pass.zero, there ? value.y : pass.zero);
    }
    const bool high_there = !Window || rows.inside[i] >> high.tap & 1;
    const uint32_t low_value = __ldg((const uint32_t *)at);
    const uint32_t high_value =
        __ldg((const uint32_t *)layer_address<Window>(pass, rows, i, high, high_there));
    return make_uint2(there ? low_value : pass.zero, high_there ? high_value : pass.zero);
}

/* Sums of the lane: of each 16 pixels, rows g and g + 8, and of each 16 columns, 4t and 4t + 1, then 4t + 2
 * and 4t + 3. */
template <int Sixteens> struct layer_sums { int32_t of[LAYER_TILES][2 * Sixteens][4]; };

template <int Sixteens>
static __device__ __forceinline__ void layer_start(struct layer_sums<Sixteens> &sums, const uint4 *bias) {
#pragma unroll
    for (int i = 0; i < Sixteens; i++) {
        const uint4 start = __ldg(bias + i * KERNEL_LAYER_COLUMNS / 4);
#pragma unroll
        for (int tile = 0; tile < LAYER_TILES; tile++) {
#pragma unroll
            for (int row = 0; row < 2; row++) {
                sums.of[tile][2 * i][2 * row] = (int32_t)start.x;
                sums.of[tile][2 * i][2 * row + 1] = (int32_t)start.y;
                sums.of[tile][2 * i + 1][2 * row] = (int32_t)start.z;
                sums.of[tile][2 * i + 1][2 * row + 1] = (int32_t)start.w;
            }
        }
    }
}

template <int Sixteens>
static __device__ __forceinline__ void layer_multiply(struct layer_sums<Sixteens> &sums,
                                                      const uint2 value[LAYER_ROWS], const uint4 *weights) {
#pragma unroll
    for (int i = 0; i < Sixteens; i++) {
        const uint4 columns = __ldg(weights + i * KERNEL_LAYER_PAIR / (int)sizeof(uint4));
#pragma unroll
        for (int tile = 0; tile < LAYER_TILES; tile++) {
            const uint2 &upper = value[2 * tile], &lower = value[2 * tile + 1];
            const uint4 rows = make_uint4(upper.x, lower.x, upper.y, lower.y);
            int32_t *low = sums.of[tile][2 * i], *high = sums.of[tile][2 * i + 1];
            face_pixels_by_weights(low, low, rows, make_uint2(columns.x, columns.y));
            face_pixels_by_weights(high, high, rows, make_uint2(columns.z, columns.w));
        }
    }
}

/* Where the results of a pixel begin, and how far from there a column's is. */
static __device__ __forceinline__ int64_t layer_place(const struct layer_product_pass &pass, int pixel) {
    if (!pass.apart) {
        return (int64_t)pixel * pass.outputs;
    }
    int y = pixel / pass.across, x = pixel - y * pass.across;
    return pass.by * (y * pass.pitch + (int64_t)x * pass.outputs);
}

static __device__ __forceinline__ int64_t layer_column(const struct layer_product_pass &pass, int column) {
    if (!pass.apart) {
        return column;
    }
    int place = column / pass.outputs;
    return place / 2 * pass.pitch + column - place / 2 * 2 * pass.outputs;
}

/* Of a map: the outputs are no word, but bytes in several places. */
static __device__ __forceinline__ void layer_write_bytes(const struct layer_product_pass &pass, int64_t place,
                                                         int column, uint32_t bytes) {
    for (int i = 0; i < min((int)KERNEL_LAYER_WORD, pass.columns - column); i++) {
        *(uint8_t *)(pass.target + place + layer_column(pass, column + i)) = (uint8_t)(bytes >> 8 * i);
    }
}

/* The lane's words of the addend, all of them read before the first one is needed. */
static __device__ __forceinline__ void layer_addends(const struct layer_product_pass &pass,
                                                     const int64_t place[LAYER_ROWS], int64_t column,
                                                     uint32_t addend[LAYER_ROWS]) {
#pragma unroll
    for (int row = 0; row < LAYER_ROWS; row++) {
        addend[row] = __ldg((const uint32_t *)(pass.finish.addend + place[row] + column));
    }
}

template <int Sixteens>
static __device__ __forceinline__ void layer_finish_tile(const struct layer_product_pass &pass,
                                                         const struct layer_sums<Sixteens> &sums, int first,
                                                         int begin) {
    int64_t place[LAYER_ROWS];
#pragma unroll
    for (int row = 0; row < LAYER_ROWS; row++) {
        place[row] = layer_place(pass, min(first + 8 * row, pass.pixels - 1));
    }
#pragma unroll
    for (int i = 0; i < Sixteens; i++) {
        const int column = begin + i * KERNEL_LAYER_COLUMNS;
        const uint4 scale = __ldg((const uint4 *)(pass.scales + (uint64_t)column * sizeof(float)));
        const int64_t offset = column < pass.columns ? layer_column(pass, column) : 0;
        uint32_t addend[LAYER_ROWS] = {};
        if (pass.finish.addend) {
            layer_addends(pass, place, offset, addend);
        }
#pragma unroll
        for (int row = 0; row < LAYER_ROWS; row++) {
            const int32_t *low = sums.of[row / 2][2 * i] + row % 2 * 2,
                          *high = sums.of[row / 2][2 * i + 1] + row % 2 * 2;
            const uint32_t bytes =
                layer_bytes(pass.finish, layer_scaled(low[0], low[1], high[0], high[1], scale), addend[row]);
            if (first + 8 * row >= pass.pixels || column >= pass.columns) {
                continue;
            }
            if (Sixteens == 1 && pass.outputs % KERNEL_LAYER_WORD != 0) {
                layer_write_bytes(pass, place[row], column, bytes);
            } else {
                *(uint32_t *)(pass.target + place[row] + offset) = bytes;
            }
        }
    }
}

/* Has what a step reads brought near: the block's weights, and the warp's pixels where these are apart. */
template <int Sixteens, bool Window>
static __device__ __forceinline__ void layer_fetch(const struct layer_product_pass &pass, int part, int pixel,
                                                   int step) {
    void *dummy = (uint8_t *)block_memory + KERNEL_LAYER_TABLE_BYTES + threadIdx.x * sizeof(uint32_t);
    const int bytes = layer_thread() * KERNEL_FACE_SECTOR;
    if (step >= pass.steps) {
        return;
    }
    if (bytes < Sixteens * KERNEL_LAYER_PAIR) {
        const int first = step * pass.sixteens + part * Sixteens;
        face_touch((const void *)(pass.weights + (uint64_t)first * KERNEL_LAYER_PAIR + (uint64_t)bytes),
                   dummy);
    }
    if (!Window) {
        const int64_t at = (int64_t)min(pixel, pass.pixels - 1) * pass.inputs + step * KERNEL_LAYER_STEP;
        face_touch((const void *)(pass.source + (uint64_t)at), dummy);
    }
}

template <int Sixteens, bool Window, bool Narrow>
static __device__ __forceinline__ void layer_product(const struct layer_product_pass &pass) {
    const int part = (int)blockIdx.x / pass.tiles, tile = (int)blockIdx.x - part * pass.tiles;
    const int row = (int)threadIdx.x / 4, quad = (int)threadIdx.x % 4;
    const int first = (tile * KERNEL_LAYER_WARPS + (int)threadIdx.y) * KERNEL_LAYER_PIXELS + row;
    const int begin = part * Sixteens * KERNEL_LAYER_COLUMNS + KERNEL_LAYER_WORD * quad;
    const uint4 *weights =
        (const uint4 *)(pass.weights + (uint64_t)(part * Sixteens) * KERNEL_LAYER_PAIR) + threadIdx.x;
    const struct layer_rows rows = layer_rows_of<Window>(pass, first);
    struct layer_tap low = {0, 0}, high = {0, 0};
    struct layer_sums<Sixteens> sums;
    const int pixel = first - row + (int)threadIdx.x;
#pragma unroll
    for (int step = 0; step < LAYER_AHEAD; step++) {
        layer_fetch<Sixteens, Window>(pass, part, pixel, step);
    }
    layer_load_table(pass.finish);
    layer_start(sums, (const uint4 *)(pass.biases + (uint64_t)begin * sizeof(int32_t)));
    const int inputs = Window ? pass.inputs : 0x7fffffff;
    layer_move(low, 8 * quad, inputs);
    layer_move(high, 8 * quad + KERNEL_LAYER_WORD, inputs);
#pragma unroll 2
    for (int step = 0; step < pass.steps; step++) {
        uint2 value[LAYER_ROWS];
        layer_fetch<Sixteens, Window>(pass, part, pixel, step + LAYER_AHEAD);
#pragma unroll
        for (int i = 0; i < LAYER_ROWS; i++) {
            value[i] = layer_load<Window, Narrow>(pass, rows, i, low, high);
        }
        layer_multiply(sums, value, weights);
        weights += pass.sixteens * (KERNEL_LAYER_PAIR / (int)sizeof(uint4));
        layer_move(low, KERNEL_LAYER_STEP, inputs);
        layer_move(high, KERNEL_LAYER_STEP, inputs);
    }
    layer_finish_tile(pass, sums, first, begin);
}

#endif
