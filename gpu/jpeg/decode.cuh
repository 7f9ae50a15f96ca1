/* SPDX-License-Identifier: MIT
 * Decodes a JPEG's scan to coefficients. gpu/jpeg/huffman_sync.cuh has stored the state behind each part of
 * the scan and the number of blocks that end in it.
 *
 * decode_values: each block of threads reads a range once more, each thread two parts of it, and writes the
 * coefficients. The scan stores DC coefficients as differences. A thread sums up its differences, a block of
 * threads sums up those of its range, and the last block to finish sums up the ranges. Each DC coefficient
 * then lacks only the sums before its thread and before its range.
 */
#ifndef BLURD_GPU_JPEG_DECODE_CUH
#define BLURD_GPU_JPEG_DECODE_CUH

#include "gpu/jpeg/huffman_read.cuh"

static __device__ __forceinline__ struct decode_shared &decode_memory() {
    return *(struct decode_shared *)block_memory;
}

/* ---- sums of DC differences ---- */

static __device__ __forceinline__ struct decode_sums decode_join(const struct decode_sums &a,
                                                                 const struct decode_sums &b) {
    struct decode_sums sums = b;
    if (!b.restarted) {
        for (int i = 0; i < KERNEL_PLANES; i++) {
            sums.of[i] = (uint16_t)(a.of[i] + b.of[i]);
        }
        sums.restarted = a.restarted;
    }
    return sums;
}

/* Adds the values of this thread and of all threads before it. Contains barriers. */
static __device__ __forceinline__ struct decode_sums decode_sum_up(const struct decode_sums &own) {
    struct decode_shared &shared = decode_memory();
    int thread = sync_thread(), side = 0;
    struct decode_sums sums = own;
    shared.sums[side][thread] = sums;
    for (int distance = 1; distance < KERNEL_DECODE_THREADS; distance *= 2, side ^= 1) {
        __syncthreads();
        if (thread >= distance) {
            sums = decode_join(shared.sums[side][thread - distance], sums);
        }
        shared.sums[side ^ 1][thread] = sums;
    }
    __syncthreads();
    return sums;
}

/* The results of decode_sum_up in shared memory. */
static __device__ __forceinline__ const struct decode_sums *decode_results() {
    enum { STEPS = 7, SIDE = STEPS % 2 };
    static_assert(1 << STEPS == KERNEL_DECODE_THREADS, "so many steps are taken");
    return decode_memory().sums[SIDE];
}

/* Replaces the sum of each range by the sum of the ranges before it. */
static __device__ __forceinline__ void decode_sum_ranges(struct decode_sums *ranges) {
    struct decode_sums carry = {};
    int thread = sync_thread();
    for (uint32_t first = 0; first < gridDim.x; first += KERNEL_DECODE_THREADS) {
        uint32_t range = first + (uint32_t)thread;
        struct decode_sums own = {};
        if (range < gridDim.x) {
            own = ranges[range];
        }
        decode_sum_up(own);
        const struct decode_sums *results = decode_results();
        if (range < gridDim.x) {
            ranges[range] = thread > 0 ? decode_join(carry, results[thread - 1]) : carry;
        }
        carry = decode_join(carry, results[KERNEL_DECODE_THREADS - 1]);
        __syncthreads();
    }
}

/* ---- coefficients ---- */

/* The taker of sync_read that writes coefficients. */
struct decode_taker {
    const struct decode_pass &pass;
    const uint8_t *places;
    uint32_t last;  /* block of the picture */
    uint32_t owner; /* the thread << 1 | whether a marker was met */
    uint32_t block; /* the next one to begin, or to go on with */
    uint32_t place; /* that of the block in its MCU */
    uint32_t sum0, sum1, sum2;

    __device__ __forceinline__ uint32_t add(uint32_t value) {
        bool first = place < pass.first[0], second = !first && place < pass.first[1];
        uint32_t sum = (first ? sum0 : second ? sum1 : sum2) + value;
        sum0 = first ? sum : sum0;
        sum1 = second ? sum : sum1;
        sum2 = first || second ? sum2 : sum;
        return sum;
    }

