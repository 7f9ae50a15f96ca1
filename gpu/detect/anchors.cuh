/* SPDX-License-Identifier: MIT
 * Anchors with a high enough score become candidates, in any order. */
#ifndef BLURD_GPU_DETECT_ANCHORS_CUH
#define BLURD_GPU_DETECT_ANCHORS_CUH

#include "gpu/detect/anchors_kernels.h"
#include "gpu/detect/detect_kernels.h"

/* A thread has an anchor. The sums are in the order of detect/anchors.h. */
static __device__ __forceinline__ void anchors_find_one(const struct anchors_pass &pass) {
    const int32_t index = (int32_t)(blockIdx.x * (KERNEL_THREADS_X * KERNEL_THREADS_Y) +
                                    threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    if (index >= pass.total) {
        return;
    }
    const int32_t place = index / pass.anchors, anchor = index - place * pass.anchors;
    const uint8_t *cell = (const uint8_t *)pass.cells + (int64_t)place * pass.bytes;
    const int32_t score = cell[anchor];
    if (score < pass.least) {
        return;
    }
    const uint32_t at = atomicAdd((uint32_t *)pass.candidates, 1u);
    if (at < (uint32_t)pass.most) {
        const uint8_t *bytes = cell + pass.bytes - KERNEL_ANCHOR_PLACE * (pass.anchors - anchor);
        struct kernel_candidate found = {};
        found.x = (uint16_t)(place % pass.width);
        found.y = (uint16_t)(place / pass.width);
        found.sum[0] = score;
        found.sum[1] = pass.first + anchor;
        for (int i = 0; i < KERNEL_ANCHOR_PLACE; i++) {
            found.sum[2 + i] = bytes[i];
        }
        ((struct kernel_candidate *)(pass.candidates + sizeof(uint32_t)))[at] = found;
    }
}

#endif
