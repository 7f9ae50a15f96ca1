/* SPDX-License-Identifier: MIT
 * Makes the file of quantised coefficients. */
#ifndef BLURD_GPU_JPEG_ENCODE_WRITE_CUH
#define BLURD_GPU_JPEG_ENCODE_WRITE_CUH

#include "gpu/jpeg/encode_block.cuh"

enum {
    ENCODE_WORD = 32,
    ENCODE_BYTE = 8,
    ENCODE_FULL = 0xff,
    ENCODE_END = 2,                                 /* marker */
    ENCODE_QUADS = KERNEL_THREADS_X / ENCODE_LANES, /* of a warp */
};

/* ---- where quads begin ---- */

/* The number of the thread's quad. Eight threads have a quad, and a block of threads has a range. */
static __device__ __forceinline__ uint32_t encode_own_quad() {
    return blockIdx.x * KERNEL_ENCODE_RANGE + encode_thread() / ENCODE_LANES;
}

static __device__ __forceinline__ uint32_t encode_count_quads(const struct encode_pass &pass) {
    return (pass.count + KERNEL_ENCODE_QUAD - 1) / KERNEL_ENCODE_QUAD;
}

/* The bits of the codes of a quad with so many entries. All threads of the warp call it. */
static __device__ __forceinline__ uint32_t encode_measure_quad(const struct encode_pass &pass, uint32_t quad,
                                                               uint32_t count) {
    const struct encode_tables *tables = (const struct encode_tables *)pass.tables;
    const struct encode_block *blocks = (const struct encode_block *)pass.blocks + quad * KERNEL_ENCODE_QUAD;
    const uint32_t *entries = (const uint32_t *)pass.entries + (uint64_t)quad * KERNEL_ENCODE_QUAD_ENTRIES;
    uint32_t bits = 0;
    for (uint32_t i = threadIdx.x % ENCODE_LANES; i < count; i += ENCODE_LANES) {
        bits += encode_length(encode_codes_of(*tables, blocks, entries[i]));
    }
    for (int distance = 1; distance < ENCODE_LANES; distance *= 2) {
        bits += __shfl_sync(0xffffffffu, bits, (int)threadIdx.x ^ distance);
    }
    return bits;
}

static __device__ __forceinline__ void encode_measure_range(const struct encode_pass &pass) {
    struct encode_sums &sums = *(struct encode_sums *)block_memory;
    struct encode_state *state = (struct encode_state *)pass.state;
    uint64_t *ranges = (uint64_t *)pass.ranges;
    uint32_t quad = encode_own_quad(), total;
    struct encode_quad *own = (struct encode_quad *)pass.quads + quad;
    bool exists = quad < encode_count_quads(pass), first = threadIdx.x % ENCODE_LANES == 0;
    uint32_t bits = encode_measure_quad(pass, quad, exists ? own->entries : 0);
    uint32_t before = encode_sum(sums, first ? bits : 0, total);
    if (exists && first) {
        own->bits = bits;
        own->begin = before;
    }
    if (encode_thread() == 0) {
        ranges[blockIdx.x] = total;
    }
    if (encode_is_last(sums, state->finished[0])) {
        uint64_t all = encode_add_up(sums, ranges, gridDim.x);
        if (encode_thread() == 0) {
            state->bits = all;
        }
    }
}

/* ---- codes ---- */

/* Writes a code into words in which all other bits are 0, as other threads of the warp do. */
static __device__ __forceinline__ void encode_put(uint32_t *words, uint32_t &at, uint32_t bits,
                                                  uint32_t count) {
    uint64_t both = (uint64_t)bits << (2 * ENCODE_WORD - count - at % ENCODE_WORD);
    atomicOr(&words[at / ENCODE_WORD], (uint32_t)(both >> ENCODE_WORD));
    if ((uint32_t)both) {
        atomicOr(&words[at / ENCODE_WORD + 1], (uint32_t)both);
    }
    at += count;
}

static __device__ __forceinline__ void encode_put_codes(uint32_t *words, uint32_t at,
                                                        const struct encode_codes &codes) {
    const uint32_t code = (1u << KERNEL_ENCODE_CODE_BITS) - 1;
    for (uint32_t i = 0; i < codes.zeros; i++) {
        encode_put(words, at, codes.escape & code, codes.escape >> KERNEL_ENCODE_CODE_BITS);
    }
    encode_put(words, at, codes.bits, codes.length);
    if (codes.end) {
        encode_put(words, at, codes.end & code, codes.end >> KERNEL_ENCODE_CODE_BITS);
    }
}

