/* SPDX-License-Identifier: MIT
 * Coefficients to samples: eight threads share a block of samples, one for each column and then for each row.
 * The arithmetic is that of libjpeg-turbo's SIMD code (jidctint), bit by bit, also where 16 bits overflow. */
#ifndef BLURD_GPU_JPEG_DECODE_PLANES_CUH
#define BLURD_GPU_JPEG_DECODE_PLANES_CUH

#include "gpu/jpeg/decode_result.cuh"
#include "gpu/stream/grid.cuh"
#include "gpu/stream/stamp.cuh"

enum { DECODE_EACH = 8, DECODE_SHIFT = 13 /* of the factors */ };

static __device__ __forceinline__ int decode_wrap(int value) {
    return (int16_t)(uint16_t)value;
}

static __device__ __forceinline__ int decode_times(int value, int factor) {
    return (int)((uint32_t)value * (uint32_t)factor);
}

static __device__ __forceinline__ int decode_plus(int a, int b) {
    return (int)((uint32_t)a + (uint32_t)b);
}

#ifdef __CUDA_ARCH__
/* Two values of 16 bits, the first in the lower half; others become the nearest one. */
static __device__ __forceinline__ uint32_t decode_saturate(int a, int b) {
    uint32_t both;
    asm("cvt.pack.sat.s16.s32 %0, %1, %2;" : "=r"(both) : "r"(b), "r"(a));
    return both;
}

/* Four samples, the first in the lowest byte. */
static __device__ __forceinline__ uint32_t decode_pack(const int *v) {
    uint32_t upper, all;
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, 0;" : "=r"(upper) : "r"(v[3]), "r"(v[2]));
    asm("cvt.pack.sat.s8.s32.b32 %0, %1, %2, %3;" : "=r"(all) : "r"(v[1]), "r"(v[0]), "r"(upper));
    return all ^ 0x80808080u;
}
#else
static __device__ __forceinline__ uint32_t decode_saturate(int a, int b) {
    uint32_t low = (uint32_t)min(max(a, -32768), 32767), high = (uint32_t)min(max(b, -32768), 32767);
    return (low & 0xffff) | high << 16;
}

static __device__ __forceinline__ uint32_t decode_pack(const int *v) {
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) {
        word |= (uint32_t)(min(max(v[i], -128), 127) + 128) << 8 * i;
    }
    return word;
}
#endif

/* Eight values of 16 bits, after C. Loeffler, A. Ligtenberg and G. Moschytz, "Practical Fast 1-D DCT
 * Algorithms with 11 Multiplications" (ICASSP 1989). The results are rounded, but not saturated. */
static __device__ __forceinline__ void decode_transform(int *v, int shift) {
    int even2 = decode_plus(decode_times(v[2], 4433), decode_times(v[6], 4433 - 15137));
    int even3 = decode_plus(decode_times(v[2], 4433 + 6270), decode_times(v[6], 4433));
    int round = 1 << (shift - 1);
    int even0 = decode_plus(decode_times(decode_wrap(v[0] + v[4]), 1 << DECODE_SHIFT), round);
    int even1 = decode_plus(decode_times(decode_wrap(v[0] - v[4]), 1 << DECODE_SHIFT), round);
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
        v[i] = decode_plus(even[i], odd[3 - i]) >> shift;
        v[7 - i] = decode_plus(even[i], (int)(0u - (uint32_t)odd[3 - i])) >> shift;
    }
}

/* The number in the scan of the block at those coordinates of a plane. */
static __device__ __forceinline__ uint32_t decode_block(const struct decode_planes_pass &pass,
                                                        const struct decode_plane &plane, uint32_t x,
                                                        uint32_t y) {
    uint32_t mcu_x = x * plane.inverse_h >> 16, mcu_y = y * plane.inverse_v >> 16;
    return (mcu_y * pass.mcus_x + mcu_x) * pass.in_mcu + plane.first + (y - mcu_y * plane.v) * plane.h + x -
           mcu_x * plane.h;
}

/* Tells whether `own` is true for one of a block's eight threads. All threads of the warp call it. */
static __device__ __forceinline__ bool decode_any(bool own) {
    return (__ballot_sync(0xffffffffu, own) >> (threadIdx.x & ~7u) & 0xff) != 0;
}

/* What a thread has in all its turns: a column of the blocks of a plane, and then a row of them. */
struct decode_share {
    int component, part; /* which column and row */
    uint4 steps;         /* of quantisation, of the column */
    int16_t *between;    /* shared memory of its block of samples */
};

