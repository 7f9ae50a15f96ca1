/* SPDX-License-Identifier: MIT
 * Makes the file of quantised coefficients. */
#ifndef BLURD_GPU_JPEG_ENCODE_WRITE_CUH
#define BLURD_GPU_JPEG_ENCODE_WRITE_CUH

#include "gpu/jpeg/encode_block.cuh"

enum {
    ENCODE_WORD = 32,
    ENCODE_BYTE = 8,
    ENCODE_FULL = 0xff,
    ENCODE_END = 2,                                    /* marker */
    ENCODE_QUADS = KERNEL_ENCODE_RANGE / ENCODE_WARPS, /* that a warp measures */
};

/* ---- where quads begin ---- */

/* The bits of the codes of a quad, whose warp calls it. */
static __device__ __forceinline__ uint32_t encode_measure_quad(const struct encode_pass &pass,
                                                               uint32_t quad) {
    const struct encode_tables *tables = (const struct encode_tables *)pass.tables;
    const struct encode_block *blocks = (const struct encode_block *)pass.blocks + quad * KERNEL_ENCODE_QUAD;
    const uint32_t *entries = (const uint32_t *)pass.entries + (uint64_t)quad * KERNEL_ENCODE_QUAD_ENTRIES;
    uint32_t count = ((const struct encode_quad *)pass.quads)[quad].entries, bits = 0;
    for (uint32_t i = threadIdx.x; i < count; i += KERNEL_THREADS_X) {
        bits += encode_length(encode_codes_of(*tables, blocks, entries[i]));
    }
    for (int distance = 1; distance < KERNEL_THREADS_X; distance *= 2) {
        bits += __shfl_sync(0xffffffffu, bits, (int)threadIdx.x ^ distance);
    }
    return bits;
}

static __device__ __forceinline__ void encode_measure_range(const struct encode_pass &pass) {
    struct encode_sums &sums = *(struct encode_sums *)block_memory;
    struct encode_state *state = (struct encode_state *)pass.state;
    struct encode_quad *quads = (struct encode_quad *)pass.quads;
    uint64_t *ranges = (uint64_t *)pass.ranges;
    uint32_t count = (pass.count + KERNEL_ENCODE_QUAD - 1) / KERNEL_ENCODE_QUAD, total;
    uint32_t first = blockIdx.x * KERNEL_ENCODE_RANGE + threadIdx.y * ENCODE_QUADS, own = 0;
    for (uint32_t i = 0; i < ENCODE_QUADS && first + i < count; i++) {
        uint32_t bits = encode_measure_quad(pass, first + i);
        own = threadIdx.x == i ? bits : own;
    }
    uint32_t before = encode_sum(sums, own, total);
    if (threadIdx.x < ENCODE_QUADS && first + threadIdx.x < count) {
        quads[first + threadIdx.x].bits = own;
        quads[first + threadIdx.x].begin = before;
    }
    if (encode_thread() == 0) {
        ranges[blockIdx.x] = total;
    }
    if (encode_is_last(sums, state->finished[0])) {
        uint64_t bits = encode_add_up(sums, ranges, gridDim.x);
        if (encode_thread() == 0) {
            state->bits = bits;
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

/* Writes the codes of a quad into shared words that are 0, from bit `at` on. */
static __device__ __forceinline__ void encode_write_codes(const struct encode_pass &pass, uint32_t quad,
                                                          uint32_t count, uint32_t at, uint32_t *words) {
    const struct encode_tables *tables = (const struct encode_tables *)pass.tables;
    const struct encode_block *blocks = (const struct encode_block *)pass.blocks + quad * KERNEL_ENCODE_QUAD;
    const uint32_t *entries = (const uint32_t *)pass.entries + (uint64_t)quad * KERNEL_ENCODE_QUAD_ENTRIES;
    for (uint32_t first = 0; first < count; first += KERNEL_THREADS_X) {
        uint32_t i = first + threadIdx.x, length = 0;
        struct encode_codes codes = {};
        if (i < count) {
            codes = encode_codes_of(*tables, blocks, entries[i]);
            length = encode_length(codes);
        }
        uint32_t sum = encode_warp_sum(length);
        if (i < count) {
            encode_put_codes(words, at + sum - length, codes);
        }
        at += __shfl_sync(0xffffffffu, sum, KERNEL_THREADS_X - 1);
    }
}

/* Each warp writes a quad. Adjacent quads share a word, so the first and the last word are written
 * atomically. */
static __device__ __forceinline__ void encode_write_group(const struct encode_pass &pass) {
    struct encode_write_shared &shared = *(struct encode_write_shared *)block_memory;
    const struct encode_state *state = (const struct encode_state *)pass.state;
    uint32_t quad = blockIdx.x * ENCODE_WARPS + threadIdx.y, *words = shared.word[threadIdx.y];
    uint32_t quads = (pass.count + KERNEL_ENCODE_QUAD - 1) / KERNEL_ENCODE_QUAD;
    if (quad >= quads || (state->bits + ENCODE_BYTE - 1) / ENCODE_BYTE > pass.capacity) {
        return;
    }
    const struct encode_quad own = ((const struct encode_quad *)pass.quads)[quad];
    uint64_t begin = ((const uint64_t *)pass.ranges)[quad / KERNEL_ENCODE_RANGE] + own.begin;
    uint32_t lead = (uint32_t)(begin % ENCODE_WORD), end = lead + own.bits;
    uint32_t padding = quad == quads - 1 ? (0 - end) % ENCODE_BYTE : 0;
    uint32_t count = (end + padding + ENCODE_WORD - 1) / ENCODE_WORD;
    if (count > KERNEL_ENCODE_QUAD_WORDS) {
        return; /* codes that 8-bit samples do not have */
    }
    for (uint32_t i = threadIdx.x; i < count; i += KERNEL_THREADS_X) {
        words[i] = 0;
    }
    __syncwarp();
    encode_write_codes(pass, quad, own.entries, lead, words);
    if (padding && threadIdx.x == 0) {
        encode_put(words, end, (1u << padding) - 1, padding);
    }
    __syncwarp();
    uint32_t *to = (uint32_t *)pass.bits + begin / ENCODE_WORD;
    for (uint32_t i = threadIdx.x; i < count; i += KERNEL_THREADS_X) {
        uint32_t word = __byte_perm(words[i], 0, 0x0123);
        if (i == 0 || i == count - 1) {
            atomicOr(&to[i], word);
        } else {
            to[i] = word;
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
