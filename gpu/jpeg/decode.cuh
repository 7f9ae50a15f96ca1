/* SPDX-License-Identifier: MIT
 * Decodes a JPEG's scan to samples. gpu/jpeg/huffman_sync.cuh has stored the state at the beginning of each
 * piece of the scan and the number of blocks that end before it.
 *
 * decode_values: each thread reads its piece once more and writes the coefficients. The scan stores DC
 * coefficients as differences. A thread sums up the differences of its piece, a block of threads sums up a
 * range of as many pieces, and the last block to finish sums up the ranges. Each DC coefficient then lacks
 * only the sums before its piece and before its range.
 *
 * decode_planes: eight threads share a block of samples, one for each column and then for each row. The
 * arithmetic is that of libjpeg-turbo's SIMD code (jidctint), bit by bit, also where 16 bits overflow. */
#ifndef BLURD_GPU_JPEG_DECODE_CUH
#define BLURD_GPU_JPEG_DECODE_CUH

#include "gpu/jpeg/huffman_sync.cuh"

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
    for (int distance = 1; distance < KERNEL_SYNC_THREADS; distance *= 2, side ^= 1) {
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
    static_assert(1 << STEPS == KERNEL_SYNC_THREADS, "so many steps are taken");
    return decode_memory().sums[SIDE];
}

/* Replaces the sum of each range by the sum of the ranges before it. */
static __device__ __forceinline__ void decode_sum_ranges(struct decode_sums *ranges) {
    struct decode_sums carry = {};
    int thread = sync_thread();
    for (uint32_t first = 0; first < gridDim.x; first += KERNEL_SYNC_THREADS) {
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
        carry = decode_join(carry, results[KERNEL_SYNC_THREADS - 1]);
        __syncthreads();
    }
}

/* ---- coefficients ---- */

/* The taker of sync_code that writes coefficients. */
struct decode_taker {
    const struct decode_pass &pass;
    const uint8_t *place;
    uint32_t piece, before; /* its number; blocks that end before it */
    uint32_t sum0, sum1, sum2, restarted;

    __device__ __forceinline__ uint32_t add(uint32_t block, uint32_t value) {
        uint32_t at = block % pass.in_mcu;
        if (at < pass.first[0]) {
            return sum0 += value;
        }
        return at < pass.first[1] ? sum1 += value : sum2 += value;
    }

    __device__ __forceinline__ void take(const struct sync_way &way, uint32_t entry) {
        uint32_t bits = entry % (1u << KERNEL_SYNC_VALUE_SHIFT);
        uint32_t size = entry >> KERNEL_SYNC_VALUE_SHIFT & 15;
        if (size == 0 && way.k != 0) {
            return;
        }
        uint32_t block = min(before + way.blocks, pass.blocks - 1);
        uint32_t value = (uint32_t)(way.window >> 32) >> (32 - bits) & ((1u << size) - 1);
        if (size > 0 && value >> (size - 1) == 0) {
            value -= (1u << size) - 1;
        }
        uint32_t k = min(way.k + (entry >> KERNEL_SYNC_STEP_SHIFT) - 1, 63u);
        if (way.k == 0) {
            value = add(block, value);
            ((uint32_t *)pass.owners)[block] = piece << 1 | restarted;
            k = 0;
        }
        ((int16_t *)pass.values)[(uint64_t)block * 64 + place[k]] = (int16_t)(uint16_t)value;
    }

    __device__ __forceinline__ void pause() {
        sum0 = sum1 = sum2 = 0;
        restarted = 1;
    }
};

static __device__ __forceinline__ struct decode_sums decode_piece(const struct decode_pass &pass,
                                                                  uint32_t piece) {
    const struct scan_tables &tables = decode_memory().tables;
    struct sync_state from = {0, 0};
    if (piece > 0) {
        from = ((const struct sync_piece *)pass.sync.pieces)[piece - 1].exit;
    }
    struct decode_taker taker = {
        pass, tables.decode.place, piece, ((const uint32_t *)pass.sync.before)[piece], 0, 0, 0, 0};
    struct sync_way way = sync_from(pass.sync, from, piece);
    while (sync_code(way, tables.sync, taker)) {
    }
    struct decode_sums sums = {{(uint16_t)taker.sum0, (uint16_t)taker.sum1, (uint16_t)taker.sum2},
                               (uint16_t)taker.restarted};
    return sums;
}

