/* SPDX-License-Identifier: MIT
 * The kernels of filters/median/gpu/median.c for large windows. */
#include "filters/median/gpu/median.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_MEDIAN_WARPS)
    median_strips(const __grid_constant__ struct median_pass pass) {
    median_block<false>(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_MEDIAN_WEIGHTED_WARPS)
    median_strips_alpha(const __grid_constant__ struct median_pass pass) {
    median_block<true>(pass);
}
