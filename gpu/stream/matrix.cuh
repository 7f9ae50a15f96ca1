/* SPDX-License-Identifier: MIT
 * Matrix instructions.
 *
 * Lane l of a warp is (g, t) = (l / 4, l % 4). An instruction multiplies 16 rows by 32 values with 32 values
 * by 8 columns. A lane hands in 8 values of row g (words x and z), 8 of row g + 8 (y and w), and 8 of column
 * g. Which values these are does not matter as long as those of quad lane t belong together. It gets the sums
 * of row g, columns 2t and 2t + 1, then of row g + 8. */
#ifndef BLURD_GPU_STREAM_MATRIX_CUH
#define BLURD_GPU_STREAM_MATRIX_CUH

#include "gpu/cuda/kernels.h"

#ifdef __CUDA_ARCH__
/* The instruction, with the types of rows and columns, and its half: 16 values of each row and column.
 * Compute capability 7.5 has a quarter of it: 8 rows, 16 values. */
#if __CUDA_ARCH__ >= 800
#define MATRIX_MULTIPLY(types)                                                                               \
    asm("mma.sync.aligned.m16n8k32.row.col.s32." types ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, " \
        "{%10, %11, %12, %13};"                                                                              \
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])                                             \
        : "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(columns.x), "r"(columns.y), "r"(from[0]),  \
          "r"(from[1]), "r"(from[2]), "r"(from[3]))
#define MATRIX_MULTIPLY_HALF(types)                                                                          \
    asm("mma.sync.aligned.m16n8k16.row.col.s32." types ".s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "             \
        "{%7, %8, %9, %10};"                                                                                 \
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])                                             \
        : "r"(rows.x), "r"(rows.y), "r"(columns), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]))
#else
/* Results are written behind all that is read: NVRTC 12.0 does not know "=&r". */
#define MATRIX_MULTIPLY(types)                                                                               \
    asm("{.reg .s32 a, b, c, d, e, f;\n\t"                                                                   \
        "mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {a, b}, {%4}, {%8}, {%10, %11};\n\t"             \
        "mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {c, d}, {%5}, {%8}, {%12, %13};\n\t"             \
        "mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {e, f}, {%6}, {%9}, {a, b};\n\t"                 \
        "mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {%2, %3}, {%7}, {%9}, {c, d};\n\t"               \
        "mov.s32 %0, e;\n\tmov.s32 %1, f;}"                                                                  \
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])                                             \
        : "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(columns.x), "r"(columns.y), "r"(from[0]),  \
          "r"(from[1]), "r"(from[2]), "r"(from[3]))
#define MATRIX_MULTIPLY_HALF(types)                                                                          \
    asm("{.reg .s32 a, b;\n\t"                                                                               \
        "mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {a, b}, {%4}, {%6}, {%7, %8};\n\t"               \
        "mma.sync.aligned.m8n8k16.row.col.s32." types ".s32 {%2, %3}, {%5}, {%6}, {%9, %10};\n\t"            \
        "mov.s32 %0, a;\n\tmov.s32 %1, b;}"                                                                  \
        : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])                                             \
        : "r"(rows.x), "r"(rows.y), "r"(columns), "r"(from[0]), "r"(from[1]), "r"(from[2]), "r"(from[3]))
#endif

/* Adds to the sums `from`. */
static __device__ __forceinline__ void matrix_multiply(int32_t *sum, const int32_t *from, uint4 rows,
                                                       uint2 columns) {
    MATRIX_MULTIPLY("u8.u8");
}

static __device__ __forceinline__ void matrix_multiply_half(int32_t *sum, const int32_t *from, uint2 rows,
                                                            uint32_t columns) {
    MATRIX_MULTIPLY_HALF("u8.u8");
}

/* Loads four times 8 rows of 16 bytes from shared memory; lane l hands in where row l % 8 of those of word l
 * / 8 begins. Each of its words has bytes 4t to 4t + 3 of row g. */
static __device__ __forceinline__ uint4 matrix_load(const void *row) {
    uint4 words;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
                 : "r"((uint32_t)__cvta_generic_to_shared(row))
                 : "memory");
    return words;
}
#endif

#endif
