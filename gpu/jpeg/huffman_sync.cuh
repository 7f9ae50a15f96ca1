/* SPDX-License-Identifier: MIT
 * The walk over a JPEG's scan, code by code, that says whether it is whole and where blocks begin. In parallel,
 * after A. Weissenberger and B. Schmidt, "Massively Parallel Huffman Decoding on GPUs" (ICPP 2018)
 * and "Accelerating JPEG Decompression on GPUs" (HiPC 2021): Huffman codes synchronise by themselves, so that
 * who begins anywhere is soon on the right way.
 *
 * The scan is cut into pieces, one for each thread, which walks it from a guess and hands the state behind it
 * to the next one; who was given another state than it began with walks again, until nothing changes. Each
 * block does that for its range of pieces. The last one to finish joins the ranges in the same way, walking
 * as far into each as its states differ, and then knows the only way from the first bit to the last one.
 * Every piece tells how many blocks of samples ended in it and whether something was wrong on the way. */
#ifndef BLURD_GPU_JPEG_HUFFMAN_SYNC_CUH
#define BLURD_GPU_JPEG_HUFFMAN_SYNC_CUH

#include "gpu/filters/blur_grid.cuh"
#include "gpu/jpeg/jpeg_kernels.h"

enum { SYNC_FILLED = 32 /* bits, more than a code with its value has */, SYNC_WRONG = 1u << 31 };
enum { SYNC_MARKER = 0xff, SYNC_RESTART = 0xd0, SYNC_RESTARTS = 8, SYNC_COEFFICIENTS = 64, SYNC_BYTE = 8 };

/* A thread's way through its piece. */
struct walk_way {
    const uint8_t *bytes;
    uint32_t size;  /* of the scan */
    uint32_t end;   /* of the piece */
    uint32_t next;  /* byte to be read */
    uint64_t window; /* what has been read, the next bit on top */
    int have, beyond; /* bits in the window; those of them that lie behind the piece */
    uint32_t block, k; /* of the MCU; in the block */
    uint32_t blocks, markers, wrong; /* as of struct walk_piece */
    uint32_t last, number; /* blocks at the last marker; its number */
};

static __device__ __forceinline__ bool walk_same(const struct walk_state &a, const struct walk_state &b) {
    return a.bit == b.bit && a.place == b.place;
}

