/* SPDX-License-Identifier: MIT
 * Matrix instructions of the network, and the rounding of their sums to 8 bits. */
#ifndef BLURD_GPU_DETECT_MATRIX_CUH
#define BLURD_GPU_DETECT_MATRIX_CUH

#include "gpu/detect/detect_kernels.h"
#include "gpu/stream/matrix.cuh"

#ifdef __CUDA_ARCH__
/* Rows are pixels, columns outputs. Adds to the sums `from`. */
static __device__ __forceinline__ void face_pixels_by_weights(int32_t *sum, const int32_t *from, uint4 rows,
                                                              uint2 columns) {
    MATRIX_MULTIPLY("u8.s8");
}

/* Rows are outputs, columns pixels. */
static __device__ __forceinline__ void face_weights_by_pixels(int32_t *sum, const int32_t *from, uint4 rows,
                                                              uint2 columns) {
    MATRIX_MULTIPLY("s8.u8");
}

/* Waits for the threads of a group of warps. Groups reach it equally often. */
static __device__ __forceinline__ void face_wait(int group, int threads) {
    asm volatile("barrier.sync.aligned %0, %1;" : : "r"(group + 1), "r"(threads) : "memory");
}

/* Four numbers as bytes, the first in the lowest one: 0 for those below, 255 for those above. */
static __device__ __forceinline__ uint32_t face_saturate(int32_t a, int32_t b, int32_t c, int32_t d) {
    uint32_t upper, all;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(d), "r"(c));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(upper));
    return all;
}

/* Bytes of a word, and 0 for those that the selector has as 4. As __byte_perm, which takes an instruction
 * more to look only at three bits of each. */
static __device__ __forceinline__ uint32_t face_pick(uint32_t word, uint32_t selector) {
    uint32_t bytes;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(bytes) : "r"(word), "r"(selector));
    return bytes;
}

/* Has a word of memory, and what is fetched with it, brought near, where a load finds it; `dummy`, a word of
 * shared memory, is overwritten sooner or later, before face_touched returns. Compute capability 7.5 cannot
 * do so. */
static __device__ __forceinline__ void face_touch(const void *word, void *dummy) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                 :
                 : "r"((uint32_t)__cvta_generic_to_shared(dummy)), "l"(word)
                 : "memory");
#endif
}

static __device__ __forceinline__ void face_touched() {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" : : : "memory");
#endif
}

/* The compiler makes a value once and keeps it, instead of making it anew for each use. */
static __device__ __forceinline__ void face_keep(uint32_t &value) {
    asm("mov.b32 %0, %0;" : "+r"(value));
}
#endif

static __device__ __forceinline__ uint2 face_weights(const uint8_t *packed, int index) {
    return __ldg((const uint2 *)(packed + index * KERNEL_FACE_WARP) + threadIdx.x);
}

/* The 16 bytes of a lane: rows of an instruction, or the columns of two. */
static __device__ __forceinline__ uint4 face_wide_weights(const uint8_t *packed, int index) {
    return __ldg((const uint4 *)(packed + index * 2 * KERNEL_FACE_WARP) + threadIdx.x);
}

/* The nearest integer, for face_saturate, of a float in units of 2^49. A float that is so small that its last
 * digit counts ones of 2^-149 is rounded to them, and has them as its bits. Bits of negative floats are
 * negative integers. */
static __device__ __forceinline__ int32_t face_nearest(float value) {
    return __float_as_int(__fmul_rn(value, 0x1p-100f));
}

/* The result of a layer with ReLU, before it is limited to a byte. The bits of a sum, as those of a float,
 * are the sum in units of 2^-149, exactly below 2^24; the scale is times 2^100. So this rounds the product as
 * the other backends do, in units of 2^49. Bits of negative sums are those of negative floats or of none: 0.
 */
static __device__ __forceinline__ int32_t face_relu(int32_t sum, float scale) {
    return face_nearest(__saturatef(__fmul_rn(__int_as_float(sum), scale)));
}

/* The bits of a float whose low byte is the nearest integer, from 0 to 255. */
static __device__ __forceinline__ uint32_t face_round(float value) {
    return __float_as_uint(__fadd_rn(min(max(value, 0.0f), 255.0f), 12582912.0f));
}

/* The low bytes of four words. */
static __device__ __forceinline__ uint32_t face_join(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

#endif
