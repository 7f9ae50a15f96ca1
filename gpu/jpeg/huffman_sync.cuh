/* SPDX-License-Identifier: MIT
 * Reads the Huffman codes of a JPEG's scan in parallel, checks the scan and finds where its blocks begin,
 * after A. Weissenberger and B. Schmidt, "Massively Parallel Huffman Decoding on GPUs" (ICPP 2018) and
 * "Accelerating JPEG Decompression on GPUs" (HiPC 2021). Huffman codes synchronise by themselves: a decoder
 * that begins at any bit soon meets the true code boundaries. Each thread reads one piece of the scan, part
 * by part, from a guessed state. A piece whose state at the beginning differs from that at the end of the
 * piece before is read again, up to the part behind which the state is the one found earlier. This repeats
 * until nothing changes; the first threads of the block then share the pieces to read. Each block of threads
 * has a range of pieces. The last block to finish joins the ranges in the same way. */
#ifndef BLURD_GPU_JPEG_HUFFMAN_SYNC_CUH
#define BLURD_GPU_JPEG_HUFFMAN_SYNC_CUH

#include "gpu/jpeg/huffman_read.cuh"
#include "gpu/stream/stamp.cuh"

#define SYNC_NO_STATE 0xffffffffu
#define SYNC_CHANGED                                                                                         \
    0xffffffffu /* as the markers of a range: they and its blocks are to be counted again                    \
                 */

static __device__ __forceinline__ struct sync_shared &sync_memory() {
    return *(struct sync_shared *)block_memory;
}

/* ---- tables ---- */

/* Which table of AC codes follows a table of DC codes, or -1 if both do in turn. */
static __device__ __forceinline__ int sync_follower(const struct sync_tables &tables, uint32_t dc) {
    uint32_t all = (1u << tables.in_mcu) - 1, users = (dc ? tables.dc : ~tables.dc) & all;
    uint32_t second = tables.ac & users;
    return second == 0 ? 2 : second == users ? 3 : -1;
}

/* An entry for a code and the next one, if the bits of the look-up show both: as of a single one, but with
 * the steps of the first code in place of the size of its value, and those of both. */
static __device__ __forceinline__ uint32_t sync_pair(const uint16_t *look, const uint16_t *next,
                                                     uint32_t bits) {
    enum { VALUE = 15 << KERNEL_SYNC_VALUE_SHIFT, BITS = (1 << KERNEL_SYNC_VALUE_SHIFT) - 1, PRE_MAX = 15 };
    uint32_t first = look[bits], steps = first >> KERNEL_SYNC_STEP_SHIFT, length = first & BITS;
    if (first < SYNC_RARE) {
        return first;
    }
    if (!next || steps > PRE_MAX || length >= KERNEL_SYNC_LOOK) {
        return first & ~(uint32_t)VALUE;
    }
    uint32_t left = KERNEL_SYNC_LOOK - length;
    uint32_t second = next[bits << length & ((1 << KERNEL_SYNC_LOOK) - 1)];
    uint32_t code = (second & BITS) - (second >> KERNEL_SYNC_VALUE_SHIFT & 15);
    if (second < SYNC_RARE || code > left) {
        return first & ~(uint32_t)VALUE;
    }
    return (first & ~(uint32_t)VALUE) + (second & ~(uint32_t)VALUE) + (steps << KERNEL_SYNC_VALUE_SHIFT);
}

/* Copies the tables, and makes entries of two codes. */
static __device__ __forceinline__ void sync_make_tables(const struct sync_pass &pass,
                                                        struct sync_tables &tables) {
    const struct sync_tables &singles = *(const struct sync_tables *)pass.tables;
    uint32_t thread = (uint32_t)sync_thread();
    for (uint32_t i = thread; i < sizeof tables / 16; i += KERNEL_SYNC_THREADS) {
        ((uint4 *)&tables)[i] = ((const uint4 *)&singles)[i];
    }
    __syncthreads();
#pragma unroll 1
    for (uint32_t table = 0; table < KERNEL_SYNC_TABLES; table++) {
        int follower = table < 2 ? sync_follower(tables, table) : (int)table;
        const uint16_t *next = follower < 0 ? nullptr : singles.codes[follower].look;
#pragma unroll 4
        for (uint32_t i = thread; i < 1 << KERNEL_SYNC_LOOK; i += KERNEL_SYNC_THREADS) {
            tables.codes[table].look[i] = (uint16_t)sync_pair(singles.codes[table].look, next, i);
        }
    }
}

/* ---- a range ---- */