static __device__ __forceinline__ void decode_range(const struct decode_pass &pass) {
    struct decode_shared &shared = decode_memory();
    struct decode_sums *sums = (struct decode_sums *)pass.sums, *ranges = sums + pass.sync.count;
    int thread = sync_thread();
    uint32_t piece = blockIdx.x * KERNEL_SYNC_THREADS + (uint32_t)thread;
    struct decode_sums own = {};
    if (piece < pass.sync.count) {
        own = decode_piece(pass, piece);
    }
    own = decode_sum_up(own);
    if (piece < pass.sync.count) {
        struct decode_sums none = {};
        sums[piece] = thread > 0 ? decode_results()[thread - 1] : none;
    }
    if (thread == KERNEL_SYNC_THREADS - 1) {
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
    if (tables->sync.verdict != SYNC_INTACT) {
        return;
    }
    for (uint32_t i = (uint32_t)sync_thread(); i < sizeof *tables / 4; i += KERNEL_SYNC_THREADS) {
        ((uint32_t *)&shared.tables)[i] = ((const uint32_t *)tables)[i];
    }
    __syncthreads();
    decode_range(pass);
}

/* ---- samples ---- */

static __device__ __forceinline__ int decode_wrap(int value) {
    return (int16_t)(uint16_t)value;
}

static __device__ __forceinline__ int decode_times(int value, int factor) {
    return (int)((uint32_t)value * (uint32_t)factor);
}

static __device__ __forceinline__ int decode_plus(int a, int b) {
    return (int)((uint32_t)a + (uint32_t)b);
}

/* Shifts a + b right by `shift` bits, rounds and wraps to 16 bits. */
static __device__ __forceinline__ int decode_scale(int a, int b, int shift) {
    int value = decode_plus(decode_plus(a, b), 1 << (shift - 1)) >> shift;
    return min(max(value, -32768), 32767);
}

/* Eight values of 16 bits, after C. Loeffler, A. Ligtenberg and G. Moschytz, "Practical Fast 1-D DCT
 * Algorithms with 11 Multiplications" (ICASSP 1989); factors are scaled by 2^13. */
static __device__ __forceinline__ void decode_transform(int *v, int shift) {
    int even2 = decode_plus(decode_times(v[2], 4433), decode_times(v[6], 4433 - 15137));
    int even3 = decode_plus(decode_times(v[2], 4433 + 6270), decode_times(v[6], 4433));
    int even0 = decode_times(decode_wrap(v[0] + v[4]), 1 << 13);
    int even1 = decode_times(decode_wrap(v[0] - v[4]), 1 << 13);
    int z3 = decode_wrap(v[7] + v[3]), z4 = decode_wrap(v[5] + v[1]);
    int odd3 = decode_plus(decode_times(z3, 9633 - 16069), decode_times(z4, 9633));
    int odd4 = decode_plus(decode_times(z3, 9633), decode_times(z4, 9633 - 3196));
    int odd[4] = {
        decode_plus(decode_plus(decode_times(v[7], 2446 - 7373), decode_times(v[1], -7373)), odd3),
        decode_plus(decode_plus(decode_times(v[5], 16819 - 20995), decode_times(v[3], -20995)), odd4),
        decode_plus(decode_plus(decode_times(v[5], -20995), decode_times(v[3], 25172 - 20995)), odd3),
        decode_plus(decode_plus(decode_times(v[7], -7373), decode_times(v[1], 12299 - 7373)), odd4)};
    int even[4] = {decode_plus(even0, even3), decode_plus(even1, even2), decode_plus(even1, -even2),
                   decode_plus(even0, -even3)};
    for (int i = 0; i < 4; i++) {
        v[i] = decode_scale(even[i], odd[3 - i], shift);
        v[7 - i] = decode_scale(even[i], (int)(0u - (uint32_t)odd[3 - i]), shift);
    }
}

static __device__ __forceinline__ void decode_unpack(const uint4 &words, int *v) {
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
    for (int i = 0; i < 4; i++) {
        v[2 * i] = decode_wrap((int)word[i]);
        v[2 * i + 1] = decode_wrap((int)(word[i] >> 16));
    }
}

/* The sum of DC differences that the coefficient of a block still lacks. */
static __device__ __forceinline__ int decode_before(const struct decode_planes_pass &pass, uint32_t block,
                                                    int component) {
    const struct decode_sums *sums = (const struct decode_sums *)pass.sums;
    uint32_t owner = ((const uint32_t *)pass.owners)[block];
    uint32_t piece = min(owner >> 1, pass.count - 1);
    if (owner & 1) {
        return 0;
    }
    int before = sums[piece].of[component];
    return before +
           (sums[piece].restarted ? 0 : sums[pass.count + piece / KERNEL_SYNC_THREADS].of[component]);
}

/* The number in the scan of a plane's n-th block. */
static __device__ __forceinline__ uint32_t decode_block(const struct decode_planes_pass &pass,
                                                        const struct decode_plane &plane, uint32_t x,
                                                        uint32_t y) {
    uint32_t mcu = y / plane.v * pass.mcus_x + x / plane.h;
    return mcu * pass.in_mcu + plane.first + y % plane.v * plane.h + x % plane.h;
}

/* Tells whether `own` is true for one of a block's eight threads. All threads of the warp call it. */
static __device__ __forceinline__ bool decode_any(bool own) {
    uint32_t any = own;
    for (int distance = 1; distance < 8; distance *= 2) {
        any |= __shfl_sync(0xffffffffu, any, (int)threadIdx.x ^ distance);
    }
    return any != 0;
}

/* Dequantises and transforms a column of a block. */
static __device__ __forceinline__ void decode_column(const struct decode_planes_pass &pass, int component,
                                                     uint32_t block, int column, int *v) {
    const struct scan_tables *tables = (const struct scan_tables *)pass.tables;
    const uint4 *values = (const uint4 *)pass.values + (uint64_t)block * 8 + column;
    int steps[8];
    decode_unpack(*values, v);
    decode_unpack(((const uint4 *)tables->decode.steps[component])[column], steps);
    if (column == 0) {
        v[0] += decode_before(pass, block, component);
    }
    int all = 0;
    for (int i = 0; i < 8; i++) {
        all |= i > 0 ? v[i] : 0;
        v[i] = decode_wrap(decode_times(v[i], steps[i]));
    }
    bool flat = !decode_any(all != 0);
    int dc = decode_wrap(v[0] * 4);
    decode_transform(v, 13 - 2);
    for (int i = 0; i < 8 && flat; i++) {
        v[i] = dc;
    }
}

static __device__ __forceinline__ uint32_t decode_pack(const int *v) {
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        word |= (uint32_t)(min(max(v[i], -128), 127) + 128) << 8 * i;
    }
    return word;
}

