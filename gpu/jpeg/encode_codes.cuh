/* SPDX-License-Identifier: MIT
 * Makes the Huffman tables of a picture from the counts of its symbols, the same ones as jpeg_huffman_optimal
 * (core/jpeg/huffman.c). A warp makes each table. No counts make it write outside of its memory.
 *
 * The two rarest leaves or nodes are joined until one is left. Leaves are sorted first. Nodes come into being
 * in the order of their keys, so that the rarest two are always at the front of these two queues: each node
 * is less rare than all that were joined before it, and of two equally rare ones that with the lower place is
 * made first. One thread joins; the others wait, which takes some 60 cycles for each leaf. */
#ifndef BLURD_GPU_JPEG_ENCODE_CODES_CUH
#define BLURD_GPU_JPEG_ENCODE_CODES_CUH

#include "gpu/jpeg/encode_block.cuh"

enum {
    ENCODE_ONES =
        KERNEL_ENCODE_SYMBOLS, /* a leaf that gets the code of ones alone, which no symbol may have */
    ENCODE_PLACE_BITS = 9,     /* hold symbols and ENCODE_ONES */
    ENCODE_PLACES = (1 << ENCODE_PLACE_BITS) - 1,
    ENCODE_EACH = (KERNEL_ENCODE_LEAVES + KERNEL_THREADS_X - 1) / KERNEL_THREADS_X, /* leaves of a lane */
    ENCODE_DHT = 0xc4,
};

#define ENCODE_TIMES_MAX ((uint64_t)1 << 40) /* a picture has less than 2^32 blocks of 64 coefficients */
#define ENCODE_NEVER 0xffffffffffffffffull   /* a key behind all others */
#define ENCODE_NO_SYMBOL 0xffffffffu         /* the order of ENCODE_ONES */

/* Whether blocks of 8-bit samples may have the symbol. */
static __device__ __forceinline__ bool encode_is_known(bool dc, uint32_t symbol) {
    uint32_t size = symbol & 15;
    return dc ? symbol < KERNEL_ENCODE_SIZES
              : (size >= 1 && size <= KERNEL_ENCODE_AC_SIZES) || symbol == 0 || symbol == ENCODE_ESCAPE;
}

/* Takes the counts, which are zero then, and lists the leaves, in no order. Returns whether they are counts
 * of a picture. */
static __device__ __forceinline__ bool encode_find_leaves(uint64_t *counts, bool dc,
                                                          struct encode_tree &tree) {
    const uint32_t rounds = KERNEL_ENCODE_SYMBOLS / KERNEL_THREADS_X;
    uint32_t lane = threadIdx.x, leaves = 1;
    uint64_t times[rounds];
    bool good = true;
#pragma unroll
    for (uint32_t i = 0; i < rounds; i++) {
        times[i] = __ldcg(&counts[i * KERNEL_THREADS_X + lane]);
    }
#pragma unroll
    for (uint32_t i = 0; i < rounds; i++) {
        uint32_t symbol = i * KERNEL_THREADS_X + lane;
        bool known = encode_is_known(dc, symbol), found = known && times[i] > 0;
        uint32_t all = __ballot_sync(0xffffffffu, found);
        good = good && times[i] < ENCODE_TIMES_MAX && (known || times[i] == 0);
        counts[symbol] = 0;
        if (found) {
            tree.node[leaves + (uint32_t)__popc(all & ((1u << lane) - 1))] =
                min(times[i], ENCODE_TIMES_MAX) << ENCODE_PLACE_BITS | (ENCODE_ONES - symbol);
        }
        leaves += (uint32_t)__popc(all);
    }
    if (lane == 0) {
        tree.node[0] = 1 << ENCODE_PLACE_BITS; /* ENCODE_ONES */
        tree.leaves = leaves;
    }
    return good && leaves > 1;
}

