/* SPDX-License-Identifier: MIT
 * Reads the Huffman codes of a JPEG's scan in parallel, checks the scan and finds where its blocks begin,
 * after A. Weissenberger and B. Schmidt, "Massively Parallel Huffman Decoding on GPUs" (ICPP 2018) and
 * "Accelerating JPEG Decompression on GPUs" (HiPC 2021). Huffman codes synchronise by themselves: a decoder
 * that begins at any bit soon meets the true code boundaries. Each thread reads one piece of the scan from a
 * guessed state and hands the state at the end to the next thread. A thread that receives a different state
 * reads its piece again, until nothing changes. Each block of threads has a range of pieces. The last block
 * to finish joins the ranges in the same way: it reads each range again as far as its states differ. */
#ifndef BLURD_GPU_JPEG_HUFFMAN_SYNC_CUH
#define BLURD_GPU_JPEG_HUFFMAN_SYNC_CUH

#include "gpu/jpeg/jpeg_kernels.h"
#include "gpu/stream/grid.cuh"

enum { SYNC_FILLED = 32 /* bits: more than a code and its value have */, SYNC_WRONG = 1u << 31 };
enum { SYNC_MARKER = 0xff, SYNC_RESTART = 0xd0, SYNC_RESTARTS = 8, SYNC_COEFFICIENTS = 64, SYNC_BYTE = 8 };

struct sync_way {
    const uint8_t *bytes;
    uint32_t size;                   /* of the scan, in bytes */
    uint32_t end;                    /* of the piece, in bytes */
    uint32_t next;                   /* the next byte to read */
    uint64_t window;                 /* bits that were read but not decoded, the next one on top */
    int have, beyond;                /* bits in the window; how many of them lie behind the piece */
    uint32_t block, k;               /* the block in its MCU; the coefficient in its block */
    uint32_t blocks, markers, wrong; /* as in struct sync_piece */
    uint32_t last, number;           /* blocks at the last marker; the marker's number */
};

static __device__ __forceinline__ bool sync_same(const struct sync_state &a, const struct sync_state &b) {
    return a.bit == b.bit && a.place == b.place;
}

