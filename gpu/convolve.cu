/* SPDX-License-Identifier: MIT
 * The kernel of gpu/convolve.c. */
#include "gpu/convolve.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    convolve(const __grid_constant__ struct convolve_pass pass) {
    convolve_tile(pass);
}