/* Adds `value` over the threads of the quad up to this one. */
static __device__ __forceinline__ uint32_t encode_quad_sum(uint32_t value) {
    for (int distance = 1; distance < ENCODE_LANES; distance *= 2) {
        uint32_t other = __shfl_sync(0xffffffffu, value, (int)threadIdx.x - distance);
        value += (int)threadIdx.x % ENCODE_LANES >= distance ? other : 0;
    }
    return value;
}

/* Writes the codes of `count` entries of the thread's quad into shared words that are 0, from bit `at` on.
 * All threads of the warp call it. */
static __device__ __forceinline__ void encode_write_codes(const struct encode_pass &pass, uint32_t quad,
                                                          uint32_t count, uint32_t at, uint32_t *words) {
    const struct encode_tables *tables = (const struct encode_tables *)pass.tables;
    const struct encode_block *blocks = (const struct encode_block *)pass.blocks + quad * KERNEL_ENCODE_QUAD;
    const uint32_t *entries = (const uint32_t *)pass.entries + (uint64_t)quad * KERNEL_ENCODE_QUAD_ENTRIES;
    for (uint32_t i = threadIdx.x % ENCODE_LANES; __ballot_sync(0xffffffffu, i < count); i += ENCODE_LANES) {
        struct encode_codes codes = {};
        uint32_t length = 0;
        if (i < count) {
            codes = encode_codes_of(*tables, blocks, entries[i]);
            length = encode_length(codes);
        }
        uint32_t sum = encode_quad_sum(length);
        if (i < count) {
            encode_put_codes(words, at + sum - length, codes);
        }
        at += __shfl_sync(0xffffffffu, sum, (int)(threadIdx.x | (ENCODE_LANES - 1)));
    }
}

/* What the threads of a warp have of the quads that they write together. */
struct encode_span {
    struct encode_quad own; /* of the thread; empty if there is none */
    uint64_t begin;         /* bit of the first one */
    uint32_t at;            /* bits from the word with that one to the thread's quad */
    uint32_t padding;       /* bits behind the last one */
    uint32_t end, count;    /* bits from that word on, without padding; words */
};

/* Takes `number` quads of the warp's, from `first` on. Those of the other threads are left out. */
static __device__ __forceinline__ struct encode_span encode_take_span(const struct encode_pass &pass,
                                                                      uint32_t first, uint32_t number) {
    uint32_t quads = encode_count_quads(pass), quad = encode_own_quad();
    uint32_t last = min(first + number, quads) - 1;
    struct encode_span span = {};
    if (quad >= first && quad <= last) {
        span.own = ((const struct encode_quad *)pass.quads)[quad];
    }
    const int first_lane = (int)(first % ENCODE_QUADS * ENCODE_LANES);
    const int last_lane = (int)(last % ENCODE_QUADS * ENCODE_LANES);
    uint32_t begin = __shfl_sync(0xffffffffu, span.own.begin, first_lane);
    span.begin = ((const uint64_t *)pass.ranges)[blockIdx.x] + begin;
    span.at = (uint32_t)(span.begin % ENCODE_WORD) + span.own.begin - begin;
    span.end = __shfl_sync(0xffffffffu, span.at + span.own.bits, last_lane);
    span.padding = last == quads - 1 ? (0 - span.end) % ENCODE_BYTE : 0;
    span.count = (span.end + span.padding + ENCODE_WORD - 1) / ENCODE_WORD;
    return span;
}

/* Writes quads by way of shared words, which have room for them. Adjacent spans share a word, so the first
 * and the last word are written atomically. */