static __device__ __forceinline__ int sync_thread() {
    return (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
}

static __device__ __forceinline__ struct sync_shared &sync_memory() {
    return *(struct sync_shared *)block_memory;
}

static __device__ __forceinline__ void sync_take_in(struct sync_way &way, uint32_t word, int bits) {
    way.window |= (uint64_t)word << (2 * SYNC_FILLED - bits - way.have);
    way.have += bits;
}

/* Reads four bytes, at any address. False at a marker, a stuffed byte or the end. */
static __device__ __forceinline__ bool sync_fill_word(struct sync_way &way) {
    if (way.next + 4 > way.size) {
        return false;
    }
    const uint32_t *words = (const uint32_t *)(way.bytes + (way.next & ~3u));
    uint32_t word = __funnelshift_r(words[0], words[1], way.next % 4 * SYNC_BYTE);
    if ((~word - 0x01010101u) & word & 0x80808080u) { /* a byte is 0xff */
        return false;
    }
    sync_take_in(way, __byte_perm(word, 0, 0x0123), 32);
    way.next += 4;
    way.beyond += SYNC_BYTE * min(max((int)(way.next - way.end), 0), 4);
    return true;
}

/* Reads one byte, but not across a marker. */
static __device__ __forceinline__ bool sync_fill_byte(struct sync_way &way) {
    if (way.next >= way.size) {
        return false;
    }
    uint32_t byte = way.bytes[way.next];
    bool stuffed = byte == SYNC_MARKER;
    if (stuffed && (way.next + 1 >= way.size || way.bytes[way.next + 1] != 0)) {
        return false;
    }
    sync_take_in(way, byte, SYNC_BYTE);
    way.beyond += way.next >= way.end ? SYNC_BYTE : 0;
    way.next += stuffed ? 2 : 1;
    return true;
}

static __device__ __forceinline__ void sync_fill(struct sync_way &way) {
    while (way.have <= SYNC_FILLED && (sync_fill_word(way) || sync_fill_byte(way))) {
    }
}

static __device__ __forceinline__ void sync_drop(struct sync_way &way, int bits) {
    way.window <<= bits;
    way.have -= bits;
}

/* The position of the window's first bit in the scan. */
static __device__ __forceinline__ uint32_t sync_bit(const struct sync_way &way) {
    uint32_t at = way.next;
    int have = way.have;
    for (; have > 0; have -= SYNC_BYTE) {
        at--;
        at -= at > 0 && way.bytes[at] == 0 && way.bytes[at - 1] == SYNC_MARKER ? 1 : 0;
    }
    return at * SYNC_BYTE + (uint32_t)-have;
}

static __device__ __forceinline__ uint32_t sync_entry(const struct sync_codes &codes, uint32_t bits) {
    uint32_t entry = codes.look[bits >> KERNEL_SYNC_LONG];
    if (entry) {
        return entry;
    }
    for (int i = 0; i < KERNEL_SYNC_LONG; i++) {
        if (bits < codes.limit[i]) {
            return codes.code[(int)(bits >> (KERNEL_SYNC_LONG - 1 - i)) + codes.first[i]];
        }
    }
    return KERNEL_SYNC_NO_CODE;
}

static __device__ __forceinline__ void sync_restart(struct sync_way &way, const struct sync_tables &tables,
                                                    uint32_t number) {
    bool first = way.markers == 0;
    bool follows =
        first || (way.blocks - way.last == tables.interval && number == (way.number + 1) % SYNC_RESTARTS);
    way.wrong |= !follows || tables.interval == 0;
    way.markers += first ? 1u << 24 | number << 16 | way.blocks : 1u << 24;
    way.last = way.blocks;
    way.number = number;
}

/* Skips the padding and the marker behind the last code. Only bits of 1 pad, and only after a whole MCU. */
static __device__ __forceinline__ void sync_pause(struct sync_way &way, const struct sync_tables &tables) {
    bool padding = way.have < SYNC_BYTE && ~way.window >> 1 >> (63 - way.have) == 0;
    way.wrong |= !padding || way.k != 0 || way.block != 0;
    if (way.next + 1 < way.size) {
        uint32_t number = way.bytes[way.next + 1] - (uint32_t)SYNC_RESTART;
        way.wrong |= number >= SYNC_RESTARTS;
        sync_restart(way, tables, number % SYNC_RESTARTS);
        way.next += 2;
    } else {
        way.wrong |= way.next < way.size;
        way.next = way.size;
    }
    way.window = 0;
    way.have = way.beyond = 0;
    way.k = way.block = 0;
}

static __device__ __forceinline__ void sync_step(struct sync_way &way, const struct sync_tables &tables,
                                                 uint32_t steps) {
    way.k += steps;
    if (way.k >= SYNC_COEFFICIENTS) {
        way.wrong |= way.k > SYNC_COEFFICIENTS && way.k < KERNEL_SYNC_END;
        way.k = 0;
        way.blocks++;
        way.block = way.block + 1 == tables.in_mcu ? 0 : way.block + 1;
    }
}

struct sync_ignore {
    __device__ __forceinline__ void take(const struct sync_way &, uint32_t) {
    }
    __device__ __forceinline__ void pause() {
    }
};

/* Reads a code, or padding and a marker. False behind the piece. `taker` receives the entry of each code. */
template <class Taker>
static __device__ __forceinline__ bool sync_code(struct sync_way &way, const struct sync_tables &tables,
                                                 Taker &taker) {
    sync_fill(way);
    if (way.have == 0 ? way.next >= way.end : way.have <= way.beyond) {
        return false;
    }
    uint32_t table = way.k == 0 ? tables.dc >> way.block & 1 : 2 + (tables.ac >> way.block & 1);
    uint32_t entry = sync_entry(tables.codes[table], (uint32_t)(way.window >> 48));
    int bits = (int)(entry % (1u << KERNEL_SYNC_VALUE_SHIFT));
    if (bits == KERNEL_SYNC_NO_CODE && way.have > SYNC_FILLED) {
        way.wrong = 1; /* the guessed state may be wrong: try the next bit */
        sync_drop(way, 1);
    } else if (bits == KERNEL_SYNC_NO_CODE || bits > way.have) {
        sync_pause(way, tables);
        taker.pause();
    } else {
        taker.take(way, entry);
        sync_drop(way, bits);
        sync_step(way, tables, entry >> KERNEL_SYNC_STEP_SHIFT);
    }
    return true;
}

static __device__ __forceinline__ struct sync_state sync_guess(const struct sync_pass &pass, uint32_t piece) {
    const uint8_t *bytes = (const uint8_t *)pass.bytes;
    uint32_t at = piece * KERNEL_SYNC_PIECE;
    bool split = piece > 0 && bytes[at - 1] == SYNC_MARKER;
    struct sync_state state = {(at + (split ? 1 : 0)) * SYNC_BYTE, 0};
    return state;
}

static __device__ __forceinline__ struct sync_way sync_from(const struct sync_pass &pass,
                                                            const struct sync_state &from, uint32_t piece) {
    struct sync_way way = {};
    way.bytes = (const uint8_t *)pass.bytes;
    way.size = pass.size;
    way.end = min((piece + 1) * KERNEL_SYNC_PIECE, pass.size);
    way.next = from.bit / SYNC_BYTE;
    way.block = from.place >> 8;
    way.k = from.place & 0xff;
    sync_fill(way);
    sync_drop(way, (int)(from.bit % SYNC_BYTE));
    return way;
}

/* Reads a piece. Not inlined, because the kernel calls it in three places. */
static __device__ __noinline__ struct sync_piece sync_through(const struct sync_pass &pass,
                                                              const struct sync_state &from, uint32_t piece) {
    const struct sync_tables &tables = sync_memory().tables;
    struct sync_way way = sync_from(pass, from, piece);
    struct sync_ignore ignore;
    while (sync_code(way, tables, ignore)) {
    }
    struct sync_piece result = {{sync_bit(way), way.block << 8 | way.k},
                                way.blocks | (way.wrong ? (uint32_t)SYNC_WRONG : 0),
                                way.markers};
    return result;
}

/* Tells whether a thread voted in that round. Contains a barrier. */
static __device__ __forceinline__ bool sync_voted(uint32_t round) {
    struct sync_shared &shared = sync_memory();
    __syncthreads();
    bool any = shared.vote[round % 3] != 0;
    if (sync_thread() == 0) {
        shared.vote[(round + 2) % 3] = 0; /* all have read it; it is next used after a barrier */
    }
    return any;
}

static __device__ __forceinline__ void sync_range(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    int thread = sync_thread();
    uint32_t at = blockIdx.x * KERNEL_SYNC_RANGE + (uint32_t)thread - KERNEL_SYNC_RUN_UP;
    bool active = at < pass.count; /* false before the first piece, too: unsigned */
    bool first = thread == 0 || at == 0;
    struct sync_state start = {0, 0};
    struct sync_piece piece = {};
    if (active) {
        start = sync_guess(pass, at);
        piece = sync_through(pass, start, at);
        shared.exit[thread] = piece.exit;
    }
    __syncthreads();
    for (uint32_t round = 0;; round++) {
        struct sync_state from = active && !first ? shared.exit[thread - 1] : start;
        __syncthreads();
        if (!sync_same(from, start)) {
            start = from;
            piece = sync_through(pass, start, at);
            shared.exit[thread] = piece.exit;
            shared.vote[round % 3] = 1;
        }
        if (!sync_voted(round)) {
            break;
        }
    }
    if (active && thread >= KERNEL_SYNC_RUN_UP) {
        ((struct sync_piece *)pass.pieces)[at] = piece;
    }
    if (thread == KERNEL_SYNC_RUN_UP) {
        ((struct sync_state *)pass.starts)[blockIdx.x] = start;
    }
}

/* Reads a range again up to the piece at which the states agree. False when that takes too long. */
static __device__ __forceinline__ bool sync_again(const struct sync_pass &pass, uint32_t range,
                                                  struct sync_state from, int &patience) {
    struct sync_piece *pieces = (struct sync_piece *)pass.pieces;
    uint32_t at = range * KERNEL_SYNC_RANGE, end = min(at + KERNEL_SYNC_RANGE, pass.count);
    for (; at < end; at++) {
        if (--patience < 0) {
            return false;
        }
        struct sync_piece piece = sync_through(pass, from, at);
        bool met = sync_same(piece.exit, pieces[at].exit);
        pieces[at] = piece;
        from = piece.exit;
        if (met) {
            return true;
        }
    }
    return true;
}

/* Repeats until every range begins where the range before it ends. False when that takes too long. */
static __device__ __forceinline__ bool sync_join(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    const struct sync_piece *pieces = (const struct sync_piece *)pass.pieces;
    struct sync_state *starts = (struct sync_state *)pass.starts;
    int patience = KERNEL_SYNC_PATIENCE;
    bool any = true;
    for (uint32_t round = 0; any && shared.flag; round++) {
        for (uint32_t first = 1; first < gridDim.x; first += KERNEL_SYNC_THREADS) {
            uint32_t range = first + (uint32_t)sync_thread();
            bool active = range < gridDim.x;
            struct sync_state from = {0, 0};
            if (active) {
                from = pieces[range * KERNEL_SYNC_RANGE - 1].exit;
            }
            __syncthreads();
            if (active && !sync_same(from, starts[range])) {
                starts[range] = from;
                shared.vote[round % 3] = 1;
                if (!sync_again(pass, range, from, patience)) {
                    shared.flag = 0;
                }
            }
            __syncthreads();
        }
        any = sync_voted(round);
        __syncthreads();
    }
    return shared.flag != 0;
}

/* Tells whether the first marker of a piece is in its place, after that many blocks and markers. */
static __device__ __forceinline__ bool sync_in_step(const struct sync_tables &tables, uint32_t first,
                                                    uint32_t blocks, uint32_t markers) {
    return blocks + (uint64_t)(first & 0xffff) == (markers + (uint64_t)1) * tables.interval &&
           (first >> 16 & 0xff) == markers % SYNC_RESTARTS;
}

/* Writes the blocks before each piece and checks markers and totals. Each thread has `each` pieces. */
static __device__ __forceinline__ bool sync_sum(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    const struct sync_piece *pieces = (const struct sync_piece *)pass.pieces;
    int thread = sync_thread();
    uint32_t each = (pass.count + KERNEL_SYNC_THREADS - 1) / KERNEL_SYNC_THREADS;
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
        wrong |= pieces[i].markers != 0 && !sync_in_step(shared.tables, pieces[i].markers, blocks, markers);
        blocks += pieces[i].blocks & ~(uint32_t)SYNC_WRONG;
        markers += pieces[i].markers >> 24;
    }
    if (end == pass.count) { /* true for threads without pieces, too; they compute the same */
        struct sync_state exit = pieces[pass.count - 1].exit;
        wrong |= blocks != shared.tables.blocks || markers != shared.tables.markers ||
                 exit.bit != pass.size * SYNC_BYTE || exit.place != 0;
    }
    return wrong == 0;
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

static __device__ __forceinline__ void sync_scan(const struct sync_pass &pass) {
    struct sync_shared &shared = sync_memory();
    struct sync_tables *tables = (struct sync_tables *)pass.tables;
    int thread = sync_thread();
    for (uint32_t i = (uint32_t)thread; i < sizeof *tables / 4; i += KERNEL_SYNC_THREADS) {
        ((uint32_t *)&shared.tables)[i] = ((const uint32_t *)tables)[i];
    }
    if (thread < 3) {
        shared.vote[thread] = 0;
    }
    __syncthreads();
    sync_range(pass);
    __threadfence();
    __syncthreads();
    if (thread == 0) {
        shared.flag = atomicAdd(&tables->finished, 1u) == gridDim.x - 1;
        shared.vote[0] = shared.vote[1] = shared.vote[2] = 0;
    }
    __syncthreads();
    if (shared.flag) {
        __threadfence();
        sync_judge(pass);
    }
}

#endif
