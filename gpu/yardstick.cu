/* SPDX-License-Identifier: MIT
 * The blur of the textbooks: a thread per pixel, 7x7 whole weights, a division at the end. Nothing
 * is served with it; measurements are given as multiples of it, taken in the same run. */
#include "gpu/kernels.h"

extern "C" __global__ void yardstick(const __grid_constant__ struct yardstick_blur blur) {
    int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x >= blur.width || y >= blur.height) {
        return;
    }
    const uint8_t *source = (const uint8_t *)blur.source;
    int red = 0, green = 0, blue = 0;
    for (int j = -3; j <= 3; j++) {
        for (int i = -3; i <= 3; i++) {
            int near_x = min(max(x + i, 0), blur.width - 1);
            int near_y = min(max(y + j, 0), blur.height - 1);
            const uint8_t *pixel = source + near_y * blur.stride + near_x * 3;
            red += blur.weight[j + 3][i + 3] * pixel[0];
            green += blur.weight[j + 3][i + 3] * pixel[1];
            blue += blur.weight[j + 3][i + 3] * pixel[2];
        }
    }
    uint8_t *target = (uint8_t *)blur.target + y * blur.stride + x * 3;
    target[0] = (uint8_t)(red / blur.sum);
    target[1] = (uint8_t)(green / blur.sum);
    target[2] = (uint8_t)(blue / blur.sum);
}
