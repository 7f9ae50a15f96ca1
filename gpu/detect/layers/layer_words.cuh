/* SPDX-License-Identifier: MIT
 * Layers without weights: POOL, CONCAT and EXCITE. A thread has one word of channels of some pixels. */
#ifndef BLURD_GPU_DETECT_LAYERS_LAYER_WORDS_CUH
#define BLURD_GPU_DETECT_LAYERS_LAYER_WORDS_CUH

#include "gpu/detect/layers/layer_finish.cuh"

enum { LAYER_THREADS = KERNEL_THREADS_X * KERNEL_THREADS_Y };

/* The thread's word, and its pixels: from `pixel` on, `beside` from each other. */
struct layer_share {
    int word;
    int pixel, beside, end;
};

static __device__ __forceinline__ struct layer_share layer_share_of(const struct layer_word_pass &pass,
                                                                    int rounds) {
    struct layer_share share;
    share.beside = LAYER_THREADS / pass.words;
    const int index = layer_thread() / pass.words, first = (int)blockIdx.x * share.beside * rounds;
    share.word = layer_thread() - index * pass.words;
    share.pixel = index < share.beside ? first + index : pass.pixels;
    share.end = min(first + share.beside * rounds, pass.pixels);
    return share;
}

/* The pixel of half the size that becomes this one. */
static __device__ __forceinline__ int layer_half(const struct layer_word_pass &pass, int pixel) {
    int y = pixel / pass.width, x = pixel - y * pass.width;
    return y / 2 * (pass.width / 2) + x / 2;
}

static __device__ __forceinline__ uint32_t layer_larger(uint32_t a, uint32_t b) {
    uint32_t larger = 0;
#pragma unroll
    for (int i = 0; i < 32; i += 8) {
        larger |= max(a >> i & 0xff, b >> i & 0xff) << i;
    }
    return larger;
}

static __device__ __forceinline__ void layer_pool_words(const struct layer_word_pass &pass) {
    const struct layer_share share = layer_share_of(pass, KERNEL_LAYER_ROUNDS);
    const uint32_t *source = (const uint32_t *)pass.source + share.word;
#pragma unroll 4
    for (int pixel = share.pixel; pixel < share.end; pixel += share.beside) {
        const int right = (pixel + 1) % pass.width != 0 ? 1 : 0;
        const int below = pixel + pass.width < pass.pixels ? pass.width : 0;
        const uint32_t *at = source + (int64_t)pixel * pass.words;
        const uint32_t upper = layer_larger(__ldg(at), __ldg(at + right * pass.words));
        at += (int64_t)below * pass.words;
        const uint32_t lower = layer_larger(__ldg(at), __ldg(at + right * pass.words));
        ((uint32_t *)pass.target)[(int64_t)pixel * pass.words + share.word] = layer_larger(upper, lower);
    }
}

static __device__ __forceinline__ void layer_concat_words(const struct layer_word_pass &pass) {
    const struct layer_share share = layer_share_of(pass, KERNEL_LAYER_ROUNDS);
    const bool first = share.word < pass.source_words;
    const int words = first ? pass.source_words : pass.words - pass.source_words;
    const uint32_t *from = (const uint32_t *)(first ? pass.source : pass.finish.addend) + share.word -
                           (first ? 0 : pass.source_words);
#pragma unroll 4
    for (int pixel = share.pixel; pixel < share.end; pixel += share.beside) {
        const int64_t at = first && pass.source_half ? layer_half(pass, pixel) : pixel;
        ((uint32_t *)pass.target)[(int64_t)pixel * pass.words + share.word] = __ldg(from + at * words);
    }
}

/* Multiplies each channel by its factor. */
static __device__ __forceinline__ void layer_excite_words(const struct layer_word_pass &pass) {
    const struct layer_share share = layer_share_of(pass, KERNEL_LAYER_ROUNDS);
    const uint4 factor = __ldg((const uint4 *)pass.factors + share.word);
    const float factors[] = {__uint_as_float(factor.x), __uint_as_float(factor.y), __uint_as_float(factor.z),
                             __uint_as_float(factor.w)};
#pragma unroll 8
    for (int pixel = share.pixel; pixel < share.end; pixel += share.beside) {
        const int64_t at = (int64_t)pixel * pass.words + share.word;
        const uint32_t value = __ldg((const uint32_t *)pass.source + at);
        struct layer_word scaled;
#pragma unroll
        for (int i = 0; i < KERNEL_LAYER_WORD; i++) {
            scaled.of[i] = __fmul_rn(__fadd_rn(layer_value(value, i), -pass.zero), factors[i]);
        }
        uint32_t addend = 0;
        if (pass.finish.addend) {
            const int64_t from = pass.addend_half ? layer_half(pass, pixel) : pixel;
            addend = __ldg((const uint32_t *)pass.finish.addend + from * pass.words + share.word);
        }
        ((uint32_t *)pass.target)[at] = layer_bytes(pass.finish, scaled, addend);
    }
}