static __device__ __forceinline__ void encode_write_span(const struct encode_pass &pass,
                                                         const struct encode_span &span, uint32_t *words) {
    for (uint32_t i = threadIdx.x; i < span.count; i += KERNEL_THREADS_X) {
        words[i] = 0;
    }
    __syncwarp();
    encode_write_codes(pass, encode_own_quad(), span.own.entries, span.at, words);
    if (span.padding && threadIdx.x == 0) {
        uint32_t end = span.end;
        encode_put(words, end, (1u << span.padding) - 1, span.padding);
    }
    __syncwarp();
    uint32_t *to = (uint32_t *)pass.bits + span.begin / ENCODE_WORD;
    for (uint32_t i = threadIdx.x; i < span.count; i += KERNEL_THREADS_X) {
        uint32_t word = __byte_perm(words[i], 0, 0x0123);
        if (i == 0 || i == span.count - 1) {
            atomicOr(&to[i], word);
        } else {
            to[i] = word;
        }
    }
    __syncwarp(); /* before the next span overwrites the words */
}

/* Each warp writes its quads together if their codes have room, and otherwise one after the other. */
static __device__ __forceinline__ void encode_write_range(const struct encode_pass &pass) {
    struct encode_write_shared &shared = *(struct encode_write_shared *)block_memory;
    const struct encode_state *state = (const struct encode_state *)pass.state;
    uint32_t *words = shared.word[threadIdx.y], quads = encode_count_quads(pass);
    uint32_t first = blockIdx.x * KERNEL_ENCODE_RANGE + threadIdx.y * ENCODE_QUADS;
    if (first >= quads || (state->bits + ENCODE_BYTE - 1) / ENCODE_BYTE > pass.capacity) {
        return;
    }
    struct encode_span span = encode_take_span(pass, first, ENCODE_QUADS);
    if (span.count <= KERNEL_ENCODE_QUAD_WORDS) {
        encode_write_span(pass, span, words);
        return;
    }
    for (uint32_t i = first; i < min(first + ENCODE_QUADS, quads); i++) {
        span = encode_take_span(pass, i, 1);
        if (span.count <= KERNEL_ENCODE_QUAD_WORDS) { /* others have codes that 8-bit samples do not have */
            encode_write_span(pass, span, words);
        }
    }
}

/* ---- stuffing ---- */

/* Bytes of the file's Huffman tables. */
static __device__ __forceinline__ uint32_t encode_segments_size(const struct encode_pass &pass) {
    return ((const struct encode_tables *)pass.tables)->end[pass.components > 1];
}

static __device__ __forceinline__ uint32_t encode_head_size(const struct encode_pass &pass) {
    return pass.head_size + encode_segments_size(pass);
}

/* A byte of the file before the scan. */
static __device__ __forceinline__ uint8_t encode_head_byte(const struct encode_pass &pass, uint32_t at) {
    uint32_t segments = encode_segments_size(pass);
    if (at < pass.frame_size) {
        return pass.head[at];
    }
    at -= pass.frame_size;
    return at < segments ? ((const struct encode_tables *)pass.tables)->segments[at]
                         : pass.head[pass.frame_size + at - segments];
}

/* A thread's part of a chunk. */
struct encode_part {
    uint2 words;
    uint32_t size, full; /* number of bytes in the file; how many of them are 0xff */
};

static __device__ __forceinline__ uint32_t encode_byte(const struct encode_part &part, int i) {
    return (i < 4 ? part.words.x : part.words.y) >> ENCODE_BYTE * (i & 3) & ENCODE_FULL;
}

static __device__ __forceinline__ struct encode_part encode_part_of(const struct encode_pass &pass,
                                                                    uint64_t chunk, uint64_t bytes) {
    uint64_t at = chunk * KERNEL_ENCODE_CHUNK + encode_thread() * KERNEL_ENCODE_PART;
    struct encode_part part = {};
    if (at >= bytes) {
        return part;
    }
    part.words = *(const uint2 *)(pass.bits + at);
    part.size = (uint32_t)min(bytes - at, (uint64_t)KERNEL_ENCODE_PART);
#pragma unroll
    for (int i = 0; i < KERNEL_ENCODE_PART; i++) {
        part.full += (uint32_t)i < part.size && encode_byte(part, i) == ENCODE_FULL;
    }
    return part;
}

