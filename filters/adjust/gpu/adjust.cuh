/* SPDX-License-Identifier: MIT
 * Adjustments of colour in single precision. Every product and every sum is rounded, in the order of
 * docs/filters.md. Each thread makes one pixel. */
#ifndef BLURD_FILTERS_ADJUST_GPU_ADJUST_CUH
#define BLURD_FILTERS_ADJUST_GPU_ADJUST_CUH

#include "filters/blur/gpu/blur_float.cuh"

/* The curve is in shared memory, since threads read different entries at a time. */
static __device__ __forceinline__ void adjust_keep_curve(const struct adjust_pass &pass) {
    float *curve = (float *)block_memory;
    int thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    for (int i = thread; pass.curved && i < KERNEL_CURVE; i += KERNEL_THREADS_X * KERNEL_THREADS_Y) {
        curve[i] = pass.curve[i];
    }
    __syncthreads();
}

/* The parabola through three nodes, as adjust_nodes() in filters/adjust/adjust.h places them. */
static __device__ __forceinline__ float adjust_curve_wide(const float *curve, uint32_t sample) {
    uint32_t bits = sample < 2 * KERNEL_CURVE_FINE ? 0 : 27 - (uint32_t)__clz((int)sample);
    uint32_t pair = sample >> bits & ~1u;
    float at = __fdiv_rn((float)(int32_t)(sample - ((pair + 1) << bits)), (float)(1u << bits));
    const float *node = curve + bits * KERNEL_CURVE_FINE + pair;
    float slope = __fmul_rn(__fadd_rn(node[2], -node[0]), 0.5f);
    float bend = __fadd_rn(__fmul_rn(__fadd_rn(node[2], node[0]), 0.5f), -node[1]);
    return __fadd_rn(node[1], __fmul_rn(at, __fadd_rn(slope, __fmul_rn(at, bend))));
}

static __device__ __forceinline__ float adjust_value(const struct adjust_pass &pass,
                                                     const struct kernel_grid &source, int y, int i) {
    if (!pass.curved) {
        return sample_at(source, y, i, pass.depth);
    }
    const float *curve = (const float *)block_memory;
    return pass.depth == 8 ? curve[row_of<const uint8_t>(source, y)[i]]
                           : adjust_curve_wide(curve, row_of<const uint16_t>(source, y)[i]);
}

template <int From, int To>
static __device__ __forceinline__ void adjust_pixel(const struct adjust_pass &pass, int index,
                                                    const struct adjust_plane &plane, int x, int y) {
    int from = x * (From + pass.alpha), to = x * (To + pass.alpha);
    float value[From];
    for (int c = 0; c < From; c++) {
        value[c] = adjust_value(pass, plane.source, y, from + c);
    }
    for (int c = 0; c < To; c++) {
        int row = index + c; /* a picture has several planes, or its only one has several colours */
        float sum = __fmul_rn(pass.matrix[row][From == 1 && To == 1 ? row : 0], value[0]);
        for (int k = 1; k < From; k++) {
            sum = __fadd_rn(sum, __fmul_rn(pass.matrix[row][k], value[k]));
        }
        store_sample(plane.target, y, to + c, __fadd_rn(sum, pass.matrix[row][3]), pass.depth);
    }
    if (pass.alpha && pass.depth == 8) {
        row_of<uint8_t>(plane.target, y)[to + To] = row_of<const uint8_t>(plane.source, y)[from + From];
    } else if (pass.alpha) {
        row_of<uint16_t>(plane.target, y)[to + To] = row_of<const uint16_t>(plane.source, y)[from + From];
    }
}

template <int From, int To>
static __device__ __forceinline__ void adjust_tile(const struct adjust_pass &pass) {
    int index = plane_of<From * To>(pass);
    const struct adjust_plane &plane = pass.plane[index];
    struct tile tile = tile_of(plane.tiles, plane.target);
    adjust_keep_curve(pass);
    for (int y = tile.y + (int)threadIdx.y; y < tile.y + tile.height; y += KERNEL_THREADS_Y) {
        for (int x = tile.x + (int)threadIdx.x; x < tile.x + tile.width; x += KERNEL_THREADS_X) {
            adjust_pixel<From, To>(pass, index, plane, x, y);
        }
    }
}

#endif
