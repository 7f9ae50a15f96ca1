/* SPDX-License-Identifier: MIT
 * The kernels of gpu/jpeg/encode.c, in the order in which they run. */
#include "gpu/jpeg/encode_patch.cuh"
#include "gpu/jpeg/encode_symbols.cuh"
#include "gpu/jpeg/encode_transform.cuh"
#include "gpu/jpeg/encode_write.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_ENCODE_THREADS)
    encode_transform(const __grid_constant__ struct encode_pass pass) {
    encode_transform_groups(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_ENCODE_THREADS)
    encode_patch(const __grid_constant__ struct encode_patch_pass pass) {
    encode_patch_group(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_ENCODE_THREADS)
    encode_symbols(const __grid_constant__ struct encode_pass pass) {
    encode_symbols_group(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_ENCODE_THREADS)
    encode_measure(const __grid_constant__ struct encode_pass pass) {
    encode_measure_range(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_ENCODE_THREADS)
    encode_write(const __grid_constant__ struct encode_pass pass) {
    encode_write_range(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_ENCODE_THREADS)
    encode_count(const __grid_constant__ struct encode_pass pass) {
    encode_count_chunks(pass);
}

extern "C" __global__ void __launch_bounds__(KERNEL_ENCODE_THREADS)
    encode_stuff(const __grid_constant__ struct encode_pass pass) {
    encode_stuff_chunks(pass);
}
