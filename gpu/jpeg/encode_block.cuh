/* SPDX-License-Identifier: MIT
 * Encodes a baseline JPEG, with the same bytes as libjpeg. Five kernels run one after the other:
 *
 * encode_transform   makes quantised coefficients of samples and counts the bits of AC codes
 * encode_measure     counts the bits of DC codes and finds the bit at which each block begins
 * encode_write       writes the codes at their bits
 * encode_count       counts bytes of 0xff, which need a stuffed 0, and finds where each chunk begins
 * encode_stuff       writes the file
 *
 * For tables of the picture's own, encode_symbols follows encode_transform, and the host makes the tables of
 * its counts. Then encode_weigh counts the bits of AC codes again. A JPEG that changes under a mask only has
 * such tables; encode_patch makes its coefficients in place of encode_transform.
 *
 * In encode_transform and encode_write 8 threads share a block of samples. Each has a row of it at first,
 * then 8 consecutive coefficients in zigzag order. In encode_measure and encode_count the last block of
 * threads to finish adds up the counts.
 *
 * This file has the position of blocks, their codes, and sums over a block of threads. */
#ifndef BLURD_GPU_JPEG_ENCODE_BLOCK_CUH
#define BLURD_GPU_JPEG_ENCODE_BLOCK_CUH

#include "gpu/jpeg/encode_kernels.h"
#include "gpu/stream/grid.cuh"

enum { ENCODE_LANES = 8, ENCODE_WARPS = KERNEL_THREADS_Y, ENCODE_ESCAPE = 0xf0 /* 16 zeros */ };

/* The 8 coefficients of one thread. */
union encode_lane {
    uint4 words;
    int16_t value[ENCODE_LANES];
};

static __device__ __forceinline__ uint32_t encode_thread() {
    return threadIdx.y * KERNEL_THREADS_X + threadIdx.x;
}

/* ---- sums ---- */

/* Adds `value` over the threads before this one, and over all into `total`. Contains barriers. */
static __device__ __forceinline__ uint32_t encode_sum(struct encode_sums &sums, uint32_t value,
                                                      uint32_t &total) {
    uint32_t sum = value;
    for (int distance = 1; distance < KERNEL_THREADS_X; distance *= 2) {
        uint32_t other = __shfl_sync(0xffffffffu, sum, (int)threadIdx.x - distance);
        sum += (int)threadIdx.x >= distance ? other : 0;
    }
    if (threadIdx.x == KERNEL_THREADS_X - 1) {
        sums.warp[threadIdx.y] = sum;
    }
    __syncthreads();
    uint32_t before = 0;
    total = 0;
    for (uint32_t i = 0; i < ENCODE_WARPS; i++) {
        before += i < threadIdx.y ? sums.warp[i] : 0;
        total += sums.warp[i];
    }
    __syncthreads(); /* before the next call writes there */
    return before + sum - value;
}

