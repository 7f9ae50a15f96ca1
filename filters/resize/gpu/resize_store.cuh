/* SPDX-License-Identifier: MIT
 * Pixels of the result of a resize: of the picture, and around it. */
#ifndef BLURD_FILTERS_RESIZE_GPU_RESIZE_STORE_CUH
#define BLURD_FILTERS_RESIZE_GPU_RESIZE_STORE_CUH

#include "filters/blur/gpu/blur_float.cuh"
#include "filters/resize/gpu/resize_kernels.h"
#include "filters/resize/resize_weights.h"

/* Unrolled where `channels` is a constant. */
static __device__ __forceinline__ void resize_store(const struct resize_rows_pass &pass,
                                                    const struct kernel_grid &grid, int x, int y,
                                                    int channels, const float *value) {
    float by = value[channels - 1];
#pragma unroll
    for (int c = 0; c < channels; c++) {
        float v = value[c];
        if (pass.alpha && c < channels - 1) {
            v = by > 0 ? __fdiv_rn(v, by) : 0.0f;
        }
        store_sample(grid, y, x * channels + c, v, pass.depth);
    }
}

static __device__ __forceinline__ void resize_fill(const struct resize_rows_plane &plane, int x, int y,
                                                   int channels, int depth) {
#pragma unroll
    for (int c = 0; c < channels; c++) {
        if (depth == 8) {
            row_of<uint8_t>(plane.target, y)[x * channels + c] = (uint8_t)plane.colour[c];
        } else {
            row_of<uint16_t>(plane.target, y)[x * channels + c] = plane.colour[c];
        }
    }
}

#endif
