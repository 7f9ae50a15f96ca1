/* SPDX-License-Identifier: MIT
 * The kernels of gpu/jpeg/decode.c. */
#include "gpu/jpeg/decode.cuh"
#include "gpu/jpeg/decode_planes.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_DECODE_THREADS)
    decode_values(const __grid_constant__ struct decode_pass pass) {
    decode_scan(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_DECODE_THREADS_Y)
    decode_planes(const __grid_constant__ struct decode_planes_pass pass) {
    decode_tile(pass);
}
