/* SPDX-License-Identifier: MIT
 * The blur's kernels. filters/blur/gpu/blur.c launches them, and docs/filters.md defines the arithmetic.
 *
 *     direct     both axes at full resolution, picture to picture: one launch, no intermediate
 *     wide, near the same for radii up to 16
 *     halve      the first stage of a reduction by 2 along both axes, picture to values
 *     reduce     the first stage of a reduction, picture to values
 *     values     later stages
 *     blur       the low-resolution blur
 *     enlarge    values to picture
 *
 * fixed_* kernels use fixed-point arithmetic; a number at the end is the number of interleaved channels.
 * float_* kernels use single precision. */
#include "filters/blur/gpu/blur_float.cuh"
#include "filters/blur/gpu/blur_halve.cuh"
#include "filters/blur/gpu/blur_near.cuh"
#include "filters/blur/gpu/blur_reduce.cuh"
#include "filters/blur/gpu/blur_spline.cuh"
#include "filters/blur/gpu/blur_values.cuh"
#include "filters/blur/gpu/blur_wide.cuh"

/* The second argument is blocks per multiprocessor, which limits the registers of a thread. */
#define BLOCK __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
#define WIDE __launch_bounds__(KERNEL_THREADS_X *KERNEL_WIDE_THREADS_Y, 2)
#define HALVE __launch_bounds__(KERNEL_THREADS_X *KERNEL_HALVE_THREADS_Y)
#define REDUCE __launch_bounds__(KERNEL_THREADS_X *KERNEL_REDUCE_THREADS_Y, 5)
#define VALUES __launch_bounds__(KERNEL_THREADS_X *KERNEL_REDUCE_THREADS_Y, 4)
#define ENLARGE __launch_bounds__(KERNEL_THREADS_X *KERNEL_ENLARGE_THREADS_Y)

extern "C" __global__ void BLOCK fixed_direct(const __grid_constant__ struct fixed_pass pass) {
    fixed_pass_tile(pass);
}

extern "C" __global__ void WIDE fixed_wide_1(const __grid_constant__ struct wide_pass pass) {
    wide_tile<uint8_t, 1>(pass);
}

extern "C" __global__ void WIDE fixed_wide_3(const __grid_constant__ struct wide_pass pass) {
    wide_tile<uint8_t, 3>(pass);
}

extern "C" __global__ void HALVE fixed_halve(const __grid_constant__ struct fixed_pass pass) {
    halve_tile(pass);
}

extern "C" __global__ void REDUCE fixed_reduce_1(const __grid_constant__ struct fixed_pass pass) {
    reduce_tile<uint8_t, 1, KERNEL_REDUCE_ROWS>(pass);
}

extern "C" __global__ void REDUCE fixed_reduce_3(const __grid_constant__ struct fixed_pass pass) {
    reduce_tile<uint8_t, 3, KERNEL_REDUCE_ROWS>(pass);
}

extern "C" __global__ void VALUES fixed_values_1(const __grid_constant__ struct fixed_pass pass) {
    reduce_tile<uint16_t, 1, KERNEL_REDUCE_ROWS / 2>(pass);
}

extern "C" __global__ void VALUES fixed_values_3(const __grid_constant__ struct fixed_pass pass) {
    reduce_tile<uint16_t, 3, KERNEL_REDUCE_ROWS / 2>(pass);
}

extern "C" __global__ void WIDE fixed_blur_1(const __grid_constant__ struct wide_pass pass) {
    wide_tile<uint16_t, 1>(pass);
}

extern "C" __global__ void WIDE fixed_blur_3(const __grid_constant__ struct wide_pass pass) {
    wide_tile<uint16_t, 3>(pass);
}

extern "C" __global__ void ENLARGE fixed_enlarge_1(const __grid_constant__ struct fixed_enlargement pass) {
    spline_tile<1>(pass);
}

extern "C" __global__ void ENLARGE fixed_enlarge_3(const __grid_constant__ struct fixed_enlargement pass) {
    spline_tile<3>(pass);
}

extern "C" __global__ void BLOCK float_near(const __grid_constant__ struct float_pass pass) {
    near_tile(pass);
}

extern "C" __global__ void BLOCK float_direct(const __grid_constant__ struct float_pass pass) {
    float_pass_tile<true, true>(pass);
}

extern "C" __global__ void BLOCK float_reduce(const __grid_constant__ struct float_pass pass) {
    float_pass_tile<true, false>(pass);
}

extern "C" __global__ void BLOCK float_values(const __grid_constant__ struct float_pass pass) {
    float_pass_tile<false, false>(pass);
}

extern "C" __global__ void BLOCK float_enlarge(const __grid_constant__ struct float_enlargement pass) {
    float_enlarge_tile(pass);
}
