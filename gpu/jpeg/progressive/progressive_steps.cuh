/* SPDX-License-Identifier: MIT
 * The steps of a scan with one bit more of a band of AC coefficients. A code passes over a number of
 * coefficients that are still 0, and ends at one that may become 1 or -1. Behind it there is a bit for each
 * coefficient passed over that is not 0. So the place of the next code depends on the zeros of the block, and
 * the codes are read one after the other: the time of the kernel is that of this chain.
 *
 * A step therefore takes two reads of shared memory and no branch. For each bit of a window of the scan, all
 * lanes have found before what the code that begins there takes. For each zero of some blocks, they have
 * found how many other coefficients are before it in its block, and how many zeros are left. A step only
 * notes where it was; gpu/jpeg/progressive/progressive_records.cuh takes 32 such records at a time. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_STEPS_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_STEPS_CUH

#include "gpu/jpeg/progressive/progressive_warp.cuh"

/* A code: the zeros that it takes, with the one that it ends at; what it is; 4 times the bits of the code and
 * of the new coefficient's sign. */
enum {
    STEP_ZEROS = 63,
    STEP_NEW = 1 << 6, /* the coefficient that it ends at is new, and the last bit its sign */
    STEP_END = 1 << 7, /* it takes all zeros that are left in the block */
    STEP_BITS_SHIFT = 8,
    STEP_BITS = 255,
    STEP_RUN = 1 << 29,  /* the band ends in more blocks than this one; STEP_ZEROS: bits of their number */
    STEP_LONG = 1 << 30, /* the code is longer than the look-up, or there is none */
};
#define STEP_RARE 0x80000000u /* none of the above, or STEP_RUN or STEP_LONG */

/* A zero of a block, or the end of a block whose last coefficient is not one: 4 times the number of other
 * coefficients before it in its block, and how many zeros are left behind it. In a block's last one: how many
 * the next block has. */
enum { ZERO_LEFT_SHIFT = 8, ZERO_LEFT = 127, ZERO_LAST = 128, ZERO_BYTES = 2 };

struct progressive_more {
    struct progressive_bits bits; /* the ring; index: the word in which the window begins */
    uint32_t window;              /* bit of the scan at which the window begins */
    /* Addresses in shared memory: of the steps of all short codes, of those at the bits of the window, of the
     * zeros, the records and the coefficients' places; of 64 bits for each block: the bits of its
     * coefficients that were not 0, and the set of its new ones. */
    uint32_t codes, steps, zeros, records, places, changes, fresh;
    uint32_t from, to; /* as of the scan */
    int32_t plus;      /* a new value, or its negative */
    uint32_t run;      /* blocks without a code */
    uint32_t end;      /* address behind the last zero */
    /* Where the next step begins: the address of its code among the steps, that of the zero behind the last
     * one it took, 4 times the coefficients passed in the block, and the zeros left in it. */
    uint32_t at, zero, passed, left;
    uint32_t count;                          /* records */
    uint32_t old_zero, old_passed, old_left; /* where the first of them began */
};

static __device__ __forceinline__ uint32_t step_of(struct progressive_code code) {
    uint32_t run = code.symbol >> 4, size = code.symbol & 15, bits = code.bits << (STEP_BITS_SHIFT + 2);
    if (size == 1) {
        return (run + 1) | STEP_NEW | (bits + (4 << STEP_BITS_SHIFT));
    }
    if (size > 1) {
        return STEP_RARE;
    }
    return run == PROGRESSIVE_ZERO_RUN ? (run + 1) | bits
           : run == 0                  ? STEP_END | bits
                                       : STEP_RARE | STEP_RUN | bits | run;
}

static __device__ __forceinline__ void steps_make_codes(uint32_t to, const struct progressive_codes &codes) {
    __syncwarp();
#pragma unroll 1
    for (uint32_t i = threadIdx.x; i < KERNEL_PROGRESSIVE_LOOKS; i += KERNEL_THREADS_X) {
        const struct progressive_code code = progressive_short(codes, i);
        shared_store(to + i * 4,
                     code.bits <= KERNEL_PROGRESSIVE_LOOK ? step_of(code) : STEP_RARE | STEP_LONG);
    }
    __syncwarp();
}

/* The 32 bits at a bit of the scan that the ring has. */
static __device__ __forceinline__ uint32_t ring_bits(const struct progressive_bits &bits, uint32_t bit) {
    uint32_t word = bit / 32;
    uint32_t high = shared_load(bits.ring + word % KERNEL_PROGRESSIVE_RING * 4);
    uint32_t low = shared_load(bits.ring + (word + 1) % KERNEL_PROGRESSIVE_RING * 4);
    return __funnelshift_l(low, high, bit);
}

/* The bit of the scan at which the next step begins. */
static __device__ __forceinline__ uint32_t steps_bit(const struct progressive_more &more) {
    return more.window + (more.at - more.steps) / 4;
}

/* Whether the next step is in the window. It may be behind it, or, in damaged data, before it. */
static __device__ __forceinline__ bool steps_has(const struct progressive_more &more) {
    return more.at - more.steps < KERNEL_PROGRESSIVE_WINDOW * 4;
}

