/* SPDX-License-Identifier: MIT
 * The kernels of gpu/filters/stats.c. stats_finish runs after stats. */
#include "gpu/filters/stats.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    stats(const __grid_constant__ struct stats_pass pass) {
    stats_tile(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X)
    stats_finish(const __grid_constant__ struct stats_pass pass) {
    stats_turn(pass);
}