/* Adds the sums of the block's pixels to those of the channels. A thread's sums of 16 bits are bytes' at even
 * and at odd places. */
static __device__ __forceinline__ void layer_squeeze_words(const struct layer_word_pass &pass) {
    const struct layer_share share = layer_share_of(pass, KERNEL_LAYER_SUM_ROUNDS);
    uint32_t *all = (uint32_t *)block_memory, even = 0, odd = 0;
    for (int i = layer_thread(); i < KERNEL_LAYER_WORD * pass.words; i += LAYER_THREADS) {
        all[i] = 0;
    }
    __syncthreads();
#pragma unroll 16
    for (int pixel = share.pixel; pixel < share.end; pixel += share.beside) {
        const uint32_t value =
            __ldg((const uint32_t *)pass.source + (int64_t)pixel * pass.words + share.word);
        even += value & 0x00ff00ffu;
        odd += value >> 8 & 0x00ff00ffu;
    }
    if (share.pixel < share.end) {
        uint32_t *to = all + KERNEL_LAYER_WORD * share.word;
        atomicAdd(to, even & 0xffff);
        atomicAdd(to + 1, odd & 0xffff);
        atomicAdd(to + 2, even >> 16);
        atomicAdd(to + 3, odd >> 16);
    }
    __syncthreads();
    for (int i = layer_thread(); i < KERNEL_LAYER_WORD * pass.words; i += LAYER_THREADS) {
        atomicAdd((unsigned long long *)pass.sums + i, (unsigned long long)all[i]);
    }
}

/* Row `to` of a matrix times values, in order, added to its bias. */
static __device__ __forceinline__ float layer_dot(uint64_t matrix, uint64_t bias, const float *values,
                                                  int count, int rows, int to) {
    float sum = __ldg((const float *)bias + to);
    const float *weights = (const float *)matrix + to;
#pragma unroll 32
    for (int i = 0; i < count; i++) {
        sum = __fadd_rn(sum, __fmul_rn(__ldg(weights + (int64_t)i * rows), values[i]));
    }
    return sum;
}

/* Has a matrix brought near. */
static __device__ __forceinline__ void layer_fetch_matrix(const struct layer_gate_pass &pass,
                                                          uint64_t matrix) {
    float *dummy = (float *)block_memory + 2 * KERNEL_LAYER_CHANNELS + threadIdx.x;
    const int bytes = pass.channels * pass.between * (int)sizeof(float);
#pragma unroll 4
    for (int i = layer_thread() * KERNEL_FACE_SECTOR; i < bytes; i += LAYER_THREADS * KERNEL_FACE_SECTOR) {
        face_touch((const uint8_t *)matrix + i, dummy);
    }
}

/* One block of threads makes all factors. */
static __device__ __forceinline__ void layer_make_factors(const struct layer_gate_pass &pass) {
    float *mean = (float *)block_memory, *inner = mean + KERNEL_LAYER_CHANNELS;
    layer_fetch_matrix(pass, pass.reduce);
    layer_fetch_matrix(pass, pass.expand);
    for (int i = layer_thread(); i < pass.channels; i += LAYER_THREADS) {
        const double sum = (double)__ldg((const unsigned long long *)pass.sums + i);
        mean[i] = (float)(sum / (double)pass.pixels);
    }
    __syncthreads();
    for (int i = layer_thread(); i < pass.between; i += LAYER_THREADS) {
        const float sum = layer_dot(pass.reduce, pass.reduce_bias, mean, pass.channels, pass.between, i);
        inner[i] = max(sum, 0.0f);
    }
    __syncthreads();
    for (int i = layer_thread(); i < pass.channels; i += LAYER_THREADS) {
        const float sum = layer_dot(pass.expand, pass.expand_bias, inner, pass.between, pass.channels, i);
        const float gate = min(max(sum, 0.0f), 1.0f);
        ((float *)pass.factors)[i] = __fmul_rn(__fadd_rn(pass.base, gate), pass.ratio);
    }
}

#endif