/* Lets the window begin at the next step. */
static __device__ __forceinline__ void steps_move(struct progressive_more &more) {
    more.window = steps_bit(more);
    more.at = more.steps;
    more.bits.index = more.window / 32;
    progressive_ready(more.bits);
    const uint32_t lane = threadIdx.x, ring = more.bits.ring;
    uint32_t word = (more.window + lane) / 32, high = shared_load(ring + word % KERNEL_PROGRESSIVE_RING * 4);
    __syncwarp();
#pragma unroll
    for (uint32_t i = 0; i < KERNEL_PROGRESSIVE_WINDOW; i += KERNEL_THREADS_X) {
        uint32_t low = shared_load(ring + ++word % KERNEL_PROGRESSIVE_RING * 4);
        uint32_t next = __funnelshift_l(low, high, more.window + lane) >> (32 - KERNEL_PROGRESSIVE_LOOK);
        shared_store(more.steps + (i + lane) * 4, shared_load(more.codes + next * 4));
        high = low;
    }
    __syncwarp();
}

/* The sum of this lane's value and those of the lanes below. */
static __device__ __forceinline__ uint32_t warp_sum(uint32_t value) {
#pragma unroll
    for (uint32_t i = 1; i < KERNEL_THREADS_X; i *= 2) {
        uint32_t below = __shfl_sync(~0u, value, (int)(threadIdx.x - i));
        value += threadIdx.x >= i ? below : 0;
    }
    return value;
}

/* How many entries this lane's block has in the list of zeros. */
struct progressive_zeros {
    uint32_t filled; /* coefficients of its band that are not 0, which have no entry */
    uint32_t count;  /* entries: its zeros, and its end if that is none */
    uint32_t before; /* entries of the blocks before it */
};

/* Lists the zeros of the blocks of all lanes that take part. `mask` says what is not 0 in the band of this
 * lane's block. */
static __device__ __forceinline__ struct progressive_zeros zeros_list(const struct progressive_more &more,
                                                                      uint64_t mask, bool takes_part) {
    const uint32_t size = more.to - more.from + 1;
    struct progressive_zeros zeros;
    zeros.filled = (uint32_t)__popcll((long long)mask);
    zeros.count = takes_part ? size - zeros.filled + (uint32_t)(mask >> more.to & 1) : 0;
    const uint32_t behind = warp_sum(zeros.count);
    const uint32_t next = __shfl_sync(~0u, zeros.count, (int)(threadIdx.x + 1));
    zeros.before = behind - zeros.count;
    __syncwarp();
    if (takes_part) {
        uint32_t to = more.zeros + zeros.before * ZERO_BYTES, entry = (zeros.count - 1) << ZERO_LEFT_SHIFT;
        uint64_t set = mask >> more.from | (size < 64 ? ~(uint64_t)0 << size : 0);
        for (uint32_t k = 0; k < size; k += 8, set >>= 8) {
#pragma unroll
            for (uint32_t i = 0; i < 8; i++) {
                bool zero = ((uint32_t)set & 1u << i) == 0;
                shared_store_short_if(zero, to, entry);
                to += zero ? ZERO_BYTES : 0;
                entry += zero ? 0u - (1u << ZERO_LEFT_SHIFT) : 4u;
            }
        }
        shared_store_short_if(true, more.zeros + (behind - 1) * ZERO_BYTES,
                              zeros.filled * 4 | (ZERO_LAST | (next & ZERO_LEFT)) << ZERO_LEFT_SHIFT);
    }
    __syncwarp();
    return zeros;
}

/* Takes steps until a rare one, the last zero, or enough records. Returns whether the last step was taken. */
static __device__ __forceinline__ bool steps_take(struct progressive_more &more) {
    bool goes;
    do {
#pragma unroll
        for (uint32_t i = 0; i < KERNEL_PROGRESSIVE_STEPS; i++) {
            uint32_t step = shared_load(more.at);
            uint32_t zero = more.zero + (step & STEP_END ? more.left : step & STEP_ZEROS) * ZERO_BYTES;
            int32_t ahead = (int32_t)(more.at + (step >> STEP_BITS_SHIFT & STEP_BITS) - more.passed);
            compute_now(ahead);
            uint32_t passed = shared_load_byte(zero - 2), left = shared_load_byte(zero - 1);
            goes = (int32_t)step >= 0 && more.zero < more.end && steps_has(more);
            shared_store_if(goes, more.records + more.count * 4,
                            (more.at - more.steps) << 16 | (zero - more.zeros));
            more.count += goes;
            more.at = goes ? (uint32_t)ahead + passed : more.at;
            more.zero = goes ? zero : more.zero;
            more.passed = goes ? (left & ZERO_LAST ? 0 : passed) : more.passed;
            more.left = goes ? left & ZERO_LEFT : more.left;
        }
    } while (goes && more.count <= KERNEL_PROGRESSIVE_RECORDS - KERNEL_PROGRESSIVE_STEPS);
    return goes;
}

#endif