/* Reads a piece up to a part with the same state behind it as before. */
static __device__ __forceinline__ void sync_read_piece(const struct sync_pass &pass,
                                                       struct sync_shared &shared, uint32_t piece) {
    const struct sync_source source = {shared.clean, shared.tables, *(const struct sync_tables *)pass.tables};
    struct sync_ignore ignore;
    uint32_t from = shared.start[piece];
    bool same = false;
    for (uint32_t i = 0; i < KERNEL_SYNC_PIECE_PARTS && !same; i++) {
        struct sync_part &part = shared.parts[piece * KERNEL_SYNC_PIECE_PARTS + i];
        struct sync_part now = sync_read<true>(source, piece * KERNEL_SYNC_PIECE_PARTS + i, from, 0, ignore);
        from = now.exit & SYNC_PLACE;
        same = from == (part.exit & SYNC_PLACE) && part.markers != SYNC_NO_STATE;
        part = now;
    }
}

/* Lists the pieces to read in this round. Contains a barrier. */
static __device__ __forceinline__ uint32_t sync_list(struct sync_shared &shared, uint32_t round) {
    uint32_t thread = (uint32_t)sync_thread(), first = shared.clean.first / KERNEL_SYNC_PIECE;
    uint32_t &listed = shared.listed[round % 3];
    if (thread >= first && thread * KERNEL_SYNC_PIECE < shared.clean.end) {
        uint32_t from = round == 0 || thread == first
                            ? 0
                            : shared.parts[thread * KERNEL_SYNC_PIECE_PARTS - 1].exit & SYNC_PLACE;
        if (from != shared.start[thread]) {
            shared.start[thread] = from;
            shared.list[atomicAdd(&listed, 1u)] = thread;
        }
    }
    __syncthreads();
    if (thread == 0) {
        shared.listed[(round + 2) % 3] = 0; /* all have read it */
    }
    return listed;
}

static __device__ __forceinline__ void sync_settle(const struct sync_pass &pass, struct sync_shared &shared) {
    uint32_t thread = (uint32_t)sync_thread();
    shared.start[thread] = SYNC_NO_STATE;
    for (uint32_t i = 0; i < KERNEL_SYNC_PIECE_PARTS; i++) {
        struct sync_part none = {0, SYNC_NO_STATE};
        shared.parts[thread * KERNEL_SYNC_PIECE_PARTS + i] = none;
    }
    __syncthreads();
    for (uint32_t round = 0;; round++) {
        uint32_t listed = sync_list(shared, round);
        if (listed == 0) {
            break;
        }
        if (thread < listed) {
            sync_read_piece(pass, shared, shared.list[thread]);
        }
        __syncthreads();
    }
}

/* Adds up the blocks and markers of a range. Contains barriers. Not inlined, since it is called twice. */
static __device__ __noinline__ void sync_sum_range(const struct sync_pass &pass, uint32_t number) {
    struct sync_shared &shared = sync_memory();
    struct sync_range &range = ((struct sync_range *)pass.ranges)[number];
    const struct sync_part *parts = (const struct sync_part *)pass.parts + number * KERNEL_SYNC_RANGE_PARTS;
    int thread = sync_thread();
    struct sync_part own[KERNEL_SYNC_PIECE_PARTS] = {};
    uint32_t blocks = 0, markers = 0;
    for (int i = 0; i < KERNEL_SYNC_PIECE_PARTS && thread < KERNEL_SYNC_RANGE_PARTS / KERNEL_SYNC_PIECE_PARTS;
         i++) {
        own[i] = parts[thread * KERNEL_SYNC_PIECE_PARTS + i];
        blocks += own[i].exit >> SYNC_BLOCKS_SHIFT;
        markers += own[i].markers >> 16;
        if (own[i].exit & SYNC_WRONG) {
            shared.wrong = SYNC_WRONG;
        }
    }
    uint32_t before = sync_prefix(blocks, shared.sums), marker = sync_prefix(markers, shared.sums);
    for (int turn = 0; turn < 2; turn++) { /* the place of the first marker, and then the others */
        uint32_t sum = before, count = marker;
        for (int i = 0; i < KERNEL_SYNC_PIECE_PARTS; i++) {
            uint32_t first = (count + 1) * shared.tables.interval - sum - (own[i].markers & 0xffff);
            if (own[i].markers && turn == 0 && count == 0) {
                shared.first = first;
            } else if (own[i].markers && turn == 1 && first != shared.first) {
                shared.wrong = SYNC_WRONG;
            }
            sum += own[i].exit >> SYNC_BLOCKS_SHIFT;
            count += own[i].markers >> 16;
        }
        __syncthreads();
    }
    if (thread == KERNEL_SYNC_THREADS - 1) {
        range.blocks = before + blocks;
        range.markers = (marker + markers) | (shared.wrong ? SYNC_BAD : 0);
        range.first = shared.first;
        shared.wrong = 0;
    }
    __syncthreads();
}

