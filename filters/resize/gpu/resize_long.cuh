/* SPDX-License-Identifier: MIT
 * The last kernel of a resize for pictures that become much narrower. Their rows have few pixels with many
 * taps, so a warp makes a pixel. Neighbouring lanes read neighbouring samples. */
#ifndef BLURD_FILTERS_RESIZE_GPU_RESIZE_LONG_CUH
#define BLURD_FILTERS_RESIZE_GPU_RESIZE_LONG_CUH

#include "filters/resize/gpu/resize_store.cuh"

/* The products of up to 32 blocks from sample `first` on. A block's products lie side by side. */
static __device__ __forceinline__ void resize_multiply_blocks(const struct resize_range &range,
                                                              const float *weight, const float *value,
                                                              int channels, int first, int blocks,
                                                              float *products) {
#pragma unroll 4
    for (int b = 0; b < blocks; b++) {
        int k = first + b * RESIZE_BLOCK + (int)threadIdx.x - range.from;
        bool any = (unsigned)k < (unsigned)range.count;
        products[b * KERNEL_RESIZE_STRIDE + (int)threadIdx.x] =
            any ? __fmul_rn(__ldg(weight + k), __ldg(value + k * channels)) : 0.0f;
    }
}

/* The sum of a row, by a warp. A lane adds up a block; the sums of blocks are then added in order. Products
 * outside of the range are 0 and change nothing. */
static __device__ __forceinline__ float resize_long_sum(const struct resize_range &range, const float *weight,
                                                        const float *value, int channels) {
    static_assert((int)RESIZE_BLOCK == (int)KERNEL_THREADS_X, "a lane makes each product of a block");
    constexpr int group = KERNEL_THREADS_X * RESIZE_BLOCK;
    int lane = (int)threadIdx.x, end = range.from + range.count;
    float *products = (float *)block_memory + (int)threadIdx.y * KERNEL_THREADS_X * KERNEL_RESIZE_STRIDE;
    float total = 0;
    for (int first = range.from - range.from % RESIZE_BLOCK; first < end; first += group) {
        int blocks = min((end - first + RESIZE_BLOCK - 1) / RESIZE_BLOCK, (int)KERNEL_THREADS_X);
        resize_multiply_blocks(range, weight, value, channels, first, blocks, products);
        __syncwarp();
        float sum = 0;
        if (lane < blocks) {
#pragma unroll 8
            for (int t = 0; t < RESIZE_BLOCK; t++) {
                sum = __fadd_rn(sum, products[lane * KERNEL_RESIZE_STRIDE + t]);
            }
        }
        __syncwarp();
        for (int b = 0; b < blocks; b++) {
            total = __fadd_rn(total, __uint_as_float(__shfl_sync(0xffffffffu, __float_as_uint(sum), b)));
        }
    }
    return total;
}

/* A warp makes a pixel. */
static __device__ __forceinline__ void resize_long_pixel(const struct resize_rows_pass &pass) {
    const struct resize_rows_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    int x = tile.x + (int)threadIdx.y, y = tile.y, i = x - plane.left, row = y - plane.top;
    if ((int)threadIdx.y >= tile.width) {
        return;
    }
    if ((unsigned)i >= (unsigned)plane.width || (unsigned)row >= (unsigned)plane.source.height) {
        if (threadIdx.x == 0 && !pass.kept) {
            resize_fill(plane, x, y, pass.channels, pass.depth);
        }
        return;
    }
    struct resize_range range = ((const struct resize_range *)plane.ranges)[i];
    const float *weight = (const float *)plane.weights + (int64_t)i * plane.taps;
    const float *value =
        row_of<const float>(plane.source, row) + (range.from * pass.channels - plane.source.lo_x);
    float sums[KERNEL_RESIZE_QUAD];
    for (int c = 0; c < pass.channels; c++) {
        sums[c] = resize_long_sum(range, weight, value + c, pass.channels);
    }
    if (threadIdx.x == 0) {
        resize_store(pass, plane.target, x, y, pass.channels, sums);
    }
}

#endif
