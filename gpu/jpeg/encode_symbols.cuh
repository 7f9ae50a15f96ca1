/* SPDX-License-Identifier: MIT
 * The lists of a picture's symbols, and how often each symbol occurs. */
#ifndef BLURD_GPU_JPEG_ENCODE_SYMBOLS_CUH
#define BLURD_GPU_JPEG_ENCODE_SYMBOLS_CUH

#include "gpu/jpeg/encode_codes.cuh"

/* ---- the list of a quad ---- */

/* Finds the coefficients of a quad, in zigzag order, that are not 0, and the DC of its `blocks` blocks.
 * Stores their positions in order and returns their number. All threads of the warp call it. The later half
 * of a block is mostly 0, and passed over then. */
static __device__ __forceinline__ uint32_t encode_find(const int16_t (*zigzag)[KERNEL_ENCODE_ROOM],
                                                       uint32_t blocks, uint8_t *positions) {
    uint32_t lane = threadIdx.x, count = 0;
    const uint4 eight = ((const uint4 *)zigzag[lane / ENCODE_LANES])[lane % ENCODE_LANES];
    uint32_t filled =
        __ballot_sync(0xffffffffu, (eight.x | eight.y | eight.z | eight.w) != 0 || lane % ENCODE_LANES == 0);
    filled &= blocks < KERNEL_ENCODE_QUAD ? (1u << ENCODE_LANES * blocks) - 1 : ~0u;
#pragma unroll
    for (uint32_t i = 0; i < KERNEL_ENCODE_QUAD_ENTRIES / KERNEL_THREADS_X; i++) {
        if ((filled >> 4 * i & 15) == 0) {
            continue;
        }
        bool found = zigzag[i / 2][i % 2 * KERNEL_THREADS_X + lane] != 0 || (i % 2 == 0 && lane == 0);
        uint32_t all = __ballot_sync(0xffffffffu, found);
        if (found) {
            positions[count + (uint32_t)__popc(all & ((1u << lane) - 1))] =
                (uint8_t)(i * KERNEL_THREADS_X + lane);
        }
        count += (uint32_t)__popc(all);
    }
    __syncwarp();
    return count;
}

/* The entry of the coefficient at position `at` of its quad. `before` is the position of the last entry,
 * `next` that of the next one, or beyond the quad. */
static __device__ __forceinline__ uint32_t encode_entry(int32_t value, uint32_t before, uint32_t at,
                                                        uint32_t next, uint32_t table) {
    uint32_t k = at % KERNEL_ENCODE_COEFFICIENTS, block = at / KERNEL_ENCODE_COEFFICIENTS;
    bool end = next / KERNEL_ENCODE_COEFFICIENTS != block && k != KERNEL_ENCODE_COEFFICIENTS - 1;
    uint32_t entry = (uint32_t)end << ENCODE_END_AT | table << ENCODE_TABLE_AT;
    if (k == 0) {
        return entry | 1u << ENCODE_DC_AT | block << ENCODE_BLOCK_AT;
    }
    uint32_t size = min(encode_size(value), 15u); /* -32768 is refused like all above 10 bits */
    return entry | (at - before - 1) << ENCODE_RUN_AT | size << ENCODE_SIZE_AT | encode_bits(value, size);
}

/* Counts the symbols of an entry but for DC. */
static __device__ __forceinline__ void encode_tally(uint32_t *count, uint32_t entry) {
    uint32_t run = entry >> ENCODE_RUN_AT & 63, size = entry >> ENCODE_SIZE_AT & 15;
    if (!(entry >> ENCODE_DC_AT & 1)) {
        atomicAdd(&count[(run & 15) << 4 | size], 1u);
    }
    if (run >= 16) {
        atomicAdd(&count[ENCODE_ESCAPE], run >> 4);
    }
    if (entry >> ENCODE_END_AT & 1) {
        atomicAdd(&count[0], 1u);
    }
}

/* Makes the list of the warp's quad of a group, of its coefficients in shared memory, and counts its symbols
 * if that is wanted. `table` is that of the thread's block. Overwrites the quad's `work`. */
