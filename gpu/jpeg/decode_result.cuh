/* SPDX-License-Identifier: MIT
 * Reads the coefficients that decode_values has written. */
#ifndef BLURD_GPU_JPEG_DECODE_RESULT_CUH
#define BLURD_GPU_JPEG_DECODE_RESULT_CUH

#include "gpu/jpeg/jpeg_kernels.h"

/* The sum of DC differences that the coefficient of a block still lacks. */
static __device__ __forceinline__ uint32_t decode_before(const struct decode_result &from, uint32_t block,
                                                         int component) {
    const struct decode_sums *sums = (const struct decode_sums *)from.sums;
    uint32_t owner = ((const uint32_t *)from.owners)[block];
    uint32_t thread = min(owner >> 1, from.count - 1);
    if (owner & 1) {
        return 0;
    }
    uint32_t before = sums[thread].of[component];
    return before +
           (sums[thread].restarted ? 0 : sums[from.count + thread / KERNEL_DECODE_THREADS].of[component]);
}

#endif
