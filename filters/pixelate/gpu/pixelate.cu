/* SPDX-License-Identifier: MIT
 * The kernels of filters/pixelate/gpu/pixelate.c:
 *
 *     pixelate_small    sums up and fills small tiles
 *     pixelate_sums     adds up parts of large tiles
 *     pixelate_means    fills these parts after all are added up */
#include "filters/pixelate/gpu/pixelate.cuh"

#define PIXELATE __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void PIXELATE pixelate_small(const __grid_constant__ struct pixelate_pass pass) {
    pixelate_small_cell(pass);
}

extern "C" __global__ void PIXELATE pixelate_sums(const __grid_constant__ struct pixelate_pass pass) {
    pixelate_sum_cell(pass);
}

extern "C" __global__ void PIXELATE pixelate_means(const __grid_constant__ struct pixelate_pass pass) {
    pixelate_mean_cell(pass);
}
