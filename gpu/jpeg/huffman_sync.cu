/* SPDX-License-Identifier: MIT
 * The kernel of gpu/jpeg/huffman_sync.c. */
#include "gpu/jpeg/huffman_sync.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_WALK_THREADS)
    walk(const __grid_constant__ struct walk_pass pass) {
    walk_scan(pass);
}