static __device__ __forceinline__ void decode_samples(const struct decode_planes_pass &pass) {
    enum { EACH = 8, ROOM = 72 /* 16-bit values per block; padded against bank conflicts */ };
    int component = 0;
    for (uint32_t i = 1; i < pass.planes; i++) {
        component += blockIdx.x >= pass.plane[i].first_tile;
    }
    const struct decode_plane &plane = pass.plane[component];
    int number = sync_thread() / EACH, part = sync_thread() % EACH;
    uint32_t at = (blockIdx.x - plane.first_tile) * KERNEL_DECODE_BLOCKS + (uint32_t)number;
    bool active = at < plane.blocks;
    uint32_t y = active ? at / plane.blocks_x : 0, x = active ? at - y * plane.blocks_x : 0;
    int16_t *between = (int16_t *)block_memory + number * ROOM;
    int v[EACH];
    if (((const struct scan_tables *)pass.tables)->sync.verdict != SYNC_INTACT) {
        return;
    }
    decode_column(pass, component, decode_block(pass, plane, x, y), part, v);
    for (int i = 0; i < EACH; i++) {
        between[i * EACH + part] = (int16_t)v[i];
    }
    __syncthreads();
    decode_unpack(*(const uint4 *)(between + part * EACH), v);
    decode_transform(v, 13 + 2 + 3);
    if (active) {
        uint8_t *to = (uint8_t *)plane.data + (uint64_t)(y * EACH + (uint32_t)part) * plane.stride + x * EACH;
        *(uint2 *)to = make_uint2(decode_pack(v), decode_pack(v + 4));
    }
}

#endif
