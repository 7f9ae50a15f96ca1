/* SPDX-License-Identifier: MIT
 * Matrix instructions and the rounding of their sums to 8 bits.
 *
 * Lane l of a warp is (g, t) = (l / 4, l % 4). An instruction multiplies 16 rows (pixels) by 32 values with
 * 32 values by 8 columns (channels). A lane hands in 8 values of row g, 8 of row g + 8, and 8 weights of
 * column g. Which values these are does not matter as long as the weights of quad lane t belong to the values
 * of quad lane t. It gets the sums of row g, columns 2t and 2t + 1, then of row g + 8. */
#ifndef BLURD_GPU_DETECT_MATRIX_CUH
#define BLURD_GPU_DETECT_MATRIX_CUH

#include "gpu/detect/detect_kernels.h"

#ifdef __CUDA_ARCH__
/* Adds the products to the sums `from`. Compute capability 7.5 has a quarter of the instruction: 8 rows, 16
 * values. */
static __device__ __forceinline__ void face_multiply(int32_t *sum, const int32_t *from, uint2 upper,
                                                     uint2 lower, uint2 weights) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%10, %11, %12, %13};"
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])
        : "r"(upper.x), "r"(lower.x), "r"(upper.y), "r"(lower.y), "r"(weights.x), "r"(weights.y),
          "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]));
#else
    int32_t half[4];
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%4}, {%6}, {%7, %8};\n\t"
        "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%2, %3}, {%5}, {%6}, {%9, %10};"
        : "=&r"(half[0]), "=&r"(half[1]), "=&r"(half[2]), "=&r"(half[3])
        : "r"(upper.x), "r"(lower.x), "r"(weights.x), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]));
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%4}, {%6}, {%7, %8};\n\t"
        "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%2, %3}, {%5}, {%6}, {%9, %10};"
        : "=&r"(sum[0]), "=&r"(sum[1]), "=&r"(sum[2]), "=&r"(sum[3])
        : "r"(upper.y), "r"(lower.y), "r"(weights.y), "r"(half[0]), "r"(half[1]), "r"(half[2]), "r"(half[3]));
#endif
}

/* Four numbers as bytes, the first in the lowest one: 0 for those below, 255 for those above. */
static __device__ __forceinline__ uint32_t face_saturate(int32_t a, int32_t b, int32_t c, int32_t d) {
    uint32_t upper, all;
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(d), "r"(c));
    asm("cvt.pack.sat.u8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(b), "r"(a), "r"(upper));
    return all;
}
#endif

static __device__ __forceinline__ uint2 face_weights(const uint8_t *packed, int index) {
    return __ldg((const uint2 *)(packed + index * KERNEL_FACE_WARP) + threadIdx.x);
}

/* The weights of two instructions. */
struct face_pair {
    uint2 of[2];
};

/* Of a pair of the instructions from `packed`. */
static __device__ __forceinline__ struct face_pair face_pair_of(const uint8_t *packed, int index) {
    uint4 words = __ldg((const uint4 *)(packed + index * 2 * KERNEL_FACE_WARP) + threadIdx.x);
    return {make_uint2(words.x, words.y), make_uint2(words.z, words.w)};
}

/* The nearest integer of a float, for face_saturate. A float that is so small that its last digit counts ones
 * of 2^-149 is rounded to them, and has them as its bits. Bits of negative floats are negative integers. */
static __device__ __forceinline__ int32_t face_nearest(float value) {
    return __float_as_int(__fmul_rn(value, 0x1p-149f));
}

/* The result of a layer with ReLU, before it is limited to a byte. The bits of a sum, as those of a float,
 * are the sum in units of 2^-149, exactly below 2^24; the scale is times 2^100. So this is the product as the
 * other backends round it, in units of 2^49. Bits of negative sums are those of negative floats or of none:
 * 0. */
static __device__ __forceinline__ int32_t face_relu(int32_t sum, float scale) {
    return __float_as_int(__fmul_rn(__saturatef(__fmul_rn(__int_as_float(sum), scale)), 0x1p-100f));
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
