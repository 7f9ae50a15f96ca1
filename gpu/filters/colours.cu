/* SPDX-License-Identifier: MIT
 * The kernels of gpu/filters/colours.c. */
#include "gpu/filters/colours.cuh"

#define COLOURS __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)

extern "C" __global__ void COLOURS ycc_to_rgb(const __grid_constant__ struct colours_pass pass) {
    ycc_to_rgb_tile(pass, colours_bytes());
}

extern "C" __global__ void COLOURS rgb_to_ycc(const __grid_constant__ struct colours_pass pass) {
    rgb_to_ycc_tile(pass, colours_bytes());
}

extern "C" __global__ void COLOURS
ycc_to_rgb_linear(const __grid_constant__ struct colours_linear_pass linear) {
    ycc_to_rgb_tile(linear.pass, colours_light(linear));
}

extern "C" __global__ void COLOURS
rgb_to_ycc_linear(const __grid_constant__ struct colours_linear_pass linear) {
    rgb_to_ycc_tile(linear.pass, colours_light(linear));
}
