/* SPDX-License-Identifier: MIT
 * The kernels of gpu/filters/orient.c: orient_mirror where the axes stay, orient_transpose where they are
 * exchanged. */
#include "gpu/filters/orient.cuh"

#define ORIENT __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void ORIENT orient_mirror(const __grid_constant__ struct orient_pass pass) {
    orient_tile<struct orient_mirroring>(pass);
}

extern "C" __global__ void ORIENT orient_transpose(const __grid_constant__ struct orient_pass pass) {
    orient_tile<struct orient_transposition>(pass);
}