/* Sorts the leaves, and empties the queue of nodes. */
static __device__ __forceinline__ void encode_sort_leaves(struct encode_tree &tree) {
    uint32_t lane = threadIdx.x, leaves = tree.leaves, rank[ENCODE_EACH] = {};
    uint64_t key[ENCODE_EACH];
#pragma unroll
    for (uint32_t i = 0; i < ENCODE_EACH; i++) {
        uint32_t at = i * KERNEL_THREADS_X + lane;
        key[i] = at < leaves ? tree.node[at] : 0;
    }
    for (uint32_t at = 0; at < leaves; at++) {
        uint64_t other = tree.node[at];
#pragma unroll
        for (uint32_t i = 0; i < ENCODE_EACH; i++) {
            rank[i] += other < key[i];
        }
    }
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < ENCODE_EACH; i++) {
        if (i * KERNEL_THREADS_X + lane < leaves) {
            tree.leaf[rank[i]] = key[i];
        }
    }
    for (uint32_t i = lane; i < KERNEL_ENCODE_LEAVES + 2; i += KERNEL_THREADS_X) {
        tree.node[i] = ENCODE_NEVER;
        if (i >= leaves) {
            tree.leaf[i] = ENCODE_NEVER;
        }
    }
    __syncwarp();
}

/* Joins the two rarest until one is left. One thread calls it. */
static __device__ __forceinline__ void encode_join(struct encode_tree &tree) {
    const uint64_t places = ENCODE_PLACES;
    uint32_t leaves = tree.leaves, leaf = 0, node = 0;
    for (uint32_t made = 0; made + 1 < leaves; made++) {
        uint64_t leaf0 = tree.leaf[leaf], leaf1 = tree.leaf[leaf + 1];
        uint64_t node0 = tree.node[node], node1 = tree.node[node + 1];
        bool first = leaf0 < node0;
        uint64_t rarest = first ? leaf0 : node0;
        leaf0 = first ? leaf1 : leaf0;
        node0 = first ? node0 : node1;
        tree.parent[first ? leaf : KERNEL_ENCODE_LEAVES + node] = (uint16_t)made;
        leaf += first;
        node += !first;
        bool second = leaf0 < node0;
        tree.parent[second ? leaf : KERNEL_ENCODE_LEAVES + node] = (uint16_t)made;
        leaf += second;
        node += !second;
        tree.node[made] = rarest + ((second ? leaf0 : node0) & ~places);
    }
}

/* Finds the lengths of the codes, which may be too long, and counts them. */
static __device__ __forceinline__ void encode_find_lengths(struct encode_tree &tree) {
    uint32_t leaves = tree.leaves;
    for (uint32_t i = threadIdx.x; i < leaves; i += KERNEL_THREADS_X) {
        uint32_t length = 1, symbol = ENCODE_ONES - (uint32_t)(tree.leaf[i] & ENCODE_PLACES);
        for (uint32_t at = tree.parent[i]; at != leaves - 2; at = tree.parent[KERNEL_ENCODE_LEAVES + at]) {
            length++;
        }
        tree.order[i] = symbol == ENCODE_ONES ? ENCODE_NO_SYMBOL : length << ENCODE_PLACE_BITS | symbol;
        atomicAdd(&tree.count[length], 1u);
        atomicMax(&tree.longest, length);
    }
}

/* As limit_lengths in core/jpeg/huffman.c. One thread calls it. */
static __device__ __forceinline__ void encode_limit_lengths(struct encode_tree &tree) {
    uint32_t longest = tree.longest, *count = tree.count;
    for (; longest > KERNEL_ENCODE_CODE_BITS; longest--) {
        while (count[longest] > 0) {
            uint32_t shorter = longest - 2;
            while (count[shorter] == 0) {
                shorter--;
            }
            count[longest] -= 2;
            count[longest - 1]++;
            count[shorter + 1] += 2;
            count[shorter]--;
        }
    }
    while (count[longest] == 0) {
        longest--;
    }
    count[longest]--;
}

/* The code with that number in the order of a table's codes, with its length. */
static __device__ __forceinline__ uint32_t encode_code_of(const uint32_t *count, uint32_t number) {
    uint32_t code = 0, length = 1;
    for (; length < KERNEL_ENCODE_CODE_BITS && number >= count[length]; length++) {
        number -= count[length];
        code = (code + count[length]) << 1;
    }
    return length << KERNEL_ENCODE_CODE_BITS | (code + number);
}

