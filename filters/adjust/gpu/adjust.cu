/* SPDX-License-Identifier: MIT
 * The kernels of filters/adjust/gpu/adjust.c, by the colours of a pixel before and after. */
#include "filters/adjust/gpu/adjust.cuh"

#define ADJUST __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void ADJUST adjust_1_1(const __grid_constant__ struct adjust_pass pass) {
    adjust_tile<1, 1>(pass);
}

extern "C" __global__ void ADJUST adjust_1_3(const __grid_constant__ struct adjust_pass pass) {
    adjust_tile<1, 3>(pass);
}

extern "C" __global__ void ADJUST adjust_3_1(const __grid_constant__ struct adjust_pass pass) {
    adjust_tile<3, 1>(pass);
}

extern "C" __global__ void ADJUST adjust_3_3(const __grid_constant__ struct adjust_pass pass) {
    adjust_tile<3, 3>(pass);
}
