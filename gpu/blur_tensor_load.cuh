/* SPDX-License-Identifier: MIT
 * How a tile with its margins comes to shared memory, for gpu/blur_tensor.cuh. All reads of a thread are
 * under way at once, also at the picture's edges: blocks run side by side, and the slowest counts. */
#ifndef BLURD_GPU_BLUR_TENSOR_LOAD_CUH
#define BLURD_GPU_BLUR_TENSOR_LOAD_CUH

#include "gpu/blur_grid.cuh"

extern __shared__ uint4 block_memory[];

enum {
    TENSOR_ROWS = 16, /* that a warp makes at a time, and pixels */
    TENSOR_WARPS = KERNEL_TENSOR_HEIGHT / TENSOR_ROWS,
};

template <int Channels, int Parts> struct tensor {
    static constexpr int margin = 8 * (Parts - 1); /* rows and pixels around a tile */
    static constexpr int stride = KERNEL_TENSOR_STRIDE(Parts);
    static constexpr int columns = KERNEL_TENSOR_WIDTH / 16 + Parts - 1;
    static constexpr int rows = KERNEL_TENSOR_HEIGHT + 2 * margin;
    static constexpr int across = (KERNEL_TENSOR_WIDTH + 2 * margin) * Channels / 8; /* 8 samples each */
    static_assert(rows <= KERNEL_TENSOR_THREADS, "a thread looks up a row");
};

template <int Channels>
static __device__ uint32_t tensor_gather(const struct tensor_plane &plane, const uint8_t *row, int at) {
    uint32_t word = 0;
    for (int k = 0; k < 4; k++) {
        int x = floor_divide(at + k, Channels);
        int folded = fold(x, plane.source.width, plane.source.edge_x);
        uint32_t sample =
            folded == OUTSIDE ? plane.border : (uint32_t)row[folded * Channels + at + k - x * Channels];
        word |= sample << 8 * k;
    }
    return word;
}

/* A thread's share of the copy: a column of 8 samples, every so many rows. */
template <int Channels, int Parts> struct tensor_share {
    using shape = tensor<Channels, Parts>;
    static constexpr int step = KERNEL_TENSOR_THREADS / shape::across;
    static constexpr int turns = (shape::rows + step - 1) / step;
    int row, first; /* the first row of the tile's memory; the first sample of the picture's rows */
    bool idle;
    uint8_t *to;

    __device__ __forceinline__ explicit tensor_share(const struct tile &tile) {
        int thread = (int)(threadIdx.y * 32 + threadIdx.x);
        int column = thread % shape::across * 8;
        row = thread / shape::across;
        idle = row >= step;
        first = (tile.x - shape::margin) * Channels + column;
        to = (uint8_t *)block_memory + row * shape::stride + column;
    }
    /* Whether turn i is of a row that exists; known to the compiler where the rows come out even. */
    __device__ __forceinline__ bool has(int i) const {
        return shape::rows % step == 0 || row + i * step < shape::rows;
    }
};

template <int Channels, int Parts>
static __device__ __forceinline__ void tensor_load(const struct tensor_plane &plane,
                                                   const struct tile &tile) {
    struct tensor_share<Channels, Parts> share(tile);
    if (share.idle) {
        return;
    }
    int top = tile.y - tensor<Channels, Parts>::margin + share.row;
    const uint8_t *from = row_of<const uint8_t>(plane.source, top) + share.first;
#pragma unroll(Parts == 2 ? 20 : 13)
    for (int i = 0; i < share.turns; i++) {
        if (share.has(i)) {
            *(uint2 *)(share.to + i * share.step * tensor<Channels, Parts>::stride) =
                __ldg((const uint2 *)from);
        }
        from += share.step * plane.source.stride;
    }
}

/* The same of a tile whose rows may lie outside; the groups that reach over a row's end follow.
 * `rows` are the picture's rows. */
