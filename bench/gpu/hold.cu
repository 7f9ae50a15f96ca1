/* SPDX-License-Identifier: MIT
 * Kernels that only take time. */
#ifdef __CUDA_ARCH__
static __device__ __forceinline__ unsigned long long hold_clock() {
    unsigned long long ns;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(ns));
    return ns;
}
#else
#define hold_clock stamp_clock
#endif

/* Does nothing; its time is that of a launch. */
extern "C" __global__ void empty() {
}

/* Keeps the stream busy while the host enqueues the launches to be timed. One thread of a block waits for
 * all. */
extern "C" __global__ void hold(unsigned long long nanoseconds) {
    if (threadIdx.x == 0) {
        unsigned long long begin = hold_clock();
        while (hold_clock() - begin < nanoseconds) {
        }
    }
    __syncthreads();
}