/* The results of the block's range go to the device's memory. */
static __device__ __forceinline__ void sync_store(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    struct sync_range &range = ((struct sync_range *)pass.ranges)[blockIdx.x];
    struct sync_part *parts = (struct sync_part *)pass.parts + blockIdx.x * KERNEL_SYNC_RANGE_PARTS;
    uint4 *clean = (uint4 *)((struct sync_clean *)pass.clean + blockIdx.x);
    uint32_t thread = (uint32_t)sync_thread(), before = KERNEL_SYNC_RUN_UP * KERNEL_SYNC_PIECE_PARTS;
    for (uint32_t i = thread; i < sizeof shared.clean / sizeof *clean; i += KERNEL_SYNC_THREADS) {
        clean[i] = ((const uint4 *)&shared.clean)[i];
    }
    for (uint32_t i = thread; i < KERNEL_SYNC_RANGE_PARTS; i += KERNEL_SYNC_THREADS) {
        struct sync_part part = shared.parts[before + i], none = {};
        parts[i] = part.markers == SYNC_NO_STATE ? none : part;
    }
    if (thread == 0) {
        uint32_t last = (shared.clean.end - 1) / KERNEL_SYNC_PART;
        bool any = shared.clean.end > shared.clean.first;
        range.start = blockIdx.x > 0 ? shared.parts[before - 1].exit & SYNC_PLACE : 0;
        range.exit = any ? shared.parts[last].exit & SYNC_PLACE : 0;
        range.size = shared.clean.end - KERNEL_SYNC_BEFORE;
        range.numbers = shared.numbers;
    }
    __syncthreads();
}

static __device__ __forceinline__ void sync_read_range(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    uint32_t numbers = sync_clean_range(pass, shared.clean, shared.sums);
    if (numbers) {
        atomicOr(&shared.numbers, numbers);
    }
    sync_settle(pass, shared);
    sync_store(pass);
    sync_sum_range(pass, blockIdx.x);
}

/* ---- all ranges ---- */

/* Reads a range again up to the part behind which the states agree. False when that takes too long. */
static __device__ __noinline__ bool sync_again(const struct sync_pass &pass, uint32_t number, uint32_t from,
                                               int &retries) {
    const struct sync_clean &clean = ((const struct sync_clean *)pass.clean)[number];
    struct sync_range &range = ((struct sync_range *)pass.ranges)[number];
    struct sync_part *parts = (struct sync_part *)pass.parts + number * KERNEL_SYNC_RANGE_PARTS;
    uint32_t count = (range.size + KERNEL_SYNC_PART - 1) / KERNEL_SYNC_PART;
    const struct sync_source source = {clean, sync_memory().tables, *(const struct sync_tables *)pass.tables};
    struct sync_ignore ignore;
    range.start = from;
    range.markers = SYNC_CHANGED;
    for (uint32_t i = 0; i < count; i++) {
        if (--retries < 0) {
            return false;
        }
        struct sync_part part =
            sync_read<true>(source, KERNEL_SYNC_RUN_UP * KERNEL_SYNC_PIECE_PARTS + i, from, 0, ignore);
        from = part.exit & SYNC_PLACE;
        bool met = from == (parts[i].exit & SYNC_PLACE);
        parts[i] = part;
        if (met) {
            return true;
        }
    }
    range.exit = from;
    return true;
}

/* Repeats until every range begins where the range before it ends. False when that takes too long. */
static __device__ __forceinline__ bool sync_join(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    const struct sync_range *ranges = (const struct sync_range *)pass.ranges;
    int retries = KERNEL_SYNC_RETRIES;
    bool any = true, changed = false;
    for (uint32_t round = 0; any && shared.flag; round++) {
        for (uint32_t first = 1; first < pass.count; first += KERNEL_SYNC_THREADS) {
            uint32_t range = first + (uint32_t)sync_thread();
            uint32_t from = range < pass.count ? ranges[range - 1].exit : 0;
            __syncthreads();
            if (range < pass.count && from != ranges[range].start) {
                shared.listed[round % 3] = 1;
                if (!sync_again(pass, range, from, retries)) {
                    shared.flag = 0;
                }
            }
            __syncthreads();
        }
        any = shared.listed[round % 3] != 0;
        changed = changed || any;
        if (sync_thread() == 0) {
            shared.listed[(round + 2) % 3] = 0; /* all have read it */
        }
        __syncthreads();
    }
    for (uint32_t range = 1; changed && range < pass.count; range++) {
        if (ranges[range].markers == SYNC_CHANGED) { /* the same for all threads */
            sync_sum_range(pass, range);
        }
    }
    return shared.flag != 0;
}