template <int Channels, int Parts>
static __device__ __forceinline__ void tensor_load_rows(const struct tensor_plane &plane,
                                                        const struct tensor_share<Channels, Parts> &share,
                                                        const int *rows) {
    uint32_t border = plane.border * 0x01010101u;
#pragma unroll(Parts == 2 ? 20 : 13)
    for (int i = 0; i < share.turns; i++) {
        if (share.has(i)) {
            int y = rows[share.row + i * share.step];
            uint2 group = make_uint2(border, border);
            if (y != OUTSIDE) {
                group = __ldg((const uint2 *)(row_of<const uint8_t>(plane.source, y) + share.first));
            }
            *(uint2 *)(share.to + i * share.step * tensor<Channels, Parts>::stride) = group;
        }
    }
}

template <int Channels, int Parts>
static __device__ __forceinline__ void tensor_gather_rows(const struct tensor_plane &plane,
                                                          const struct tensor_share<Channels, Parts> &share,
                                                          const int *rows) {
    uint32_t border = plane.border * 0x01010101u;
#pragma unroll 1
    for (int i = 0; i < share.turns && share.row + i * share.step < tensor<Channels, Parts>::rows; i++) {
        int y = rows[share.row + i * share.step];
        uint2 group = make_uint2(border, border);
        if (y != OUTSIDE) {
            const uint8_t *row = row_of<const uint8_t>(plane.source, y);
            group = make_uint2(tensor_gather<Channels>(plane, row, share.first),
                               tensor_gather<Channels>(plane, row, share.first + 4));
        }
        *(uint2 *)(share.to + i * share.step * tensor<Channels, Parts>::stride) = group;
    }
}

/* Repeats the first and the last pixel of the rows in shared memory, in a group that reaches over an end. */
template <int Channels, int Parts>
static __device__ __forceinline__ void tensor_clamp_rows(const struct tensor_share<Channels, Parts> &share,
                                                         int end) {
#pragma unroll 1
    for (int k = 0; k < 8; k++) {
        int at = share.first + k;
        if (at >= 0 && at < end) {
            continue;
        }
        int pixel = floor_divide(at, Channels);
        int from = (at < 0 ? 0 : end - Channels) + at - pixel * Channels - share.first;
        for (int i = 0; i < share.turns && share.row + i * share.step < tensor<Channels, Parts>::rows; i++) {
            uint8_t *row = share.to + i * share.step * tensor<Channels, Parts>::stride;
            row[k] = row[from];
        }
    }
}

/* A tile at the picture's edge. The usual edge mode costs no second wait for memory. */
template <int Channels, int Parts>
static __device__ __forceinline__ void tensor_load_edge(const struct tensor_plane &plane,
                                                        const struct tile &tile) {
    using shape = tensor<Channels, Parts>;
    int *rows = (int *)((uint8_t *)block_memory + shape::rows * shape::stride);
    int thread = (int)(threadIdx.y * 32 + threadIdx.x);
    if (thread < shape::rows) {
        rows[thread] = fold(tile.y - shape::margin + thread, plane.source.height, plane.source.edge_y);
    }
    __syncthreads();
    struct tensor_share<Channels, Parts> share(tile);
    int end = plane.source.width * Channels;
    bool whole = share.first >= 0 && share.first + 8 <= end;
    bool clamp = plane.source.edge_x == KERNEL_CLAMP;
    if (!share.idle && (whole || (clamp && share.first >= 0 && share.first < end))) {
        tensor_load_rows(plane, share, rows);
    } else if (!share.idle && !clamp) {
        tensor_gather_rows(plane, share, rows);
    }
    if (clamp) {
        __syncthreads();
        if (!share.idle && !whole) {
            tensor_clamp_rows(share, end);
        }
    }
}

/* Whether a tile and its margins lie in the picture. */
template <int Channels, int Parts>
static __device__ __forceinline__ bool tensor_inside(const struct tensor_plane &plane,
                                                     const struct tile &tile) {
    constexpr int margin = tensor<Channels, Parts>::margin;
    return tile.x >= margin && tile.x + KERNEL_TENSOR_WIDTH + margin <= plane.source.width &&
           tile.y >= margin && tile.y + KERNEL_TENSOR_HEIGHT + margin <= plane.source.height;
}

#endif
