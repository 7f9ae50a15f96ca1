/* SPDX-License-Identifier: MIT
 * The picture as a tensor. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_PICTURE_CUH
#define BLURD_GPU_DETECT_LAYERS_LAYER_PICTURE_CUH

#include "gpu/detect/layers/layer_kernels.h"
#include "gpu/detect/picture.cuh"

/* A thread makes two pixels side by side. */
static __device__ __forceinline__ void layer_read_picture(const struct layer_picture_pass &pass) {
    const unsigned pairs = (unsigned)(pass.width + 1) / 2;
    const unsigned index =
        blockIdx.x * KERNEL_THREADS_X * KERNEL_THREADS_Y + threadIdx.y * KERNEL_THREADS_X + threadIdx.x;
    const int y = (int)(index / pairs), x = (int)(index - (unsigned)y * pairs) * 2;
    if (y >= pass.height) {
        return;
    }
    const uint2 pixels = picture_two_pixels(pass.picture, x, y);
    uint32_t *to = (uint32_t *)pass.target + (int64_t)y * pass.width + x;
    to[0] = pixels.x;
    if (x + 1 < pass.width) {
        to[1] = pixels.y;
    }
}

#endif
