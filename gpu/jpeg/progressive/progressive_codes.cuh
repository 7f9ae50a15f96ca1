/* SPDX-License-Identifier: MIT
 * Tables to look codes up in, which each warp makes for its scan. An entry is for a code of up to 9 bits, and
 * says what to do; rare cases have a flag that is larger than any count of bits. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_CODES_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_CODES_CUH

#include "gpu/jpeg/progressive/progressive_bits.cuh"

enum {
    PROGRESSIVE_END =
        1 << 30, /* the band ends: bits of the code, and 256 times those of the number of blocks */
    PROGRESSIVE_LONG = 1 << 29, /* a longer code, or none */
    PROGRESSIVE_BAD = 1 << 28,  /* a symbol that may not be */
    PROGRESSIVE_SKIP = 1 << 27, /* 16 zeros: bits of the code */
    PROGRESSIVE_BITS = 31,      /* the code's, in those with a flag */
    PROGRESSIVE_RUN_SHIFT = 8,  /* of the bits of the number of blocks */
    PROGRESSIVE_ZERO_RUN = 15,
};

/* A code and its symbol; no bits: there is none. */
struct progressive_code {
    uint32_t symbol, bits;
};

/* Finds a code of any length at the top of the bits; lane n looks for one of n bits. */
static __device__ __forceinline__ struct progressive_code
progressive_find(const struct progressive_codes &codes, uint32_t bits) {
    uint32_t length = min(max(threadIdx.x, 1u), (uint32_t)KERNEL_PROGRESSIVE_CODE);
    uint32_t found = __ballot_sync(~0u, (bits >> 16) < codes.limit[length]) & ~1u;
    struct progressive_code code = {0, 0};
    if (found & ((2u << KERNEL_PROGRESSIVE_CODE) - 1)) {
        code.bits = (uint32_t)__ffs((int)found) - 1;
        code.symbol = codes.symbol[(int32_t)(bits >> (32 - code.bits)) + codes.first[code.bits]];
    }
    return code;
}

/* The flags of a symbol without a value. */
static __device__ __forceinline__ uint32_t progressive_flag(struct progressive_code code) {
    uint32_t run = code.symbol >> 4;
    return run < PROGRESSIVE_ZERO_RUN ? PROGRESSIVE_END | run << PROGRESSIVE_RUN_SHIFT | code.bits
                                      : PROGRESSIVE_SKIP | code.bits;
}

/* Of a first scan of AC: x is the bits of code and value, or a flag; y is the bits of the value, and 16 times
 * the run. */
static __device__ __forceinline__ uint2 progressive_entry(struct progressive_code code, uint32_t low) {
    uint32_t run = code.symbol >> 4, size = code.symbol & 15;
    if (size == 0) {
        return make_uint2(progressive_flag(code), 0);
    }
    return size + low <= KERNEL_PROGRESSIVE_VALUE_BITS ? make_uint2(code.bits + size, size | run << 4)
                                                       : make_uint2(PROGRESSIVE_BAD, 0);
}

/* The code of up to 9 bits that they begin with. */
static __device__ __forceinline__ struct progressive_code
progressive_short(const struct progressive_codes &codes, uint32_t bits) {
    struct progressive_code code = {0, 1};
    while (code.bits <= KERNEL_PROGRESSIVE_LOOK &&
           bits << (KERNEL_PROGRESSIVE_CODE - KERNEL_PROGRESSIVE_LOOK) >= codes.limit[code.bits]) {
        code.bits++;
    }
    if (code.bits <= KERNEL_PROGRESSIVE_LOOK) {
        uint32_t number = bits >> (KERNEL_PROGRESSIVE_LOOK - code.bits);
        code.symbol = codes.symbol[(int32_t)number + codes.first[code.bits]];
    }
    return code;
}

/* Makes a table of AC codes. */
static __device__ __forceinline__ void
progressive_make_look(uint32_t look, const struct progressive_codes &codes, uint32_t low) {
    __syncwarp();
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < KERNEL_PROGRESSIVE_LOOKS; i += KERNEL_THREADS_X) {
        const struct progressive_code code = progressive_short(codes, i);
        bool found = code.bits <= KERNEL_PROGRESSIVE_LOOK;
        shared_store_pair(look + i * 8,
                          found ? progressive_entry(code, low) : make_uint2(PROGRESSIVE_LONG, 0));
    }
    __syncwarp();
}

/* Makes a table of DC codes: 4 bytes each, the bits of code and value and 256 times those of the value; 0 for
 * longer and bad ones. */
static __device__ __forceinline__ void progressive_make_dc(uint32_t look,
                                                           const struct progressive_codes &codes) {
    __syncwarp();
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < KERNEL_PROGRESSIVE_LOOKS; i += KERNEL_THREADS_X) {
        const struct progressive_code code = progressive_short(codes, i);
        bool good = code.bits <= KERNEL_PROGRESSIVE_LOOK && code.symbol <= KERNEL_PROGRESSIVE_VALUE_BITS;
        shared_store(look + i * 4, good ? (code.bits + code.symbol) | code.symbol << 8 : 0);
    }
    __syncwarp();
}

/* The entry of a table of AC codes, which begins at a multiple of its size, for the next bits. */
static __device__ __forceinline__ uint2 progressive_look(uint32_t look, uint32_t bits) {
    enum { SHIFT = 32 - KERNEL_PROGRESSIVE_LOOK - 3 };
    return shared_load_pair(((bits >> SHIFT) & (KERNEL_PROGRESSIVE_LOOKS - 1) << 3) | look);
}

#endif