/* Dequantises and transforms a column of a block. Only the lower halves of products count. */
static __device__ __forceinline__ void decode_column(const struct decode_planes_pass &pass,
                                                     const struct decode_share &share, uint32_t block,
                                                     int *v) {
    const uint4 values =
        ((const uint4 *)pass.from.values)[(uint64_t)block * DECODE_EACH + (uint32_t)share.part];
    const uint32_t value[4] = {values.x, values.y, values.z, values.w};
    const uint32_t step[4] = {share.steps.x, share.steps.y, share.steps.z, share.steps.w};
    uint32_t before = share.part == 0 ? decode_before(pass.from, block, share.component) : 0;
    for (int i = 0; i < 4; i++) {
        v[2 * i] = decode_wrap((int)((value[i] + (i == 0 ? before : 0)) * step[i]));
        v[2 * i + 1] = decode_wrap((int)((value[i] >> 16) * (step[i] >> 16)));
    }
    bool flat = !decode_any((value[0] >> 16 | value[1] | value[2] | value[3]) != 0);
    int dc = v[0];
    decode_transform(v, DECODE_SHIFT - 2);
    if (flat && dc * 4 != decode_wrap(dc * 4)) { /* it wraps instead of being saturated */
        for (int i = 0; i < DECODE_EACH; i++) {
            v[i] = decode_wrap(dc * 4);
        }
    }
}

static __device__ __forceinline__ void decode_unpack(const uint4 &words, int *v) {
    const uint32_t word[4] = {words.x, words.y, words.z, words.w};
    for (int i = 0; i < 4; i++) {
        v[2 * i] = decode_wrap((int)word[i]);
        v[2 * i + 1] = (int)word[i] >> 16;
    }
}

/* Makes the samples of block `at` of the plane. All threads of the warp call it. */
static __device__ __forceinline__ void decode_samples(const struct decode_planes_pass &pass,
                                                      const struct decode_share &share, uint32_t at) {
    const struct decode_plane &plane = pass.plane[share.component];
    bool active = at < plane.blocks;
    at = active ? at : 0;
    uint32_t y = plane.inverse_x ? (uint32_t)((uint64_t)at * plane.inverse_x >> 32) : at;
    y -= y * plane.blocks_x > at ? 1 : 0; /* the rounded-up inverse may give one row too many */
    uint32_t x = at - y * plane.blocks_x;
    int v[DECODE_EACH];
    decode_column(pass, share, decode_block(pass, plane, x, y), v);
    for (int i = 0; i < DECODE_EACH; i += 2) {
        uint32_t both = decode_saturate(v[i], v[i + 1]);
        share.between[i * DECODE_EACH + share.part] = (int16_t)(uint16_t)both;
        share.between[(i + 1) * DECODE_EACH + share.part] = (int16_t)(uint16_t)(both >> 16);
    }
    __syncwarp();
    decode_unpack(*(const uint4 *)(share.between + share.part * DECODE_EACH), v);
    __syncwarp(); /* before the next turn writes there */
    decode_transform(v, DECODE_SHIFT + 2 + 3);
    if (active) {
        uint8_t *to = (uint8_t *)plane.data +
                      (uint64_t)(y * DECODE_EACH + (uint32_t)share.part) * plane.stride + x * DECODE_EACH;
        *(uint2 *)to = make_uint2(decode_pack(v), decode_pack(v + 4));
    }
}

static __device__ __forceinline__ void decode_tile(const struct decode_planes_pass &pass) {
    enum { ROOM = 72 /* 16-bit values per block; padded against bank conflicts */ };
    const struct scan_tables *tables = (const struct scan_tables *)pass.tables;
    int component = 0, thread = (int)(threadIdx.y * KERNEL_THREADS_X + threadIdx.x);
    for (uint32_t i = 1; i < pass.planes; i++) {
        component += blockIdx.x >= pass.plane[i].first_tile;
    }
    if (pass.first && blockIdx.x == 0 && thread == 0) {
        stamp_now(pass.marks, KERNEL_DECODING);
    }
    if (tables->sync.verdict != SYNC_INTACT) {
        return;
    }
    const struct decode_plane &plane = pass.plane[component];
    int part = thread % DECODE_EACH, number = thread / DECODE_EACH;
    const struct decode_share share = {component, part,
                                       ((const uint4 *)tables->decode.steps[component])[part],
                                       (int16_t *)block_memory + number * ROOM};
    uint32_t first = (blockIdx.x - plane.first_tile) * KERNEL_DECODE_TILE;
    uint32_t end = min(first + KERNEL_DECODE_TILE, plane.blocks);
#pragma unroll 1
    for (; first < end; first += KERNEL_DECODE_BLOCKS) {
        decode_samples(pass, share, first + (uint32_t)number);
    }
    if (blockIdx.x == gridDim.x - 1 && thread == 0) {
        stamp_now(pass.marks, KERNEL_DECODED); /* blocks end about in their order */
    }
}

#endif
