/* SPDX-License-Identifier: MIT
 * Dot products of a few small values, an instruction each. PTX, since NVRTC before 12.3 declares CUDA's own
 * functions (__dp2a_lo and others) but has no body for them. */
#ifndef BLURD_GPU_STREAM_DOT_CUH
#define BLURD_GPU_STREAM_DOT_CUH

#include "gpu/cuda/kernels.h"

#ifdef __CUDA_ARCH__
#define DOT(instruction, type)                                                                               \
    type result;                                                                                             \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(sum));                           \
    return result
#else
#define DOT(instruction, type) return dot_on_host(instruction, a, b, sum)

/* dp2a.lo, dp2a.hi and dp4a, of values with a sign ("s32") or without. */
static inline uint32_t dot_on_host(const char *instruction, uint32_t a, uint32_t b, uint32_t sum) {
    bool four = instruction[2] == '4', high = instruction[5] == 'h';
    const char *types = instruction + (four ? 5 : 8); /* "u32.s32" */
    for (unsigned i = 0; i < (four ? 4 : 2); i++) {
        uint32_t value = four ? a >> 8 * i : a >> 16 * i, byte = b >> (8 * i + (high ? 16 : 0)) & 0xff;
        value = four ? (types[0] == 's' ? (uint32_t)(int8_t)value : value & 0xff)
                     : (types[0] == 's' ? (uint32_t)(int16_t)value : value & 0xffff);
        sum += value * (types[4] == 's' ? (uint32_t)(int8_t)byte : byte);
    }
    return sum;
}
#endif

/* `sum`, and the two values of 16 bits in `a` times the lower two bytes of `b`. */
static __device__ __forceinline__ uint32_t dot_low(uint32_t a, uint32_t b, uint32_t sum) {
    DOT("dp2a.lo.u32.u32", uint32_t);
}

/* The same with the upper two bytes. */
static __device__ __forceinline__ uint32_t dot_high(uint32_t a, uint32_t b, uint32_t sum) {
    DOT("dp2a.hi.u32.u32", uint32_t);
}

/* The same of values and bytes with a sign. */
static __device__ __forceinline__ int32_t dot_low_signed(int32_t a, int32_t b, int32_t sum) {
    DOT("dp2a.lo.s32.s32", int32_t);
}

static __device__ __forceinline__ int32_t dot_high_signed(int32_t a, int32_t b, int32_t sum) {
    DOT("dp2a.hi.s32.s32", int32_t);
}

/* `sum`, and the four bytes of `a` times those of `b`, which alone have a sign. */
static __device__ __forceinline__ int32_t dot_four_mixed(uint32_t a, int32_t b, int32_t sum) {
    DOT("dp4a.u32.s32", int32_t);
}

/* `sum`, and the four bytes of `a` times those of `b`, all with a sign. */
static __device__ __forceinline__ int32_t dot_four_signed(int32_t a, int32_t b, int32_t sum) {
    DOT("dp4a.s32.s32", int32_t);
}

#endif
