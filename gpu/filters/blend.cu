/* SPDX-License-Identifier: MIT
 * The kernel of gpu/filters/blend.c. */
#include "gpu/filters/blend.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    blend(const __grid_constant__ struct blend_pass pass) {
    blend_tile(pass);
}