/* Writes codes and symbols. `codes` is zero before. */
static __device__ __forceinline__ void encode_store_codes(const struct encode_tree &tree, uint32_t *codes,
                                                          uint8_t *symbols) {
    uint32_t lane = threadIdx.x, leaves = tree.leaves, rank[ENCODE_EACH] = {}, order[ENCODE_EACH];
#pragma unroll
    for (uint32_t i = 0; i < ENCODE_EACH; i++) {
        uint32_t at = i * KERNEL_THREADS_X + lane;
        order[i] = at < leaves ? tree.order[at] : ENCODE_NO_SYMBOL;
    }
    for (uint32_t at = 0; at < leaves; at++) {
        uint32_t other = tree.order[at];
#pragma unroll
        for (uint32_t i = 0; i < ENCODE_EACH; i++) {
            rank[i] += other < order[i];
        }
    }
#pragma unroll
    for (uint32_t i = 0; i < ENCODE_EACH; i++) {
        if (order[i] != ENCODE_NO_SYMBOL) {
            uint32_t symbol = order[i] & ENCODE_PLACES;
            codes[symbol] = encode_code_of(tree.count, rank[i]);
            symbols[rank[i]] = (uint8_t)symbol;
        }
    }
}

/* Writes the part of a DHT segment before its symbols: marker, size, which table, counts. */
static __device__ __forceinline__ void encode_store_segment(const struct encode_tree &tree, uint32_t table,
                                                            uint8_t *segment) {
    uint32_t lane = threadIdx.x, size = KERNEL_ENCODE_SEGMENT - 2 + tree.leaves - 1;
    const uint32_t before = KERNEL_ENCODE_SEGMENT - KERNEL_ENCODE_CODE_BITS;
    const uint8_t head[before] = {0xff, ENCODE_DHT, (uint8_t)(size >> 8), (uint8_t)size,
                                  (uint8_t)(table % 2 << 4 | table / 2)};
    if (lane < KERNEL_ENCODE_SEGMENT) {
        segment[lane] = lane < before ? head[lane] : (uint8_t)tree.count[lane - before + 1];
    }
}

/* The warp makes the table, of at least one symbol. Its segment is written at `segment`. */
static __device__ __forceinline__ void encode_make_table(struct encode_tree &tree, uint32_t table,
                                                         struct encode_tables &tables, uint8_t *segment) {
    bool dc = table % 2 == 0;
    uint32_t *codes = dc ? tables.dc[table / 2] : tables.ac[table / 2];
    for (uint32_t i = threadIdx.x; i < (dc ? KERNEL_ENCODE_SIZES : KERNEL_ENCODE_SYMBOLS);
         i += KERNEL_THREADS_X) {
        codes[i] = 0;
    }
    for (uint32_t i = threadIdx.x; i < KERNEL_ENCODE_LEAVES; i += KERNEL_THREADS_X) {
        tree.count[i] = 0;
    }
    encode_sort_leaves(tree);
    if (threadIdx.x == 0) {
        tree.longest = 0;
        encode_join(tree);
    }
    __syncwarp();
    encode_find_lengths(tree);
    __syncwarp();
    if (threadIdx.x == 0) {
        encode_limit_lengths(tree);
    }
    __syncwarp();
    encode_store_codes(tree, codes, segment + KERNEL_ENCODE_SEGMENT);
    encode_store_segment(tree, table, segment);
}

/* Makes all tables of the picture. All threads of the last block call it. */
static __device__ __forceinline__ void encode_make_tables(const struct encode_pass &pass,
                                                          struct encode_symbols_shared &shared) {
    struct encode_tables &tables = *(struct encode_tables *)pass.tables;
    uint64_t *counts = (uint64_t *)pass.counts;
    uint32_t table = threadIdx.y, made = pass.components > 1 ? 2 * KERNEL_ENCODE_TABLES : 2, end = 0;
    if (encode_thread() == 0) {
        shared.refused = 0;
    }
    __syncthreads();
    if (table < made &&
        !encode_find_leaves(counts + table * KERNEL_ENCODE_SYMBOLS, table % 2 == 0, shared.tree[table])) {
        atomicOr(&shared.refused, 1u);
    }
    __syncthreads();
    for (uint32_t i = 0; i <= table && i < made; i++) {
        end += KERNEL_ENCODE_SEGMENT + shared.tree[i].leaves - 1;
    }
    if (table < made && shared.tree[table].leaves > 1) {
        uint32_t own = KERNEL_ENCODE_SEGMENT + shared.tree[table].leaves - 1;
        encode_make_table(shared.tree[table], table, tables, tables.segments + end - own);
    }
    if (table < made && table % 2 == 1 && threadIdx.x == 0) {
        tables.end[table / 2] = end;
    }
    if (shared.refused && encode_thread() == 0) {
        ((volatile struct encode_outcome *)pass.outcome)->refused = 1;
    }
}

#endif
