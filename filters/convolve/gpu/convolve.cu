/* SPDX-License-Identifier: MIT
 * The kernels of filters/convolve/gpu/convolve.c: one for any window, and four for 3x3 and 5x5 with 1 and 3
 * interleaved channels. */
#include "filters/convolve/gpu/convolve.cuh"
#include "filters/convolve/gpu/convolve_small.cuh"

#define SMALL __launch_bounds__(KERNEL_THREADS_X *KERNEL_CONVOLVE_SMALL_THREADS_Y)

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    convolve(const __grid_constant__ struct convolve_pass pass) {
    convolve_tile(pass);
}

extern "C" __global__ void SMALL convolve_3x3_1(const __grid_constant__ struct convolve_pass pass) {
    small_tile<1, 3>(pass);
}

extern "C" __global__ void SMALL convolve_3x3_3(const __grid_constant__ struct convolve_pass pass) {
    small_tile<3, 3>(pass);
}

extern "C" __global__ void SMALL convolve_5x5_1(const __grid_constant__ struct convolve_pass pass) {
    small_tile<1, 5>(pass);
}

extern "C" __global__ void SMALL convolve_5x5_3(const __grid_constant__ struct convolve_pass pass) {
    small_tile<3, 5>(pass);
}
