/* SPDX-License-Identifier: MIT
 * The picture as a tensor. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_PICTURE_CUH
#define BLURD_GPU_DETECT_LAYERS_LAYER_PICTURE_CUH

#include "gpu/detect/layers/layer_kernels.h"
#include "gpu/detect/picture.cuh"

/* The place that one of the padded picture mirrors, along an axis. */
static __device__ __forceinline__ int layer_mirrored(int place, int border, int size) {
    const int period = size > 1 ? 2 * size - 2 : 1;
    const int away = abs(place - border) % period;
    return away < size ? away : period - away;
}

/* A thread makes two pixels side by side. */
static __device__ __forceinline__ void layer_read_picture(const struct layer_picture_pass &pass) {
    const unsigned pairs = (unsigned)(pass.width + 1) / 2;
    const unsigned index =
        blockIdx.x * KERNEL_THREADS_X * KERNEL_THREADS_Y + threadIdx.y * KERNEL_THREADS_X + threadIdx.x;
    const int y = (int)(index / pairs), x = (int)(index - (unsigned)y * pairs) * 2;
    if (y >= pass.height) {
        return;
    }
    const struct kernel_grid &first = pass.picture.plane[0];
    const int row = pass.border > 0 ? layer_mirrored(y, pass.border, first.height) : y,
              left = x - pass.border;
    uint2 pixels;
    if (pass.border == 0 || (pass.border % 2 == 0 && left >= 0 && left + 1 < first.width)) {
        pixels = picture_two_pixels(pass.picture, left, row);
    } else {
        pixels.x = picture_pixel(pass.picture, layer_mirrored(x, pass.border, first.width), row);
        pixels.y = picture_pixel(pass.picture, layer_mirrored(x + 1, pass.border, first.width), row);
    }
    uint32_t *to = (uint32_t *)pass.target + (int64_t)y * pass.width + x;
    to[0] = pixels.x;
    if (x + 1 < pass.width) {
        to[1] = pixels.y;
    }
}

#endif