/* Tells whether the markers of a range have their numbers and are in their places. */
static __device__ __forceinline__ bool sync_in_step(const struct sync_tables &tables,
                                                    const struct sync_range &range, uint32_t blocks,
                                                    uint32_t markers) {
    bool expected = tables.interval != 0 && range.numbers == 1u << markers % SYNC_RESTARTS;
    return (range.numbers == 0 || expected) &&
           (range.markers == 0 ||
            (range.markers < SYNC_BAD && blocks == range.first + markers * tables.interval));
}

/* Writes the blocks before each range and checks markers and totals. Each thread has `each` ranges. */
static __device__ __forceinline__ bool sync_sum(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    struct sync_range *ranges = (struct sync_range *)pass.ranges;
    const uint8_t *bytes = (const uint8_t *)pass.bytes;
    uint32_t thread = (uint32_t)sync_thread();
    uint32_t each = (pass.count + KERNEL_SYNC_THREADS - 1) / KERNEL_SYNC_THREADS;
    uint32_t first = min(thread * each, pass.count), end = min(first + each, pass.count);
    uint32_t blocks = 0, markers = 0;
    for (uint32_t i = first; i < end; i++) {
        blocks += ranges[i].blocks;
        markers += ranges[i].markers & ~SYNC_BAD;
    }
    blocks = sync_prefix(blocks, shared.sums);
    markers = sync_prefix(markers, shared.sums);
    bool good = true;
    for (uint32_t i = first; i < end; i++) {
        ranges[i].before = blocks;
        good = good && sync_in_step(shared.tables, ranges[i], blocks, markers);
        blocks += ranges[i].blocks;
        markers += ranges[i].markers & ~SYNC_BAD;
    }
    if (end == pass.count) { /* true for threads without ranges, too; they compute the same */
        bool marked = sync_is_marker(bytes, pass.size - 1) ||
                      (pass.size > 1 && sync_is_marker(bytes, pass.size - 2) && bytes[pass.size - 1] != 0);
        good = good && blocks == shared.tables.blocks && markers == shared.tables.markers &&
               ranges[pass.count - 1].exit == 0 && !marked;
    }
    return good;
}

static __device__ __forceinline__ void sync_judge(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    bool joined = sync_join(pass);
    __syncthreads();
    if (joined && !sync_sum(pass)) {
        shared.flag = 0;
    }
    __syncthreads();
    if (sync_thread() == 0) {
        uint32_t verdict = !joined ? SYNC_UNCERTAIN : shared.flag ? SYNC_INTACT : SYNC_DAMAGED;
        ((struct sync_tables *)pass.tables)->verdict = verdict;
        *(uint32_t *)pass.verdict = verdict;
    }
}

/* The block's share of the memory to fill. */
static __device__ __forceinline__ void sync_fill_zeros(const struct sync_pass &pass, uint64_t share) {
    uint64_t end = min((share + 1) * KERNEL_SYNC_ZEROS, pass.zeros_size);
    uint64_t at = share * KERNEL_SYNC_ZEROS + (uint64_t)sync_thread() * 16;
    for (; at < end; at += KERNEL_SYNC_THREADS * 16) {
        *(uint4 *)(pass.zeros + at) = make_uint4(0, 0, 0, 0);
    }
}

static __device__ __forceinline__ void sync_scan(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    struct sync_tables *tables = (struct sync_tables *)pass.tables;
    int thread = sync_thread();
    if (blockIdx.x >= pass.count) {
        sync_fill_zeros(pass, blockIdx.x - pass.count);
        return;
    }
    if (blockIdx.x == 0 && thread == 0) {
        stamp_now(pass.marks, KERNEL_DECODING);
    }
    sync_make_tables(pass, shared.tables);
    if (thread == 0) {
        shared.listed[0] = shared.listed[1] = shared.listed[2] = 0;
        shared.numbers = shared.first = shared.wrong = 0;
    }
    __syncthreads();
    sync_read_range(pass);
    __threadfence();
    __syncthreads();
    if (thread == 0) {
        shared.flag = atomicAdd(&tables->finished, 1u) == pass.count - 1;
        shared.listed[0] = shared.listed[1] = shared.listed[2] = 0;
    }
    __syncthreads();
    if (shared.flag) {
        __threadfence();
        sync_judge(pass);
    }
}

#endif
