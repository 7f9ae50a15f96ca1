/* SPDX-License-Identifier: MIT
 * How sums become bytes; see detect/network.h. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_FINISH_CUH
#define BLURD_GPU_DETECT_LAYERS_LAYER_FINISH_CUH

#include "gpu/detect/layers/layer_kernels.h"
#include "gpu/detect/matrix.cuh"
#include "gpu/stream/grid.cuh"

static __device__ __forceinline__ int layer_thread() {
    return (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
}

/* Byte `index` of a word as a float: 2^23 is added to it in its bits. */
static __device__ __forceinline__ float layer_value(uint32_t word, int index) {
    return __fadd_rn(__uint_as_float(__byte_perm(word, 0x4b000000u, 0x7440u + (uint32_t)index)), -8388608.0f);
}

/* Scaled sums of a word's channels. */
struct layer_word {
    float of[KERNEL_LAYER_WORD];
};

static __device__ __forceinline__ struct layer_word layer_scaled(int32_t a, int32_t b, int32_t c, int32_t d,
                                                                 uint4 scale) {
    return {{__fmul_rn((float)a, __uint_as_float(scale.x)), __fmul_rn((float)b, __uint_as_float(scale.y)),
             __fmul_rn((float)c, __uint_as_float(scale.z)), __fmul_rn((float)d, __uint_as_float(scale.w))}};
}

/* Puts the table into shared memory, where its block of threads needs it. All threads call it. */
static __device__ __forceinline__ void layer_load_table(const struct layer_finish &finish) {
    if (finish.table) {
        if (layer_thread() < KERNEL_LAYER_TABLE_BYTES / KERNEL_LAYER_WORD) {
            ((uint32_t *)block_memory)[layer_thread()] =
                __ldg((const uint32_t *)finish.table + layer_thread());
        }
        __syncthreads();
    }
}

/* The four bytes of a word; `addend` is that of what is added. */
static __device__ __forceinline__ uint32_t layer_bytes(const struct layer_finish &finish,
                                                       const struct layer_word &scaled, uint32_t addend) {
    struct layer_word t;
    uint32_t bits[KERNEL_LAYER_WORD];
#pragma unroll
    for (int i = 0; i < KERNEL_LAYER_WORD; i++) {
        t.of[i] = max(scaled.of[i], finish.least);
    }
    if (finish.addend) {
#pragma unroll
        for (int i = 0; i < KERNEL_LAYER_WORD; i++) {
            t.of[i] = __fadd_rn(t.of[i], __fmul_rn(layer_value(addend, i), finish.addend_scale));
        }
    }
#pragma unroll
    for (int i = 0; i < KERNEL_LAYER_WORD; i++) {
        bits[i] = face_round(__fadd_rn(t.of[i], finish.offset));
    }
    if (finish.table) {
#pragma unroll
        for (int i = 0; i < KERNEL_LAYER_WORD; i++) {
            bits[i] = ((const uint8_t *)block_memory)[bits[i] & 0xff];
        }
    }
    return face_join(bits[0], bits[1], bits[2], bits[3]);
}

#endif