static __device__ __forceinline__ void encode_list(const struct encode_pass &pass,
                                                   struct encode_transform_shared &shared, uint32_t group,
                                                   uint32_t table) {
    uint32_t lane = threadIdx.x, first = threadIdx.y * KERNEL_ENCODE_QUAD;
    uint32_t at = group * KERNEL_ENCODE_GROUP + first, quad = at / KERNEL_ENCODE_QUAD;
    uint32_t blocks = at < pass.count ? pass.count - at : 0;
    uint32_t tables = __ballot_sync(0xffffffffu, table != 0);
    const int16_t(*zigzag)[KERNEL_ENCODE_ROOM] = shared.zigzag + first;
    uint8_t *positions = (uint8_t *)shared.work[first];
    uint32_t count = encode_find(zigzag, blocks, positions);
    uint32_t *entries = (uint32_t *)pass.entries + (uint64_t)quad * KERNEL_ENCODE_QUAD_ENTRIES;
    for (uint32_t i = lane; i < count; i += KERNEL_THREADS_X) {
        uint32_t position = positions[i], before = i > 0 ? positions[i - 1] : 0;
        uint32_t next = i + 1 < count ? positions[i + 1] : (uint32_t)KERNEL_ENCODE_QUAD_ENTRIES;
        uint32_t block = position / KERNEL_ENCODE_COEFFICIENTS, which = tables >> block * ENCODE_LANES & 1;
        int32_t value = zigzag[block][position % KERNEL_ENCODE_COEFFICIENTS];
        uint32_t entry = encode_entry(value, before, position, next, which);
        entries[i] = entry;
        if (pass.counts) {
            encode_tally(shared.count[which], entry);
        }
    }
    if (lane == 0 && blocks > 0) {
        ((struct encode_quad *)pass.quads)[quad].entries = count;
    }
    if (lane < KERNEL_ENCODE_QUAD && lane < blocks) {
        ((struct encode_block *)pass.blocks)[at + lane].dc = zigzag[lane][0];
    }
}

/* ---- counts ---- */

static __device__ __forceinline__ void encode_clear(const struct encode_pass &pass, uint32_t *count,
                                                    uint32_t size) {
    for (uint32_t i = encode_thread(); pass.counts && i < size; i += KERNEL_ENCODE_THREADS) {
        count[i] = 0;
    }
}

/* Adds the counts of a block of threads to those of the picture. */
static __device__ __forceinline__ void encode_add_counts(const struct encode_pass &pass, uint32_t table,
                                                         const uint32_t *count, uint32_t size) {
    unsigned long long *to = (unsigned long long *)pass.counts + table * KERNEL_ENCODE_SYMBOLS;
    for (uint32_t i = encode_thread(); pass.counts && i < size; i += KERNEL_ENCODE_THREADS) {
        if (count[i]) {
            atomicAdd(&to[i], (unsigned long long)count[i]);
        }
    }
}

/* The AC symbols that encode_list has counted. Contains a barrier. */
static __device__ __forceinline__ void encode_add_lists(const struct encode_pass &pass,
                                                        const struct encode_transform_shared &shared) {
    if (!pass.counts) {
        return;
    }
    __syncthreads();
    for (uint32_t table = 0; table < KERNEL_ENCODE_TABLES; table++) {
        encode_add_counts(pass, 2 * table + 1, shared.count[table], KERNEL_ENCODE_SYMBOLS);
    }
}

/* ---- differences of DC ---- */

static __device__ __forceinline__ void encode_symbols_group(const struct encode_pass &pass) {
    struct encode_symbols_shared &shared = *(struct encode_symbols_shared *)block_memory;
    uint32_t at = blockIdx.x * KERNEL_ENCODE_THREADS + encode_thread();
    encode_clear(pass, shared.count[0], KERNEL_ENCODE_TABLES * KERNEL_ENCODE_DC_SYMBOLS);
    __syncthreads();
    if (at < pass.count) {
        uint32_t table;
        int32_t difference = encode_difference(pass, at, &table);
        ((struct encode_block *)pass.blocks)[at].difference = difference;
        if (pass.counts) {
            atomicAdd(&shared.count[table][encode_size(difference) % KERNEL_ENCODE_DC_SYMBOLS], 1u);
        }
    }
    __syncthreads();
    for (uint32_t table = 0; table < KERNEL_ENCODE_TABLES; table++) {
        encode_add_counts(pass, 2 * table, shared.count[table], KERNEL_ENCODE_DC_SYMBOLS);
    }
    if (pass.counts && encode_is_last(shared.sums, ((struct encode_state *)pass.state)->finished[2])) {
        encode_make_tables(pass, shared);
    }
}

#endif
