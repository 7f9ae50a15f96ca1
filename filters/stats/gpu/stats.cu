/* SPDX-License-Identifier: MIT
 * The kernels of filters/stats/gpu/stats.c. stats_finish runs after stats. */
#include "filters/stats/gpu/stats.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    stats(const __grid_constant__ struct stats_pass pass) {
    stats_tile(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X)
    stats_finish(const __grid_constant__ struct stats_pass pass) {
    stats_turn(pass);
}
