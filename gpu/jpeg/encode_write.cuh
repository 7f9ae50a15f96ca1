/* SPDX-License-Identifier: MIT
 * Makes the file of quantised coefficients. */
#ifndef BLURD_GPU_JPEG_ENCODE_WRITE_CUH
#define BLURD_GPU_JPEG_ENCODE_WRITE_CUH

#include "gpu/jpeg/encode_block.cuh"

enum { ENCODE_WORD = 32, ENCODE_BYTE = 8, ENCODE_FULL = 0xff, ENCODE_END = 2 /* marker */ };

/* A sink that writes bits into shared words. Other threads write other bits of the same words. */
struct encode_pen {
    uint32_t *word;
    uint64_t bits; /* the lowest `have` bits are not written yet */
    uint32_t have;
    __device__ __forceinline__ void put(uint32_t code, uint32_t count) {
        bits = bits << count | code;
        have += count;
        if (have >= ENCODE_WORD) {
            have -= ENCODE_WORD;
            atomicOr(word++, (uint32_t)(bits >> have));
        }
    }
    __device__ __forceinline__ void end() {
        if (have > 0) {
            atomicOr(word, (uint32_t)(bits << (ENCODE_WORD - have)));
        }
    }
};

/* ---- where blocks begin ---- */

static __device__ __forceinline__ void encode_measure_range(const struct encode_pass &pass) {
    struct encode_sums &sums = *(struct encode_sums *)block_memory;
    struct encode_state *state = (struct encode_state *)pass.state;
    const struct encode_tables *tables = (const struct encode_tables *)pass.tables;
    struct encode_block *blocks = (struct encode_block *)pass.blocks;
    uint64_t *ranges = (uint64_t *)pass.ranges;
    uint32_t at = blockIdx.x * KERNEL_ENCODE_RANGE + encode_thread(), total;
    struct encode_meter meter = {0};
    if (at < pass.count) {
        uint32_t table;
        int32_t difference = encode_difference(pass, at, &table);
        meter.bits = blocks[at].bits;
        encode_put_dc(meter, tables->dc[table], difference);
    }
    uint32_t before = encode_sum(sums, meter.bits, total);
    if (at < pass.count) {
        blocks[at].bits = before;
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

/* Writes the threads' codes into shared words and returns their number. Contains barriers. */
static __device__ __forceinline__ uint32_t encode_write_codes(const struct encode_pass &pass,
                                                              struct encode_write_shared &shared,
                                                              uint32_t lead) {
    const struct encode_tables *tables = (const struct encode_tables *)pass.tables;
    uint32_t thread = encode_thread(), block = thread / ENCODE_LANES, lane = thread % ENCODE_LANES;
    uint32_t at = blockIdx.x * KERNEL_ENCODE_GROUP + block, table = 0, total;
    bool active = at < pass.count;
    union encode_lane values = {make_uint4(0, 0, 0, 0)};
    struct encode_meter meter = {0};
    int32_t difference = 0;
    if (active) {
        values.words = ((const uint4 *)pass.coefficients)[(uint64_t)at * ENCODE_LANES + lane];
        difference = encode_difference(pass, at, &table);
    }
    uint64_t filled = encode_filled(shared.filled[block], lane, values);
    if (active && lane == 0) {
        encode_put_dc(meter, tables->dc[table], difference);
    }
    if (active) {
        encode_put_ac(meter, tables->ac[table], lane, values, filled);
    }
    uint32_t begin = lead + encode_sum(shared.sums, meter.bits, total);
    uint32_t padding =
        at == pass.count - 1 && lane == ENCODE_LANES - 1 ? (0 - (begin + meter.bits)) % ENCODE_BYTE : 0;
    uint32_t words = (lead + total + ENCODE_WORD - 1) / ENCODE_WORD;
    for (uint32_t i = thread; i < words; i += KERNEL_ENCODE_THREADS) {
        shared.word[i] = 0;
    }
    __syncthreads();
    struct encode_pen pen = {shared.word + begin / ENCODE_WORD, 0, begin % ENCODE_WORD};
    if (active && lane == 0) {
        encode_put_dc(pen, tables->dc[table], difference);
    }
    if (active) {
        encode_put_ac(pen, tables->ac[table], lane, values, filled);
    }
    pen.put((1u << padding) - 1, padding);
    pen.end();
    __syncthreads();
    return words;
}

/* Adjacent groups share a word, so the first and the last word are written atomically. */
static __device__ __forceinline__ void encode_write_group(const struct encode_pass &pass) {
    struct encode_write_shared &shared = *(struct encode_write_shared *)block_memory;
    const struct encode_state *state = (const struct encode_state *)pass.state;
    if ((state->bits + ENCODE_BYTE - 1) / ENCODE_BYTE > pass.capacity) {
        return;
    }
    uint32_t first = blockIdx.x * KERNEL_ENCODE_GROUP;
    uint64_t begin = ((const uint64_t *)pass.ranges)[first / KERNEL_ENCODE_RANGE] +
                     ((const struct encode_block *)pass.blocks)[first].bits;
    uint32_t words = encode_write_codes(pass, shared, (uint32_t)(begin % ENCODE_WORD));
    uint32_t *to = (uint32_t *)pass.bits + begin / ENCODE_WORD;
    for (uint32_t i = encode_thread(); i < words; i += KERNEL_ENCODE_THREADS) {
        uint32_t word = __byte_perm(shared.word[i], 0, 0x0123);
        if (i == 0 || i == words - 1) {
            atomicOr(&to[i], word);
        } else {
            to[i] = word;
        }
    }
}

/* ---- stuffing ---- */

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
            state->size = pass.head_size + bytes + full + ENCODE_END;
            *(volatile uint64_t *)pass.size = state->size;
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
    uint8_t *to = (uint8_t *)pass.output + pass.head_size + begin + ((const uint64_t *)pass.chunks)[chunk];
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
    if (blockIdx.x == 0) {
        for (uint32_t i = encode_thread(); i < pass.head_size; i += KERNEL_ENCODE_THREADS) {
            output[i] = pass.head[i];
        }
        if (encode_thread() < ENCODE_END) {
            output[state->size - ENCODE_END + encode_thread()] = encode_thread() == 0 ? ENCODE_FULL : 0xd9;
        }
    }
}

#endif
