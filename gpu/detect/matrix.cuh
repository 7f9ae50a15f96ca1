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
/* Compute capability 7.5 has a quarter of the instruction: 8 rows, 16 values. */
static __device__ __forceinline__ void face_multiply(int32_t *sum, uint2 upper, uint2 lower, uint2 weights) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
        : "r"(upper.x), "r"(lower.x), "r"(upper.y), "r"(lower.y), "r"(weights.x), "r"(weights.y));
#else
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%4}, {%8}, {%0, %1};\n\t"
                 "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0, %1}, {%5}, {%9}, {%0, %1};\n\t"
                 "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%2, %3}, {%6}, {%8}, {%2, %3};\n\t"
                 "mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%2, %3}, {%7}, {%9}, {%2, %3};"
                 : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                 : "r"(upper.x), "r"(upper.y), "r"(lower.x), "r"(lower.y), "r"(weights.x), "r"(weights.y));
#endif
}
#endif

static __device__ __forceinline__ uint2 face_weights(const uint8_t *packed, int index) {
    return __ldg((const uint2 *)(packed + index * KERNEL_FACE_WARP) + threadIdx.x);
}

/* The bits of a float whose low byte is the result of a layer with ReLU: of a sum in bits, with those of 2^23
 * added, as struct face_terms has it. Below 2^23 a sum is exact as a float, and 2^23 is taken off again by
 * the one rounding that the product has. Negative sums give something below 2^23, thus 0. In units of 1 /
 * 256, for saturation to be that of the instruction. */
static __device__ __forceinline__ uint32_t face_round_relu(int32_t sum, float scale, float shift) {
    float value = __saturatef(__fmaf_rn(__int_as_float(sum), scale, shift));
    return __float_as_uint(__fadd_rn(min(value, 255.0f / 256), 49152.0f));
}

/* The same for any sum: an addend, an offset. */
static __device__ __forceinline__ uint32_t face_round(float value) {
    return __float_as_uint(__fadd_rn(min(max(value, 0.0f), 255.0f), 12582912.0f));
}

/* The low bytes of four words. */
static __device__ __forceinline__ uint32_t face_join(uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    return __byte_perm(__byte_perm(a, b, 0x0040), __byte_perm(c, d, 0x0040), 0x5410);
}

/* The sum of 2^23 times a scale, which is exact. */
static __device__ __forceinline__ float face_shift(float scale) {
    return -8388608.0f * scale;
}

#endif
