/* SPDX-License-Identifier: MIT
 * The kernels of gpu/filters/colours.c. */
#include "gpu/filters/colours.cuh"

#define COLOURS __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void COLOURS colours_join(const __grid_constant__ struct colours_pass pass) {
    colours_join_tile(pass, colours_bytes());
}

extern "C" __global__ void COLOURS colours_split(const __grid_constant__ struct colours_pass pass) {
    colours_split_tile(pass, colours_bytes());
}

extern "C" __global__ void COLOURS
colours_join_linear(const __grid_constant__ struct colours_linear_pass linear) {
    colours_join_tile(linear.pass, colours_light(linear));
}

extern "C" __global__ void COLOURS
colours_split_linear(const __grid_constant__ struct colours_linear_pass linear) {
    colours_split_tile(linear.pass, colours_light(linear));
}