static __device__ __forceinline__ void encode_count_chunks(const struct encode_pass &pass) {
    struct encode_sums &sums = *(struct encode_sums *)block_memory;
    struct encode_state *state = (struct encode_state *)pass.state;
    uint64_t *chunks = (uint64_t *)pass.chunks, full = 0;
    uint64_t bytes = (state->bits + ENCODE_BYTE - 1) / ENCODE_BYTE;
    bool fits = bytes <= pass.capacity;
    uint32_t count = fits ? (uint32_t)((bytes + KERNEL_ENCODE_CHUNK - 1) / KERNEL_ENCODE_CHUNK) : 0;
    for (uint32_t chunk = blockIdx.x; chunk < count; chunk += gridDim.x) {
        uint32_t total;
        encode_sum(sums, encode_part_of(pass, chunk, bytes).full, total);
        if (encode_thread() == 0) {
            chunks[chunk] = total;
        }
    }
    if (encode_is_last(sums, state->finished[1])) {
        full = encode_add_up(sums, chunks, count);
        if (encode_thread() == 0) {
            state->size = encode_head_size(pass) + bytes + full + ENCODE_END;
            ((volatile struct encode_outcome *)pass.outcome)->size = state->size;
        }
    }
}

/* Copies from shared memory, which has the same alignment as `to`. */
static __device__ __forceinline__ void encode_copy(uint8_t *to, const uint8_t *from, uint32_t size) {
    uint32_t edge = min((uint32_t)(0 - (uint64_t)to) % KERNEL_ENCODE_VECTOR, size);
    uint32_t vectors = (size - edge) / KERNEL_ENCODE_VECTOR, rest = edge + vectors * KERNEL_ENCODE_VECTOR;
    uint32_t thread = encode_thread();
    if (thread < edge) {
        to[thread] = from[thread];
    }
    for (uint32_t i = thread; i < vectors; i += KERNEL_ENCODE_THREADS) {
        ((uint4 *)(to + edge))[i] = ((const uint4 *)(from + edge))[i];
    }
    if (thread < size - rest) {
        to[rest + thread] = from[rest + thread];
    }
}

static __device__ __forceinline__ void encode_stuff_chunk(const struct encode_pass &pass,
                                                          struct encode_stuff_shared &shared, uint32_t chunk,
                                                          uint64_t bytes) {
    struct encode_part part = encode_part_of(pass, chunk, bytes);
    uint32_t thread = encode_thread(), full;
    uint32_t at = thread * KERNEL_ENCODE_PART + encode_sum(shared.sums, part.full, full);
    uint64_t begin = (uint64_t)chunk * KERNEL_ENCODE_CHUNK;
    uint8_t *to =
        (uint8_t *)pass.output + encode_head_size(pass) + begin + ((const uint64_t *)pass.chunks)[chunk];
    uint8_t *from = shared.bytes + (uint64_t)to % KERNEL_ENCODE_VECTOR;
    for (int i = 0; i < KERNEL_ENCODE_PART; i++) {
        if ((uint32_t)i < part.size) {
            uint32_t byte = encode_byte(part, i);
            from[at++] = (uint8_t)byte;
            if (byte == ENCODE_FULL) {
                from[at++] = 0;
            }
        }
    }
    __syncthreads();
    encode_copy(to, from, (uint32_t)min(bytes - begin, (uint64_t)KERNEL_ENCODE_CHUNK) + full);
    __syncthreads();
}

static __device__ __forceinline__ void encode_stuff_chunks(const struct encode_pass &pass) {
    struct encode_stuff_shared &shared = *(struct encode_stuff_shared *)block_memory;
    const struct encode_state *state = (const struct encode_state *)pass.state;
    uint64_t bytes = (state->bits + ENCODE_BYTE - 1) / ENCODE_BYTE;
    uint8_t *output = (uint8_t *)pass.output;
    if (state->size > pass.room) {
        return;
    }
    for (uint32_t chunk = blockIdx.x; (uint64_t)chunk * KERNEL_ENCODE_CHUNK < bytes; chunk += gridDim.x) {
        encode_stuff_chunk(pass, shared, chunk, bytes);
    }
    if ((bytes - 1) / KERNEL_ENCODE_CHUNK % gridDim.x == blockIdx.x && encode_thread() == 0) {
        stamp_now(pass.marks, KERNEL_ENCODED); /* blocks end about in their order */
    }
    if (blockIdx.x == 0) {
        for (uint32_t i = encode_thread(); i < encode_head_size(pass); i += KERNEL_ENCODE_THREADS) {
            output[i] = encode_head_byte(pass, i);
        }
        if (encode_thread() < ENCODE_END) {
            output[state->size - ENCODE_END + encode_thread()] = encode_thread() == 0 ? ENCODE_FULL : 0xd9;
        }
    }
}

#endif