/* Tells whether this block of threads is the last to call it. The last one sees all writes of the others. */
static __device__ __forceinline__ bool encode_is_last(struct encode_sums &sums, uint32_t &finished) {
    __threadfence();
    __syncthreads();
    if (encode_thread() == 0) {
        sums.last = atomicAdd(&finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    __threadfence();
    return sums.last != 0;
}

/* Replaces each number by the sum of the numbers before it and returns the sum of all. */
static __device__ __forceinline__ uint64_t encode_add_up(struct encode_sums &sums, uint64_t *number,
                                                         uint32_t count) {
    uint64_t sum = 0;
    for (uint32_t first = 0; first < count; first += KERNEL_ENCODE_THREADS) {
        uint32_t at = first + encode_thread(), total;
        uint32_t before = encode_sum(sums, at < count ? (uint32_t)number[at] : 0, total);
        if (at < count) {
            number[at] = sum + before;
        }
        sum += total;
    }
    return sum;
}

/* ---- blocks of samples ---- */

static __device__ __forceinline__ uint32_t encode_component_of(const struct encode_pass &pass,
                                                               uint32_t in_mcu) {
    return pass.components == 1 || in_mcu < pass.component[1].first ? 0
           : in_mcu < pass.component[2].first                       ? 1
                                                                    : 2;
}

/* The difference of the block's DC to that of its component's previous block. Sets the component's table. */
static __device__ __forceinline__ int32_t encode_difference(const struct encode_pass &pass, uint32_t block,
                                                            uint32_t *table) {
    const struct encode_block *blocks = (const struct encode_block *)pass.blocks;
    uint32_t mcu = block / pass.in_mcu, in_mcu = block - mcu * pass.in_mcu;
    const struct encode_component &component = pass.component[encode_component_of(pass, in_mcu)];
    uint32_t of_mcu = 1u << (component.shift_x + component.shift_y);
    bool first = in_mcu == component.first;
    uint32_t back = first ? pass.in_mcu - of_mcu + 1 : 1;
    *table = component.table;
    return blocks[block].dc - (first && mcu == 0 ? 0 : blocks[block - back].dc);
}

/* ---- codes ---- */

/* A sink that counts bits. */
struct encode_meter {
    uint32_t bits;
    __device__ __forceinline__ void put(uint32_t, uint32_t count) {
        bits += count;
    }
};

static __device__ __forceinline__ uint32_t encode_size(int32_t value) {
    return 32 - (uint32_t)__clz(value < 0 ? -value : value);
}

/* Passes a code and its value to the sink as one: at most 27 bits. */
template <class Sink>
static __device__ __forceinline__ void encode_put(Sink &sink, uint32_t code, int32_t value, uint32_t size) {
    uint32_t bits = (uint32_t)(value - (value < 0 ? 1 : 0)) & ((1u << size) - 1);
    sink.put((code & ((1u << KERNEL_ENCODE_CODE_BITS) - 1)) << size | bits,
             (code >> KERNEL_ENCODE_CODE_BITS) + size);
}

template <class Sink>
static __device__ __forceinline__ void encode_put_dc(Sink &sink, const uint32_t *codes, int32_t difference) {
    uint32_t size = encode_size(difference);
    encode_put(sink, codes[size], difference, size);
}

/* Writes the AC codes of one lane's coefficients; the last lane ends the block. Bit k of `filled` is set
 * where coefficient k is not 0. */
template <class Sink>
static __device__ __forceinline__ void encode_put_ac(Sink &sink, const uint32_t *codes, uint32_t lane,
                                                     const union encode_lane &values, uint64_t filled) {
    uint64_t before = filled & (((uint64_t)1 << lane * ENCODE_LANES) - 1);
    int last = before ? 63 - __clzll((long long)before) : 0;
#pragma unroll
    for (int i = 0; i < ENCODE_LANES; i++) {
        int k = (int)lane * ENCODE_LANES + i;
        int32_t value = values.value[i];
        if (value == 0 || k == 0) {
            continue;
        }
        int run = k - last - 1;
        for (; run >= 16; run -= 16) {
            encode_put(sink, codes[ENCODE_ESCAPE], 0, 0);
        }
        uint32_t size = encode_size(value);
        encode_put(sink, codes[run << 4 | (int)size], value, size);
        last = k;
    }
    if (lane == ENCODE_LANES - 1 && filled >> 63 == 0) {
        encode_put(sink, codes[0], 0, 0);
    }
}

/* A mask of the block's coefficients that are not 0. `masks` has 8 aligned bytes. Contains a barrier. */
static __device__ __forceinline__ uint64_t encode_filled(uint8_t *masks, uint32_t lane,
                                                         const union encode_lane &values) {
    uint32_t mask = 0;
#pragma unroll
    for (int i = 0; i < ENCODE_LANES; i++) {
        mask |= values.value[i] != 0 ? 1u << i : 0;
    }
    masks[lane] = (uint8_t)(lane == 0 ? mask & ~1u : mask);
    __syncthreads();
    return *(const uint64_t *)masks;
}

#endif
