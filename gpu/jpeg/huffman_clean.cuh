/* SPDX-License-Identifier: MIT
 * Removes stuffing and markers from a range of a JPEG's scan, so that a position of a decoder is a number of
 * bits. A byte 0xff is followed by 0, and then counts as one byte in the place of the 0, or by the number of
 * a restart marker. Anything else behind it is damage.
 *
 * Bytes of the result count from the beginning of the run-up's room: those of the run-up end, and those of
 * the range begin, at KERNEL_SYNC_BEFORE. Some bytes of the next range follow, since a code may end there. */
#ifndef BLURD_GPU_JPEG_HUFFMAN_CLEAN_CUH
#define BLURD_GPU_JPEG_HUFFMAN_CLEAN_CUH

#include "gpu/jpeg/jpeg_kernels.h"
#include "gpu/stream/grid.cuh"

enum { SYNC_MARKER = 0xff, SYNC_RESTART = 0xd0, SYNC_RESTARTS = 8, SYNC_BYTE = 8, SYNC_WARP = 32 };

#define SYNC_BAD (1u << 31)

static __device__ __forceinline__ int sync_thread() {
    return (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
}

/* The sum of the values of all threads before this one. `sums` has a word for each warp. Contains barriers.
 */
static __device__ __forceinline__ uint32_t sync_prefix(uint32_t value, uint32_t *sums) {
    int lane = (int)threadIdx.x;
    uint32_t sum = value;
    for (int distance = 1; distance < SYNC_WARP; distance *= 2) {
        uint32_t other = __shfl_sync(0xffffffffu, sum, (lane - distance) & (SYNC_WARP - 1));
        sum += lane >= distance ? other : 0;
    }
    if (lane == SYNC_WARP - 1) {
        sums[threadIdx.y] = sum;
    }
    __syncthreads();
    for (unsigned i = 0; i < threadIdx.y; i++) {
        sum += sums[i];
    }
    __syncthreads();
    return sum - value;
}

/* Sets the top bit of each byte that is 0. */
static __device__ __forceinline__ uint32_t sync_zeros(uint32_t word) {
    return ~(((word & 0x7f7f7f7fu) + 0x7f7f7f7fu) | word) & 0x80808080u;
}

static __device__ __forceinline__ bool sync_is_marker(const uint8_t *bytes, uint32_t at) {
    return bytes[at] == SYNC_MARKER;
}

/* Counts the bytes of the result, and << 16 the markers, of bytes `from` to `end`. */
static __device__ __forceinline__ uint32_t sync_count(const uint8_t *bytes, uint32_t from, uint32_t end) {
    uint32_t carry = from > 0 && from < end && sync_is_marker(bytes, from - 1) ? 0x80 : 0, count = 0;
    for (uint32_t at = from; at < end; at += 16) {
        const uint4 four = *(const uint4 *)(bytes + at);
        const uint32_t words[4] = {four.x, four.y, four.z, four.w};
        for (uint32_t i = 0; i < 4; i++) {
            uint32_t left = end - at > 4 * i ? min(end - at - 4 * i, 4u) : 0;
            uint32_t valid = (uint32_t)(0x80808080ull >> (SYNC_BYTE * (4 - left)) & 0x80808080u);
            uint32_t marker = sync_zeros(~words[i]), behind = marker << SYNC_BYTE | carry;
            uint32_t foreign = behind & ~sync_zeros(words[i]);
            carry = marker >> 24;
            count += left - (uint32_t)__popc((foreign | (marker & ~behind)) & valid);
            count += (uint32_t)__popc(foreign & valid) << 16;
        }
    }
    return count;
}

struct sync_cleaner {
    uint32_t *words, *marks;
    uint32_t first;   /* byte of the result that is this thread's */
    uint32_t at;      /* the next byte of the result */
    uint32_t held;    /* the bytes before it, as far as their word is not complete */
    uint32_t marker;  /* markers before it in the range */
    uint32_t numbers; /* as in struct sync_range */
    bool escaped;     /* the byte before was 0xff */
};

/* Stores bytes `from` to `end` of a word, of which other threads may store the others. */
static __device__ __forceinline__ void sync_store_word(uint32_t *to, uint32_t word, uint32_t from,
                                                       uint32_t end) {
    if (from == 0 && end == 4) {
        *to = word;
    } else {
#pragma unroll 1
        for (uint32_t i = from; i < end; i++) {
            ((uint8_t *)to)[3 - i] = (uint8_t)(word >> SYNC_BYTE * (3 - i));
        }
    }
}

/* Stores the word before byte `at` of the result, up to there, and for the piece before, too. */
static __device__ __forceinline__ void sync_put_word(const struct sync_cleaner &cleaner, uint32_t word) {
    enum { ROWS = KERNEL_SYNC_PIECE / 4, MORE = KERNEL_SYNC_ROWS - ROWS };
    uint32_t number = (cleaner.at - 1) / 4, row = number % ROWS, piece = number / ROWS;
    uint32_t from = max(cleaner.first, number * 4) - number * 4, end = cleaner.at - number * 4;
    uint32_t *to = cleaner.words + row * KERNEL_SYNC_ROW + piece;
    if (piece < KERNEL_SYNC_THREADS) {
        sync_store_word(to, word, from, end);
    }
    if (row < MORE && piece > 0) {
        sync_store_word(to + ROWS * KERNEL_SYNC_ROW - 1, word, from, end);
    }
}

static __device__ __forceinline__ void sync_put(struct sync_cleaner &cleaner, uint32_t byte) {
    cleaner.held = cleaner.held << SYNC_BYTE | byte;
    cleaner.at++;
    if (cleaner.at % 4 == 0) {
        sync_put_word(cleaner, cleaner.held);
    }
}

/* Stores the bytes of an incomplete word. */
static __device__ __forceinline__ void sync_flush(const struct sync_cleaner &cleaner) {
    if (cleaner.at % 4 > 0 && cleaner.at > cleaner.first) {
        sync_put_word(cleaner, cleaner.held << SYNC_BYTE * (4 - cleaner.at % 4));
    }
}

static __device__ __forceinline__ void sync_mark(struct sync_cleaner &cleaner, uint32_t byte) {
    uint32_t number = byte - SYNC_RESTART, bit = 1u << cleaner.at % 32;
    bool twice = (atomicOr(&cleaner.marks[cleaner.at / 32], bit) & bit) != 0;
    cleaner.numbers |= 1u << (number - cleaner.marker) % SYNC_RESTARTS;
    cleaner.numbers |= number >= SYNC_RESTARTS || twice ? SYNC_BAD : 0;
    cleaner.marker++;
}

static __device__ __forceinline__ void sync_clean_byte(struct sync_cleaner &cleaner, uint32_t byte) {
    bool marker = byte == SYNC_MARKER;
    if (cleaner.escaped && byte != 0) {
        sync_mark(cleaner, byte);
    } else if (cleaner.escaped || !marker) {
        sync_put(cleaner, cleaner.escaped ? (uint32_t)SYNC_MARKER : byte);
    }
    cleaner.escaped = marker;
}

/* The first bytes of a word. Most words have no byte 0xff. */
static __device__ __forceinline__ void sync_clean_word(struct sync_cleaner &cleaner, uint32_t word,
                                                       uint32_t count) {
    if (count < 4 || cleaner.escaped || sync_zeros(~word)) {
#pragma unroll 1
        for (uint32_t i = 0; i < count; i++) {
            sync_clean_byte(cleaner, word >> SYNC_BYTE * i & 0xff);
        }
        return;
    }
    uint32_t bytes = __byte_perm(word, 0, 0x0123), had = cleaner.at % 4;
    uint32_t full = __funnelshift_r(bytes, cleaner.held, SYNC_BYTE * had);
    cleaner.at += 4 - had;
    sync_put_word(cleaner, full);
    cleaner.at += had;
    cleaner.held = bytes;
}

/* `from` is a multiple of 16, or there are no bytes. Not inlined, and without repeated code, since the
 * instructions would not fit into their cache. */
static __device__ __noinline__ void sync_clean_bytes(struct sync_cleaner &to, const uint8_t *bytes,
                                                     uint32_t from, uint32_t end) {
    struct sync_cleaner cleaner = to;
    cleaner.escaped = from > 0 && from < end && sync_is_marker(bytes, from - 1);
    uint4 four = {};
#pragma unroll 1
    for (uint32_t at = from; at < end; at += 4) {
        if (at % 16 == 0) {
            four = *(const uint4 *)(bytes + at);
        }
        sync_clean_word(cleaner, four.x, min(end - at, 4u));
        four.x = four.y;
        four.y = four.z;
        four.z = four.w;
    }
    to = cleaner;
}

/* Tells whether a marker stands where the range begins, so that it belongs to the range before. */
static __device__ __forceinline__ bool sync_begins_marked(const uint8_t *bytes, uint32_t from,
                                                          uint32_t size) {
    bool split = from > 0 && from < size && sync_is_marker(bytes, from - 1);
    uint32_t at = split ? from : from + 1;
    return at < size && (split || sync_is_marker(bytes, from)) && bytes[at] != 0;
}

/* The bytes behind the range, which end with ones if the scan ends there. */
static __device__ __forceinline__ void sync_clean_ahead(struct sync_cleaner &cleaner,
                                                        struct sync_clean &clean, const uint8_t *bytes,
                                                        uint32_t from, uint32_t size) {
    uint32_t end = min(from + KERNEL_SYNC_AHEAD, size);
    clean.end = cleaner.at;
    sync_clean_bytes(cleaner, bytes, min(from, size), end);
    clean.stop = end < size ? KERNEL_SYNC_NEVER : cleaner.at * SYNC_BYTE;
#pragma unroll 1
    for (uint32_t most = cleaner.at + KERNEL_SYNC_AHEAD; end == size && cleaner.at < most;) {
        sync_put(cleaner, SYNC_MARKER);
    }
}

/* Tells which parts of this thread's piece, each with two words behind it, consist of one word that repeats.
 */
static __device__ __forceinline__ void sync_find_uniform(struct sync_clean &clean) {
    enum { ROWS = KERNEL_SYNC_PART / 4 };
    uint32_t thread = (uint32_t)sync_thread(), found = 0, same = 0;
    uint32_t last = clean.words[thread];
#pragma unroll 4
    for (uint32_t row = 1; row < ROWS * KERNEL_SYNC_PIECE_PARTS + 2; row++) {
        uint32_t word = clean.words[row * KERNEL_SYNC_ROW + thread];
        same = word == last ? same + 1 : 0;
        last = word;
        found |= row % ROWS == 1 && row > ROWS && same > ROWS ? 1u << (row / ROWS - 1) : 0;
    }
    if (found) {
        uint32_t part = thread * KERNEL_SYNC_PIECE_PARTS;
        atomicOr(&clean.uniform[part / 32], found << part % 32);
    }
}

/* Cleans the block's range into `clean`. Returns this thread's share of sync_range.numbers. `sums` has a word
 * for each warp and one more. Contains barriers. */
static __device__ __forceinline__ uint32_t sync_clean_range(const struct sync_pass &pass,
                                                            struct sync_clean &clean, uint32_t *sums) {
    const uint8_t *bytes = (const uint8_t *)pass.bytes;
    uint32_t thread = (uint32_t)sync_thread(), base = blockIdx.x * KERNEL_SYNC_RANGE;
    bool own = thread >= KERNEL_SYNC_RUN_UP, any = own || blockIdx.x > 0;
    uint32_t from = any ? min(base + thread * KERNEL_SYNC_PIECE - KERNEL_SYNC_BEFORE, pass.size) : 0;
    uint32_t end = any ? min(from + KERNEL_SYNC_PIECE, pass.size) : 0;
    uint32_t count = sync_count(bytes, from, end);
    uint32_t before = sync_prefix(own ? count : count & 0xffff, sums);
    for (uint32_t i = thread; i < KERNEL_SYNC_MARKS; i += KERNEL_SYNC_THREADS) {
        clean.marks[i] = 0;
    }
    if (thread < KERNEL_SYNC_UNIFORM) {
        clean.uniform[thread] = 0;
    }
    if (thread == KERNEL_SYNC_RUN_UP) {
        clean.first = KERNEL_SYNC_BEFORE - before;
    }
    __syncthreads();
    bool marked = sync_begins_marked(bytes, base, pass.size);
    uint32_t first = clean.first + (before & 0xffff);
    struct sync_cleaner cleaner = {
        clean.words, clean.marks, first, first, 0, (before >> 16) - (marked ? 1u : 0u), 0, false};
    sync_clean_bytes(cleaner, bytes, from, end);
    cleaner.numbers &= own ? ~0u : SYNC_BAD;
    if (thread == KERNEL_SYNC_THREADS - 1) {
        sync_clean_ahead(cleaner, clean, bytes, base + KERNEL_SYNC_RANGE, pass.size);
    }
    sync_flush(cleaner);
    __syncthreads();
    sync_find_uniform(clean);
    __syncthreads();
    return cleaner.numbers | (marked && blockIdx.x == 0 ? SYNC_BAD : 0);
}

#endif
