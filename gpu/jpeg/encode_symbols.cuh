/* SPDX-License-Identifier: MIT
 * For tables of the picture's own: counts the symbols of quantised coefficients, and then the bits that they
 * take. */
#ifndef BLURD_GPU_JPEG_ENCODE_SYMBOLS_CUH
#define BLURD_GPU_JPEG_ENCODE_SYMBOLS_CUH

#include "gpu/jpeg/encode_block.cuh"

/* A sink that counts symbols. Their "codes" are the symbols themselves, in front of `count` bits of a value.
 */
struct encode_counter {
    uint32_t *counts;
    __device__ __forceinline__ void put(uint32_t code, uint32_t count) {
        atomicAdd(&counts[code >> count], 1u);
    }
};

/* A thread's part of its block. */
struct encode_share {
    uint32_t at, lane, table;
    bool active;
    int32_t difference; /* of DC; of lane 0 */
    union encode_lane values;
    uint64_t filled;
};

/* Contains a barrier. */
static __device__ __forceinline__ struct encode_share encode_share_of(const struct encode_pass &pass,
                                                                      uint8_t (*filled)[KERNEL_ENCODE_SIDE]) {
    uint32_t block = encode_thread() / ENCODE_LANES;
    struct encode_share share = {};
    share.lane = encode_thread() % ENCODE_LANES;
    share.at = blockIdx.x * KERNEL_ENCODE_GROUP + block;
    share.active = share.at < pass.count;
    share.values.words = make_uint4(0, 0, 0, 0);
    if (share.active) {
        share.values.words =
            ((const uint4 *)pass.coefficients)[(uint64_t)share.at * ENCODE_LANES + share.lane];
        share.difference = encode_difference(pass, share.at, &share.table);
    }
    share.filled = encode_filled(filled[block], share.lane, share.values);
    return share;
}

static __device__ __forceinline__ void encode_symbols_group(const struct encode_pass &pass) {
    struct encode_symbols_shared &shared = *(struct encode_symbols_shared *)block_memory;
    uint32_t *all = shared.count[0];
    for (uint32_t i = encode_thread(); i < 2 * KERNEL_ENCODE_TABLES * KERNEL_ENCODE_SYMBOLS;
         i += KERNEL_ENCODE_THREADS) {
        all[i] = 0;
    }
    shared.symbol[encode_thread()] = encode_thread();
    struct encode_share share = encode_share_of(pass, shared.filled); /* and a barrier */
    struct encode_counter dc = {shared.count[2 * share.table]}, ac = {shared.count[2 * share.table + 1]};
    if (share.active && share.lane == 0) {
        encode_put_dc(dc, shared.symbol, share.difference);
    }
    if (share.active) {
        encode_put_ac(ac, shared.symbol, share.lane, share.values, share.filled);
    }
    __syncthreads();
    unsigned long long *counts = (unsigned long long *)pass.counts;
    for (uint32_t i = encode_thread(); i < 2 * KERNEL_ENCODE_TABLES * KERNEL_ENCODE_SYMBOLS;
         i += KERNEL_ENCODE_THREADS) {
        if (all[i]) {
            atomicAdd(&counts[i], (unsigned long long)all[i]);
        }
    }
}

/* The bits of AC codes, which encode_transform has counted with other tables. */
static __device__ __forceinline__ void encode_weigh_group(const struct encode_pass &pass) {
    struct encode_symbols_shared &shared = *(struct encode_symbols_shared *)block_memory;
    const struct encode_tables *tables = (const struct encode_tables *)pass.tables;
    struct encode_share share = encode_share_of(pass, shared.filled);
    struct encode_meter meter = {0};
    if (share.active) {
        encode_put_ac(meter, tables->ac[share.table], share.lane, share.values, share.filled);
    }
    for (int distance = 1; distance < ENCODE_LANES; distance *= 2) {
        meter.bits += __shfl_sync(0xffffffffu, meter.bits, (int)threadIdx.x ^ distance);
    }
    if (share.active && share.lane == 0) {
        ((struct encode_block *)pass.blocks)[share.at].bits = meter.bits;
    }
}

#endif