    __device__ __forceinline__ void take(const struct sync_way &way, uint32_t window, uint32_t entry) {
        uint32_t bits = entry % (1u << KERNEL_SYNC_VALUE_SHIFT);
        uint32_t size = entry >> KERNEL_SYNC_VALUE_SHIFT & 15, steps = entry >> KERNEL_SYNC_STEP_SHIFT;
        uint32_t above = ~0u << size, value = window >> (SYNC_WORD - bits) & ~above;
        value += window << (bits - size) >> (SYNC_WORD - 1) ? 0 : above + 1; /* a first bit of 0: negative */
        uint32_t end = way.k + steps, k = min(end - 1, SYNC_COEFFICIENTS - 1u);
        if (way.k == 0) {
            value = add(value);
            ((uint32_t *)pass.owners)[block] = owner;
        }
        if (way.k == 0 || size > 0) { /* 32 bits hold the index of a coefficient */
            ((int16_t *)pass.values)[block * SYNC_COEFFICIENTS + places[k]] = (int16_t)(uint16_t)value;
        }
        bool ends = end >= SYNC_COEFFICIENTS;
        block = ends ? min(block + 1, last) : block;
        place = ends ? place + 1 : place;
        place = place == pass.in_mcu ? 0 : place;
    }

    __device__ __forceinline__ void pause() {
        sum0 = sum1 = sum2 = 0;
        owner |= 1;
    }
};

/* Reads the parts of this thread, which are the range's if there are so many. */
static __device__ __forceinline__ struct decode_sums decode_parts(const struct decode_pass &pass) {
    struct decode_shared &shared = decode_memory();
    const struct sync_range &range = ((const struct sync_range *)pass.sync.ranges)[blockIdx.x];
    const struct sync_part *parts =
        (const struct sync_part *)pass.sync.parts + blockIdx.x * KERNEL_SYNC_RANGE_PARTS;
    uint32_t thread = (uint32_t)sync_thread(), first = thread * KERNEL_DECODE_PARTS, blocks = 0;
    uint32_t end = min(first + KERNEL_DECODE_PARTS, (range.size + KERNEL_SYNC_PART - 1) / KERNEL_SYNC_PART);
    for (uint32_t i = first; i < end; i++) {
        blocks += parts[i].exit >> SYNC_BLOCKS_SHIFT;
    }
    uint32_t before = range.before + sync_prefix(blocks, shared.warps);
    uint32_t from = first > 0 && first < end ? parts[first - 1].exit : range.start;
    const struct sync_source source = {shared.clean, shared.tables.sync, shared.tables.sync};
    struct decode_taker taker = {pass,
                                 shared.tables.decode.place,
                                 pass.blocks - 1,
                                 (blockIdx.x * KERNEL_DECODE_THREADS + thread) << 1,
                                 before,
                                 before % pass.in_mcu,
                                 0,
                                 0,
                                 0};
    for (uint32_t i = first; i < end; i++) {
        uint32_t exit = parts[i].exit;
        sync_read<false>(source, KERNEL_SYNC_RUN_UP * KERNEL_SYNC_PIECE_PARTS + i, from & SYNC_PLACE,
                         exit % SYNC_WORD, taker);
        from = exit;
    }
    struct decode_sums sums = {{(uint16_t)taker.sum0, (uint16_t)taker.sum1, (uint16_t)taker.sum2},
                               (uint16_t)(taker.owner & 1)};
    return sums;
}

static __device__ __forceinline__ void decode_range(const struct decode_pass &pass) {
    struct decode_shared &shared = decode_memory();
    struct decode_sums *sums = (struct decode_sums *)pass.sums,
                       *ranges = sums + gridDim.x * KERNEL_DECODE_THREADS;
    int thread = sync_thread();
    struct decode_sums own = decode_parts(pass), none = {};
    own = decode_sum_up(own);
    sums[blockIdx.x * KERNEL_DECODE_THREADS + thread] = thread > 0 ? decode_results()[thread - 1] : none;
    if (thread == KERNEL_DECODE_THREADS - 1) {
        ranges[blockIdx.x] = own;
    }
    __threadfence();
    __syncthreads();
    if (thread == 0) {
        shared.flag = atomicAdd(&((struct decode_tables *)pass.tables)->finished, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (shared.flag) {
        __threadfence();
        decode_sum_ranges(ranges);
    }
}

static __device__ __forceinline__ void decode_scan(const struct decode_pass &pass) {
    struct decode_shared &shared = decode_memory();
    const struct scan_tables *tables = (const struct scan_tables *)pass.sync.tables;
    const uint4 *clean = (const uint4 *)((const struct sync_clean *)pass.sync.clean + blockIdx.x);
    if (tables->sync.verdict != SYNC_INTACT) {
        return;
    }
    uint32_t thread = (uint32_t)sync_thread();
    for (uint32_t i = thread; i < sizeof *tables / sizeof *clean; i += KERNEL_DECODE_THREADS) {
        ((uint4 *)&shared.tables)[i] = ((const uint4 *)tables)[i];
    }
    for (uint32_t i = thread; i < sizeof shared.clean / sizeof *clean; i += KERNEL_DECODE_THREADS) {
        ((uint4 *)&shared.clean)[i] = clean[i];
    }
    __syncthreads();
    decode_range(pass);
}

#endif
