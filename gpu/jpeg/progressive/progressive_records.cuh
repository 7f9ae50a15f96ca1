/* SPDX-License-Identifier: MIT
 * Carries out the steps of gpu/jpeg/progressive/progressive_steps.cuh. Each lane takes the record of a step,
 * stores its new coefficient, and puts in their places the bits of the coefficients that it passed and that
 * were not 0. A step that crosses the end of its block is damage, which the lane finds. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_RECORDS_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_RECORDS_CUH

#include "gpu/jpeg/progressive/progressive_steps.cuh"

/* Some blocks of a group, each of which a lane has. */
struct progressive_part {
    struct progressive_zeros zeros;
    uint32_t number;       /* of this lane's block in the picture */
    uint32_t first, count; /* the first lane that has a block, and how many do */
};

struct progressive_record {
    bool exists;
    uint32_t zero, at; /* addresses: of the zero behind the one that the step ends at; of its code */
    uint32_t before, passed, left; /* where it began */
};

static __device__ __forceinline__ struct progressive_record record_load(const struct progressive_more &more,
                                                                        uint32_t n) {
    struct progressive_record record = {n < more.count, more.zeros + ZERO_BYTES, more.steps,
                                        more.old_zero,  more.old_passed,         more.old_left};
    if (record.exists) {
        uint32_t word = shared_load(more.records + n * 4);
        record.zero = more.zeros + (word & 0xffff);
        record.at = more.steps + (word >> 16);
        if (n > 0) {
            record.before = more.zeros + (shared_load(more.records + n * 4 - 4) & 0xffff);
            uint32_t left = shared_load_byte(record.before - 1);
            record.passed = left & ZERO_LAST ? 0 : shared_load_byte(record.before - 2);
            record.left = left & ZERO_LEFT;
        }
    }
    return record;
}

/* The lane that has the block of a zero, by its index; the lanes have ascending indices. */
static __device__ __forceinline__ uint32_t record_owner(const struct progressive_part &part, uint32_t index) {
    uint32_t owner = part.first;
#pragma unroll
    for (uint32_t i = KERNEL_PROGRESSIVE_PART / 2; i > 0; i /= 2) {
        uint32_t before = __shfl_sync(~0u, part.zeros.before, (int)(owner + i));
        owner += owner + i < part.first + part.count && before <= index ? i : 0;
    }
    return owner;
}

/* Adds `count` bits of the scan, 1 to 63, to the changes of a block, behind the first `place` of them. */
static __device__ __forceinline__ void record_change(const struct progressive_more &more, uint32_t lane,
                                                     uint32_t bit, uint32_t count, uint32_t place) {
    uint64_t bits = (uint64_t)ring_bits(more.bits, bit) << 32 | ring_bits(more.bits, bit + 32);
    bits = (bits & ~(~(uint64_t)0 >> count)) >> place;
    shared_or(more.changes + lane * 8, (uint32_t)bits);
    shared_or(more.changes + lane * 8 + 4, (uint32_t)(bits >> 32));
}

/* Returns false for a step that cannot be. */
template <bool kept>
static __device__ __forceinline__ bool
record_take(const struct progressive_warp &warp, const struct progressive_more &more,
            const struct progressive_record &record, uint32_t owner, uint32_t number, uint32_t before) {
    const uint32_t step = shared_load(record.at), passed = shared_load_byte(record.zero - 2);
    const uint32_t index = (record.zero - more.zeros) / ZERO_BYTES - 1;
    const uint32_t k = more.from + passed / 4 + index - before;
    const uint32_t bit =
        more.window + (record.at - more.steps) / 4 + (step >> STEP_BITS_SHIFT & STEP_BITS) / 4;
    bool possible = step & STEP_NEW ? k <= more.to : (step & STEP_END) || k < more.to;
    if ((record.zero - record.before) / ZERO_BYTES > record.left || !possible) {
        return false;
    }
    if (step & STEP_NEW) {
        int32_t sign = (int32_t)ring_bits(more.bits, bit - 1);
        store_value(warp.values + (size_t)number * PROGRESSIVE_BLOCK_BYTES +
                        shared_load_byte(more.places + k),
                    sign < 0 ? more.plus : -more.plus);
        if (kept) {
            shared_or(more.fresh + owner * 8 + k / 32 * 4, 1u << k % 32);
        }
    }
    if (passed > record.passed) {
        record_change(more, owner, bit, (passed - record.passed) / 4, record.passed / 4);
    }
    return true;
}

/* Takes all records. Returns false for damage. */
template <bool kept>
static __device__ __forceinline__ bool records_take(const struct progressive_warp &warp,
                                                    struct progressive_more &more,
                                                    const struct progressive_part &part) {
    bool good = true;
    __syncwarp();
#pragma unroll 1
    for (uint32_t i = 0; i < more.count; i += KERNEL_THREADS_X) {
        const struct progressive_record record = record_load(more, i + threadIdx.x);
        uint32_t owner = record_owner(part, (record.zero - more.zeros) / ZERO_BYTES - 1);
        uint32_t number = __shfl_sync(~0u, part.number, (int)owner);
        uint32_t before = __shfl_sync(~0u, part.zeros.before, (int)owner);
        bool fine = !record.exists || record_take<kept>(warp, more, record, owner, number, before);
        good = __ballot_sync(~0u, !fine) == 0 && good;
    }
    __syncwarp(); /* the records are read */
    more.count = 0;
    more.old_zero = more.zero;
    more.old_passed = more.passed;
    more.old_left = more.left;
    return good;
}

#endif
