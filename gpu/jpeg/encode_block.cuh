/* SPDX-License-Identifier: MIT
 * Encodes a baseline JPEG, with the same bytes as libjpeg. Six kernels run one after the other:
 *
 * encode_transform   makes quantised coefficients of samples, and lists the nonzero ones
 * encode_symbols     finds the differences of DC, and makes Huffman tables of the picture's own
 * encode_measure     counts the bits of all codes and finds the bit at which each quad begins
 * encode_write       writes the codes at their bits
 * encode_count       counts bytes of 0xff, which need a stuffed 0, and finds where each chunk begins
 * encode_stuff       writes the file
 *
 * For tables of the picture's own, the first two also count the symbols, and the last block of threads of
 * encode_symbols makes the tables of these counts. A JPEG that changes under a mask only has such tables;
 * encode_patch makes its coefficients in place of encode_transform.
 *
 * In encode_transform 8 threads share a block of samples, a row or a column of it each. The warp then lists
 * the coefficients of its four blocks, a *quad*, that are not 0, and all later steps read only this list: a
 * thread for each entry. In encode_measure and encode_count the last block of threads to finish adds up the
 * counts.
 *
 * This file has the position of blocks, entries and their codes, and sums over a block of threads. */
#ifndef BLURD_GPU_JPEG_ENCODE_BLOCK_CUH
#define BLURD_GPU_JPEG_ENCODE_BLOCK_CUH

#include "gpu/jpeg/encode_kernels.h"
#include "gpu/stream/grid.cuh"
#include "gpu/stream/stamp.cuh"

enum {
    ENCODE_LANES = 8,
    ENCODE_WARPS = KERNEL_THREADS_Y,
    ENCODE_ESCAPE = 0xf0, /* 16 zeros */
};

/* An entry of a quad's list: the DC of a block, or a coefficient that is not 0. From the lowest bit on: the
 * bits of its value as they are written, their number, the zeros before it, and whether the block ends behind
 * it without its last coefficient; for DC only the block's number in the quad and the flag. */
enum {
    ENCODE_VALUE_BITS = 15,
    ENCODE_SIZE_AT = ENCODE_VALUE_BITS,
    ENCODE_RUN_AT = ENCODE_SIZE_AT + 4,
    ENCODE_END_AT = ENCODE_RUN_AT + 6,
    ENCODE_DC_AT,
    ENCODE_BLOCK_AT,
    ENCODE_TABLE_AT = ENCODE_BLOCK_AT + 2,
};

/* The 8 coefficients of one thread. */
union encode_lane {
    uint4 words;
    int16_t value[ENCODE_LANES];
};

static __device__ __forceinline__ uint32_t encode_thread() {
    return threadIdx.y * KERNEL_THREADS_X + threadIdx.x;
}

/* ---- sums ---- */

/* Adds `value` over the threads of the warp up to this one. */
static __device__ __forceinline__ uint32_t encode_warp_sum(uint32_t value) {
    for (int distance = 1; distance < KERNEL_THREADS_X; distance *= 2) {
        uint32_t other = __shfl_sync(0xffffffffu, value, (int)threadIdx.x - distance);
        value += (int)threadIdx.x >= distance ? other : 0;
    }
    return value;
}

/* Adds `value` over the threads before this one, and over all into `total`. Contains barriers. */
static __device__ __forceinline__ uint32_t encode_sum(struct encode_sums &sums, uint32_t value,
                                                      uint32_t &total) {
    uint32_t sum = encode_warp_sum(value);
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

/* value / by, with inverse as of struct encode_pass; for values below 2^31. */
static __device__ __forceinline__ uint32_t encode_divide(uint32_t value, uint32_t by, uint32_t inverse) {
    uint32_t result = inverse ? (uint32_t)((uint64_t)value * inverse >> 32) : value;
    return result - (result * by > value); /* the rounded-up inverse may give one too many */
}

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
    uint32_t mcu = encode_divide(block, pass.in_mcu, pass.inverse_mcu), in_mcu = block - mcu * pass.in_mcu;
    const struct encode_component &component = pass.component[encode_component_of(pass, in_mcu)];
    uint32_t of_mcu = 1u << (component.shift_x + component.shift_y);
    bool first = in_mcu == component.first;
    uint32_t back = first ? pass.in_mcu - of_mcu + 1 : 1;
    *table = component.table;
    return blocks[block].dc - (first && mcu == 0 ? 0 : blocks[block - back].dc);
}

/* ---- codes ---- */

static __device__ __forceinline__ uint32_t encode_size(int32_t value) {
    return 32 - (uint32_t)__clz(value < 0 ? -value : value);
}

/* The `size` bits of a value as they are written. */
static __device__ __forceinline__ uint32_t encode_bits(int32_t value, uint32_t size) {
    return (uint32_t)(value - (value < 0 ? 1 : 0)) & ((1u << size) - 1);
}

/* The codes of an entry: `zeros` times `escape`, then `bits`, then `end`. Lengths are 0 where there is none.
 */
struct encode_codes {
    uint32_t zeros, escape, bits, length, end; /* escape and end: as in struct encode_tables */
};

static __device__ __forceinline__ struct encode_codes
encode_codes_of(const struct encode_tables &tables, const struct encode_block *quad, uint32_t entry) {
    uint32_t table = entry >> ENCODE_TABLE_AT & 1, size = entry >> ENCODE_SIZE_AT & 15, code;
    uint32_t run = entry >> ENCODE_RUN_AT & 63;
    struct encode_codes codes = {};
    codes.bits = entry & ((1u << ENCODE_VALUE_BITS) - 1);
    if (entry >> ENCODE_DC_AT & 1) {
        int32_t difference = quad[entry >> ENCODE_BLOCK_AT & 3].difference;
        size = min(encode_size(difference), (uint32_t)KERNEL_ENCODE_SIZES - 1);
        codes.bits = encode_bits(difference, size);
        code = tables.dc[table][size];
    } else {
        code = tables.ac[table][(run & 15) << 4 | size];
        codes.zeros = run >> 4;
        codes.escape = codes.zeros ? tables.ac[table][ENCODE_ESCAPE] : 0;
    }
    codes.end = entry >> ENCODE_END_AT & 1 ? tables.ac[table][0] : 0;
    codes.bits |= (code & ((1u << KERNEL_ENCODE_CODE_BITS) - 1)) << size;
    codes.length = (code >> KERNEL_ENCODE_CODE_BITS) + size;
    return codes;
}

static __device__ __forceinline__ uint32_t encode_length(const struct encode_codes &codes) {
    return codes.zeros * (codes.escape >> KERNEL_ENCODE_CODE_BITS) + codes.length +
           (codes.end >> KERNEL_ENCODE_CODE_BITS);
}

#endif
