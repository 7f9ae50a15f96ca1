/* SPDX-License-Identifier: MIT
 * The kernel of gpu/detect/anchors.c. */
#include "gpu/detect/anchors.cuh"

extern "C" __global__ void __launch_bounds__(KERNEL_THREADS_X *KERNEL_THREADS_Y)
    anchors_find_all(const __grid_constant__ struct anchors_pass pass) {
    anchors_find_one(pass);
}
