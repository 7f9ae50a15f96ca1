/* SPDX-License-Identifier: MIT
 * The kernel that gpu/jpeg/huffman_sync.c launches. */
#include "gpu/jpeg/huffman_sync.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_SYNC_THREADS)
    huffman_sync(const __grid_constant__ struct sync_pass pass) {
    sync_scan(pass);
}
