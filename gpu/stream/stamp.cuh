/* SPDX-License-Identifier: MIT
 * The device's clock, which times the parts of a job without events. */
#ifndef BLURD_GPU_STREAM_STAMP_CUH
#define BLURD_GPU_STREAM_STAMP_CUH

#include "gpu/stream/marks.h"

#ifdef __CUDA_ARCH__
static __device__ __forceinline__ uint64_t stamp_clock() {
    uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}
#endif

/* Stores the time in a struct kernel_marks that the host sees. One thread of a kernel calls it. */
static __device__ __forceinline__ void stamp_now(uint64_t marks, enum kernel_stamp stamp) {
    ((volatile struct kernel_marks *)marks)->ns[stamp] = stamp_clock();
}

#endif