static __device__ __forceinline__ int walk_thread() {
    return (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
}

static __device__ __forceinline__ struct walk_shared &walk_memory() {
    return *(struct walk_shared *)block_memory;
}

/* ---- bits ---- */

static __device__ __forceinline__ void walk_take_in(struct walk_way &way, uint32_t word, int bits) {
    way.window |= (uint64_t)word << (2 * SYNC_FILLED - bits - way.have);
    way.have += bits;
}

/* Four bytes that may begin anywhere. */
static __device__ __forceinline__ bool walk_fill_word(struct walk_way &way) {
    if (way.next + 4 > way.size) {
        return false;
    }
    const uint32_t *words = (const uint32_t *)(way.bytes + (way.next & ~3u));
    uint32_t word = __funnelshift_r(words[0], words[1], way.next % 4 * SYNC_BYTE);
    if ((~word - 0x01010101u) & word & 0x80808080u) { /* one byte is 0xff */
        return false;
    }
    walk_take_in(way, __byte_perm(word, 0, 0x0123), 32);
    way.next += 4;
    way.beyond += SYNC_BYTE * min(max((int)(way.next - way.end), 0), 4);
    return true;
}

/* Not across a marker. */
static __device__ __forceinline__ bool walk_fill_byte(struct walk_way &way) {
    if (way.next >= way.size) {
        return false;
    }
    uint32_t byte = way.bytes[way.next];
    bool stuffed = byte == SYNC_MARKER;
    if (stuffed && (way.next + 1 >= way.size || way.bytes[way.next + 1] != 0)) {
        return false;
    }
    walk_take_in(way, byte, SYNC_BYTE);
    way.beyond += way.next >= way.end ? SYNC_BYTE : 0;
    way.next += stuffed ? 2 : 1;
    return true;
}

static __device__ __forceinline__ void walk_fill(struct walk_way &way) {
    while (way.have <= SYNC_FILLED && (walk_fill_word(way) || walk_fill_byte(way))) {
    }
}

static __device__ __forceinline__ void walk_drop(struct walk_way &way, int bits) {
    way.window <<= bits;
    way.have -= bits;
}

/* Where the window begins. */
static __device__ __forceinline__ uint32_t walk_bit(const struct walk_way &way) {
    uint32_t at = way.next;
    int have = way.have;
    for (; have > 0; have -= SYNC_BYTE) {
        at--;
        at -= at > 0 && way.bytes[at] == 0 && way.bytes[at - 1] == SYNC_MARKER ? 1 : 0;
    }
    return at * SYNC_BYTE + (uint32_t)-have;
}

/* ---- codes ---- */

/* The entry for the next 16 bits. */
static __device__ __forceinline__ uint32_t walk_entry(const struct walk_codes &codes, uint32_t bits) {
    uint32_t entry = codes.look[bits >> KERNEL_WALK_LONG];
    if (entry) {
        return entry;
    }
    for (int i = 0; i < KERNEL_WALK_LONG; i++) {
        if (bits < codes.limit[i]) {
            return codes.code[(int)(bits >> (KERNEL_WALK_LONG - 1 - i)) + codes.first[i]];
        }
    }
    return KERNEL_WALK_NO_CODE;
}

static __device__ __forceinline__ void walk_restart(struct walk_way &way, const struct walk_tables &tables,
                                                    uint32_t number) {
    bool first = way.markers == 0;
    bool follows = first || (way.blocks - way.last == tables.interval &&
                             number == (way.number + 1) % SYNC_RESTARTS);
    way.wrong |= !follows || tables.interval == 0;
    way.markers += first ? 1u << 24 | number << 16 | way.blocks : 1u << 24;
    way.last = way.blocks;
    way.number = number;
}

/* No code is left before a marker or the end: there must be nothing but padding, bits of 1, after a whole
 * MCU. */
static __device__ __forceinline__ void walk_pause(struct walk_way &way, const struct walk_tables &tables) {
    bool padding = way.have < SYNC_BYTE && ~way.window >> 1 >> (63 - way.have) == 0;
    way.wrong |= !padding || way.k != 0 || way.block != 0;
    if (way.next + 1 < way.size) {
        uint32_t number = way.bytes[way.next + 1] - (uint32_t)SYNC_RESTART;
        way.wrong |= number >= SYNC_RESTARTS;
        walk_restart(way, tables, number % SYNC_RESTARTS);
        way.next += 2;
    } else {
        way.wrong |= way.next < way.size;
        way.next = way.size;
    }
    way.window = 0;
    way.have = way.beyond = 0;
    way.k = way.block = 0;
}

static __device__ __forceinline__ void walk_step(struct walk_way &way, const struct walk_tables &tables,
                                                 uint32_t steps) {
    way.k += steps;
    if (way.k >= SYNC_COEFFICIENTS) {
        way.wrong |= way.k > SYNC_COEFFICIENTS && way.k < KERNEL_WALK_END;
        way.k = 0;
        way.blocks++;
        way.block = way.block + 1 == tables.in_mcu ? 0 : way.block + 1;
    }
}

/* What becomes of the values on the way: nothing, for whoever only walks. */
struct walk_blindly {
    __device__ __forceinline__ void take(const struct walk_way &, uint32_t) {
    }
    __device__ __forceinline__ void pause() {
    }
};

/* One code, or what stands in its place. False behind the piece. `taker` is given the entry of each code that
 * the window begins with. */
template <class Taker>
static __device__ __forceinline__ bool walk_code(struct walk_way &way, const struct walk_tables &tables,
                                                 Taker &taker) {
    walk_fill(way);
    if (way.have == 0 ? way.next >= way.end : way.have <= way.beyond) {
        return false;
    }
    uint32_t table = way.k == 0 ? tables.dc >> way.block & 1 : 2 + (tables.ac >> way.block & 1);
    uint32_t entry = walk_entry(tables.codes[table], (uint32_t)(way.window >> 48));
    int bits = (int)(entry % (1u << KERNEL_WALK_VALUE_SHIFT));
    if (bits == KERNEL_WALK_NO_CODE && way.have > SYNC_FILLED) {
        way.wrong = 1; /* and on, for whoever is only looking for the way */
        walk_drop(way, 1);
    } else if (bits == KERNEL_WALK_NO_CODE || bits > way.have) {
        walk_pause(way, tables);
        taker.pause();
    } else {
        taker.take(way, entry);
        walk_drop(way, bits);
        walk_step(way, tables, entry >> KERNEL_WALK_STEP_SHIFT);
    }
    return true;
}

/* ---- a piece ---- */

static __device__ __forceinline__ struct walk_state walk_guess(const struct walk_pass &pass, uint32_t piece) {
    const uint8_t *bytes = (const uint8_t *)pass.bytes;
    uint32_t at = piece * KERNEL_WALK_PIECE;
    bool split = piece > 0 && bytes[at - 1] == SYNC_MARKER;
    struct walk_state state = {(at + (split ? 1 : 0)) * SYNC_BYTE, 0};
    return state;
}

static __device__ __forceinline__ struct walk_way walk_from(const struct walk_pass &pass,
                                                            const struct walk_state &from, uint32_t piece) {
    struct walk_way way = {};
    way.bytes = (const uint8_t *)pass.bytes;
    way.size = pass.size;
    way.end = min((piece + 1) * KERNEL_WALK_PIECE, pass.size);
    way.next = from.bit / SYNC_BYTE;
    way.block = from.place >> 8;
    way.k = from.place & 0xff;
    walk_fill(way);
    walk_drop(way, (int)(from.bit % SYNC_BYTE));
    return way;
}

/* Not inlined: the kernel has three uses of it. */
static __device__ __noinline__ struct walk_piece walk_through(const struct walk_pass &pass,
                                                              const struct walk_state &from, uint32_t piece) {
    const struct walk_tables &tables = walk_memory().tables;
    struct walk_way way = walk_from(pass, from, piece);
    struct walk_blindly nobody;
    while (walk_code(way, tables, nobody)) {
    }
    struct walk_piece result = {{walk_bit(way), way.block << 8 | way.k},
                                way.blocks | (way.wrong ? (uint32_t)SYNC_WRONG : 0),
                                way.markers};
    return result;
}

/* ---- a range ---- */

/* Whether anybody has voted in that round; a barrier. */
static __device__ __forceinline__ bool walk_voted(uint32_t round) {
    struct walk_shared &shared = walk_memory();
    __syncthreads();
    bool any = shared.vote[round % 3] != 0;
    if (walk_thread() == 0) {
        shared.vote[(round + 2) % 3] = 0; /* everybody has read it, and nobody votes there before a barrier */
    }
    return any;
}

static __device__ __forceinline__ void walk_range(const struct walk_pass &pass) {
    struct walk_shared &shared = walk_memory();
    int thread = walk_thread();
    uint32_t at = blockIdx.x * KERNEL_WALK_RANGE + (uint32_t)thread - KERNEL_WALK_RUN_UP;
    bool active = at < pass.count; /* those before the first piece are not */
    bool first = thread == 0 || at == 0;
    struct walk_state start = {0, 0};
    struct walk_piece piece = {};
    if (active) {
        start = walk_guess(pass, at);
        piece = walk_through(pass, start, at);
        shared.exit[thread] = piece.exit;
    }
    __syncthreads();
    for (uint32_t round = 0;; round++) {
        struct walk_state from = active && !first ? shared.exit[thread - 1] : start;
        __syncthreads();
        if (!walk_same(from, start)) {
            start = from;
            piece = walk_through(pass, start, at);
            shared.exit[thread] = piece.exit;
            shared.vote[round % 3] = 1;
        }
        if (!walk_voted(round)) {
            break;
        }
    }
    if (active && thread >= KERNEL_WALK_RUN_UP) {
        ((struct walk_piece *)pass.pieces)[at] = piece;
    }
    if (thread == KERNEL_WALK_RUN_UP) {
        ((struct walk_state *)pass.starts)[blockIdx.x] = start;
    }
}

/* ---- the scan ---- */

/* From the range's first piece to where the states meet; false when that takes too long. */
static __device__ __forceinline__ bool walk_again(const struct walk_pass &pass, uint32_t range,
                                                  struct walk_state from, int &patience) {
    struct walk_piece *pieces = (struct walk_piece *)pass.pieces;
    uint32_t at = range * KERNEL_WALK_RANGE, end = min(at + KERNEL_WALK_RANGE, pass.count);
    for (; at < end; at++) {
        if (--patience < 0) {
            return false;
        }
        struct walk_piece piece = walk_through(pass, from, at);
        bool met = walk_same(piece.exit, pieces[at].exit);
        pieces[at] = piece;
        from = piece.exit;
        if (met) {
            return true;
        }
    }
    return true;
}

/* Until every range begins where the one before it ends. False: who knows. */
static __device__ __forceinline__ bool walk_join(const struct walk_pass &pass) {
    struct walk_shared &shared = walk_memory();
    const struct walk_piece *pieces = (const struct walk_piece *)pass.pieces;
    struct walk_state *starts = (struct walk_state *)pass.starts;
    int patience = KERNEL_WALK_PATIENCE;
    bool any = true;
    for (uint32_t round = 0; any && shared.flag; round++) {
        for (uint32_t first = 1; first < gridDim.x; first += KERNEL_WALK_THREADS) {
            uint32_t range = first + (uint32_t)walk_thread();
            bool active = range < gridDim.x;
            struct walk_state from = {0, 0};
            if (active) {
                from = pieces[range * KERNEL_WALK_RANGE - 1].exit;
            }
            __syncthreads();
            if (active && !walk_same(from, starts[range])) {
                starts[range] = from;
                shared.vote[round % 3] = 1;
                if (!walk_again(pass, range, from, patience)) {
                    shared.flag = 0;
                }
            }
            __syncthreads();
        }
        any = walk_voted(round);
        __syncthreads();
    }
    return shared.flag != 0;
}

/* The first marker of a piece, with so many blocks and markers before the piece. */
static __device__ __forceinline__ bool walk_in_step(const struct walk_tables &tables, uint32_t first,
                                                    uint32_t blocks, uint32_t markers) {
    return blocks + (uint64_t)(first & 0xffff) == (markers + (uint64_t)1) * tables.interval &&
           (first >> 16 & 0xff) == markers % SYNC_RESTARTS;
}

/* Each thread looks at as many pieces; the totals before them are the sums of the threads before it. */
static __device__ __forceinline__ bool walk_sum(const struct walk_pass &pass) {
    struct walk_shared &shared = walk_memory();
    const struct walk_piece *pieces = (const struct walk_piece *)pass.pieces;
    int thread = walk_thread();
    uint32_t each = (pass.count + KERNEL_WALK_THREADS - 1) / KERNEL_WALK_THREADS;
    uint32_t first = min((uint32_t)thread * each, pass.count), end = min(first + each, pass.count);
    uint32_t blocks = 0, markers = 0, wrong = 0;
    for (uint32_t i = first; i < end; i++) {
        wrong |= pieces[i].blocks & (uint32_t)SYNC_WRONG;
        blocks += pieces[i].blocks & ~(uint32_t)SYNC_WRONG;
        markers += pieces[i].markers >> 24;
    }
    shared.blocks[thread] = blocks;
    shared.markers[thread] = markers;
    __syncthreads();
    blocks = markers = 0;
    for (int i = 0; i < thread; i++) {
        blocks += shared.blocks[i];
        markers += shared.markers[i];
    }
    for (uint32_t i = first; i < end; i++) {
        ((uint32_t *)pass.before)[i] = blocks;
        wrong |= pieces[i].markers != 0 && !walk_in_step(shared.tables, pieces[i].markers, blocks, markers);
        blocks += pieces[i].blocks & ~(uint32_t)SYNC_WRONG;
        markers += pieces[i].markers >> 24;
    }
    if (end == pass.count) { /* those that have none left say the same */
        struct walk_state exit = pieces[pass.count - 1].exit;
        wrong |= blocks != shared.tables.blocks || markers != shared.tables.markers ||
                 exit.bit != pass.size * SYNC_BYTE || exit.place != 0;
    }
    return wrong == 0;
}

static __device__ __forceinline__ void walk_judge(const struct walk_pass &pass) {
    struct walk_shared &shared = walk_memory();
    bool joined = walk_join(pass);
    __syncthreads();
    if (joined && !walk_sum(pass)) {
        shared.flag = 0;
    }
    __syncthreads();
    if (walk_thread() == 0) {
        uint32_t verdict = !joined ? SYNC_UNCERTAIN : shared.flag ? SYNC_WHOLE : SYNC_DAMAGED;
        ((struct walk_tables *)pass.tables)->verdict = verdict;
        *(uint32_t *)pass.verdict = verdict;
    }
}

static __device__ __forceinline__ void walk_scan(const struct walk_pass &pass) {
    struct walk_shared &shared = walk_memory();
    struct walk_tables *tables = (struct walk_tables *)pass.tables;
    int thread = walk_thread();
    for (uint32_t i = (uint32_t)thread; i < sizeof *tables / 4; i += KERNEL_WALK_THREADS) {
        ((uint32_t *)&shared.tables)[i] = ((const uint32_t *)tables)[i];
    }
    if (thread < 3) {
        shared.vote[thread] = 0;
    }
    __syncthreads();
    walk_range(pass);
    __threadfence();
    __syncthreads();
    if (thread == 0) {
        shared.flag = atomicAdd(&tables->finished, 1u) == gridDim.x - 1;
        shared.vote[0] = shared.vote[1] = shared.vote[2] = 0;
    }
    __syncthreads();
    if (shared.flag) {
        __threadfence();
        walk_judge(pass);
    }
}

#endif
