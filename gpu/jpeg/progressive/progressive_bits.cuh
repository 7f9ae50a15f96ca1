/* SPDX-License-Identifier: MIT
 * The bits of a scan, for a warp whose lanes all read the same. Each code waits for the one before it, so
 * what counts is how long the instructions take between two codes. Addresses of shared memory have 32 bits.
 */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_BITS_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_BITS_CUH

#include "gpu/jpeg/progressive/progressive_kernels.h"
#include "gpu/stream/grid.cuh"

/* ---- shared memory, and shifts by up to 32 and more ---- */

#ifdef __CUDA_ARCH__
static __device__ __forceinline__ uint32_t shared_address(const void *shared) {
    return (uint32_t)__cvta_generic_to_shared(shared);
}

static __device__ __forceinline__ uint2 shared_load_pair(uint32_t from) {
    uint2 value;
    asm volatile("ld.shared.v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "r"(from));
    return value;
}

static __device__ __forceinline__ uint32_t shared_load(uint32_t from) {
    uint32_t value;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(from));
    return value;
}

static __device__ __forceinline__ uint32_t shared_load_byte(uint32_t from) {
    uint32_t value;
    asm volatile("ld.volatile.shared.u8 %0, [%1];" : "=r"(value) : "r"(from));
    return value;
}

static __device__ __forceinline__ void shared_store_pair(uint32_t to, uint2 value) {
    asm volatile("st.shared.v2.u32 [%0], {%1, %2};" ::"r"(to), "r"(value.x), "r"(value.y) : "memory");
}

static __device__ __forceinline__ void shared_store(uint32_t to, uint32_t value) {
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(to), "r"(value) : "memory");
}

/* Stores without a branch, if the condition holds. */
static __device__ __forceinline__ void shared_store_if(bool condition, uint32_t to, uint32_t value) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u32 [%0], %1; }" ::"r"(to), "r"(value),
                 "r"((uint32_t)condition)
                 : "memory");
}

static __device__ __forceinline__ void shared_store_short_if(bool condition, uint32_t to, uint32_t value) {
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %2, 0; @p st.shared.u16 [%0], %1; }" ::"r"(to),
                 "h"((uint16_t)value), "r"((uint32_t)condition)
                 : "memory");
}

/* Other lanes may do the same to the word. */
static __device__ __forceinline__ void shared_or(uint32_t to, uint32_t bits) {
    asm volatile("red.shared.or.b32 [%0], %1;" ::"r"(to), "r"(bits) : "memory");
}

/* Shifts by more than 31 leave nothing. */
static __device__ __forceinline__ uint32_t shift_right(uint32_t value, uint32_t count) {
    uint32_t result;
    asm("shr.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(count));
    return result;
}

static __device__ __forceinline__ uint32_t shift_left(uint32_t value, uint32_t count) {
    uint32_t result;
    asm("shl.b32 %0, %1, %2;" : "=r"(result) : "r"(value), "r"(count));
    return result;
}

/* Stores a coefficient, and lets no other instruction wait for its address. */
static __device__ __forceinline__ void store_value(uint8_t *to, int32_t value) {
    asm volatile("st.global.u16 [%0], %1;" ::"l"(to), "h"((int16_t)value));
}

/* Makes the compiler compute a value here, and not where it is used. */
static __device__ __forceinline__ void compute_now(uint8_t *&value) {
    asm volatile("" : "+l"(value));
}
static __device__ __forceinline__ void compute_now(int32_t &value) {
    asm volatile("" : "+r"(value));
}
#endif

/* ---- bits ---- */

struct progressive_bits {
    uint32_t high, low;     /* the next bits, the first one uppermost; zeros behind them */
    uint32_t next;          /* the word behind those */
    int32_t count;          /* of the next bits */
    uint32_t index, filled; /* number of the word `next`, and of that behind the ring's */
    uint32_t pending;       /* word `filled` + n, which lane n has loaded */
    uint32_t last;          /* number of the last word, which stands for all behind it */
    uint32_t ring;          /* address of the ring */
    const uint32_t *words;  /* as in the file */
};

enum {
    PROGRESSIVE_READY =
        64, /* words that are in the ring before a block: it takes 60 at most, and 3 are ahead */
    PROGRESSIVE_TAKE = 24, /* bits that can be taken at once, so that there are 9 for a look-up */
};

static __device__ __forceinline__ uint32_t progressive_load(const struct progressive_bits &bits) {
    return __byte_perm(__ldcg(bits.words + min(bits.filled + threadIdx.x, bits.last)), 0, 0x0123);
}

static __device__ __forceinline__ uint32_t progressive_word(const struct progressive_bits &bits) {
    return shared_load(bits.ring + bits.index % KERNEL_PROGRESSIVE_RING * 4);
}

/* Fills the ring up to PROGRESSIVE_READY words. */
static __device__ __forceinline__ void progressive_ready(struct progressive_bits &bits) {
    if (bits.filled - bits.index < PROGRESSIVE_READY) {
        __syncwarp();
        do {
            shared_store(bits.ring + (bits.filled + threadIdx.x) % KERNEL_PROGRESSIVE_RING * 4, bits.pending);
            bits.filled += KERNEL_THREADS_X;
            bits.pending = progressive_load(bits);
        } while (bits.filled - bits.index < PROGRESSIVE_READY);
        __syncwarp();
    }
}

/* Afterwards there are more than 32 bits. */
static __device__ __forceinline__ void progressive_refill(struct progressive_bits &bits) {
    if (bits.count <= 32) {
        bits.high |= shift_right(bits.next, (uint32_t)bits.count);
        bits.low = shift_left(bits.next, 32 - (uint32_t)bits.count);
        bits.count += 32;
        bits.index++;
    }
    bits.next = progressive_word(bits);
}

/* Takes up to PROGRESSIVE_TAKE bits. */
static __device__ __forceinline__ void progressive_drop(struct progressive_bits &bits, uint32_t count) {
    bits.high = __funnelshift_l(bits.low, bits.high, count);
    bits.low <<= count;
    bits.count -= (int32_t)count;
}

static __device__ __forceinline__ void progressive_take(struct progressive_bits &bits, uint32_t count) {
    progressive_drop(bits, count);
    progressive_refill(bits);
}

static __device__ __forceinline__ void progressive_start(struct progressive_bits &bits, const uint32_t *words,
                                                         uint32_t last, uint32_t ring) {
    bits.words = words;
    bits.last = last;
    bits.ring = ring;
    bits.high = bits.low = bits.index = bits.filled = 0;
    bits.count = 0;
    bits.pending = progressive_load(bits);
    progressive_ready(bits);
    bits.next = progressive_word(bits);
    progressive_refill(bits);
    progressive_refill(bits);
}

/* Bits that were taken, possibly more than there are. */
static __device__ __forceinline__ uint32_t progressive_taken(const struct progressive_bits &bits) {
    return bits.index * 32 - (uint32_t)bits.count;
}

/* The value that the upper `size` bits, 0 to 15, stand for: it is negative if the first of them is 0. */
static __device__ __forceinline__ int32_t progressive_value(uint32_t bits, uint32_t size) {
    return (int32_t)shift_right(bits, 32 - size) + ((int32_t)bits < 0 ? 0 : 1 - (1 << size));
}

#endif
