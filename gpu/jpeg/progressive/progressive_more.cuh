/* SPDX-License-Identifier: MIT
 * Reads a scan with one bit more of a band of AC coefficients, by the steps of
 * gpu/jpeg/progressive/progressive_steps.cuh. The bits of coefficients that were not 0 before are kept for
 * gpu/jpeg/progressive/progressive_join.cuh. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_MORE_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_MORE_CUH

#include "gpu/jpeg/progressive/progressive_records.cuh"

/* Skips blocks without a code, whose coefficients all have their bits one after the other. The next step is
 * at the beginning of a block, and there are no records. */
static __device__ __forceinline__ void more_skip(struct progressive_more &more,
                                                 const struct progressive_part &part) {
    const uint32_t lane = threadIdx.x, last = part.first + part.count;
    const uint32_t index = (more.zero - more.zeros) / ZERO_BYTES;
    bool before = lane >= part.first && lane < last && part.zeros.before < index;
    uint32_t first = part.first + (uint32_t)__popc(__ballot_sync(~0u, before));
    uint32_t behind = first + min(more.run, last - first);
    uint32_t bits = lane >= first && lane < behind ? part.zeros.filled : 0, sum = warp_sum(bits);
    if (bits > 0) {
        record_change(more, lane, steps_bit(more) + sum - bits, bits, 0);
    }
    more.run -= behind - first;
    uint32_t next = __shfl_sync(~0u, part.zeros.before, (int)behind);
    more.left = __shfl_sync(~0u, part.zeros.count, (int)behind);
    more.zero = behind < last ? more.zeros + next * ZERO_BYTES : more.end;
    more.passed = 0;
    more.at += __shfl_sync(~0u, sum, KERNEL_THREADS_X - 1) * 4;
    __syncwarp();
    steps_move(more);
    more.old_zero = more.zero;
    more.old_passed = 0;
    more.old_left = more.left;
}

/* Replaces the step of a rare code by a usual one, with *run blocks behind it that have no code. Returns
 * false if there is no such code. */
static __device__ __forceinline__ bool more_resolve(const struct progressive_more &more,
                                                    const struct progressive_codes &codes, uint32_t *run) {
    uint32_t step = shared_load(more.at), bit = steps_bit(more);
    if (step & STEP_LONG) {
        const struct progressive_code code = progressive_find(codes, ring_bits(more.bits, bit));
        step = code.bits > 0 ? step_of(code) : STEP_RARE;
    }
    *run = 0;
    if (step & STEP_RUN) {
        uint32_t size = step & STEP_ZEROS, bits = (step >> STEP_BITS_SHIFT & STEP_BITS) / 4;
        *run = (1u << size) - 1 + (ring_bits(more.bits, bit + bits) >> (32 - size));
        step = STEP_END | (bits + size) << (STEP_BITS_SHIFT + 2);
    }
    __syncwarp();
    shared_store(more.at, step);
    __syncwarp();
    return (int32_t)step >= 0;
}

/* Takes the one step that ends this block, before a run. */
static __device__ __forceinline__ void more_end_block(struct progressive_more &more) {
    uint32_t step = shared_load(more.at), zero = more.zero + more.left * ZERO_BYTES;
    uint32_t passed = shared_load_byte(zero - 2), left = shared_load_byte(zero - 1);
    shared_store(more.records + more.count * 4, (more.at - more.steps) << 16 | (zero - more.zeros));
    more.count++;
    more.at += (step >> STEP_BITS_SHIFT & STEP_BITS) + passed - more.passed;
    more.zero = zero;
    more.passed = 0;
    more.left = left & ZERO_LEFT;
}

/* Goes on at a step that steps_take leaves. Returns false for damage. */
template <bool kept>
static __device__ __forceinline__ bool
more_rare(const struct progressive_warp &warp, const struct progressive_codes &codes,
          struct progressive_more &more, const struct progressive_part &part) {
    uint32_t run;
    if (!steps_has(more)) {
        if (!records_take<kept>(warp, more, part)) {
            return false;
        }
        steps_move(more);
        return true;
    }
    if (!more_resolve(more, codes, &run)) {
        return false;
    }
    if (run == 0) {
        return true;
    }
    more_end_block(more);
    if (!records_take<kept>(warp, more, part)) {
        return false;
    }
    more.run = run;
    more_skip(more, part);
    return true;
}

/* Reads the blocks of a part. Returns false for damage. */
template <bool kept>
static __device__ __forceinline__ bool
more_part(const struct progressive_warp &warp, const struct progressive_codes &codes,
          struct progressive_more &more, const struct progressive_part &part) {
    more.zero = more.old_zero = more.zeros;
    more.passed = more.old_passed = 0;
    more.left = more.old_left = __shfl_sync(~0u, part.zeros.count, (int)part.first);
    const int last = (int)(part.first + part.count - 1);
    more.end =
        more.zeros +
        (__shfl_sync(~0u, part.zeros.before, last) + __shfl_sync(~0u, part.zeros.count, last)) * ZERO_BYTES;
    if (more.run > 0) {
        more_skip(more, part);
    }
    while (more.zero < more.end) {
        bool goes = steps_take(more);
        if (more.count > KERNEL_PROGRESSIVE_RECORDS - KERNEL_PROGRESSIVE_STEPS &&
            !records_take<kept>(warp, more, part)) {
            return false;
        }
        if (!goes && more.zero < more.end && !more_rare<kept>(warp, codes, more, part)) {
            return false;
        }
    }
    return records_take<kept>(warp, more, part) && more.zero == more.end;
}

/* Whether the scan's bits have lasted so far, and no other scan is damaged. */
static __device__ __forceinline__ bool more_lasts(const struct progressive_warp &warp,
                                                  const struct progressive_scan &scan,
                                                  const struct progressive_more &more) {
    return steps_bit(more) <= scan.bits && !progressive_is_damaged(warp);
}

/* Reads a group of blocks, of which lane n has block n, and stores its changes and its mask. */
template <bool kept>
static __device__ __forceinline__ bool more_group(const struct progressive_warp &warp,
                                                  const struct progressive_scan &scan,
                                                  struct progressive_more &more, uint32_t group) {
    const struct progressive_codes &codes = progressive_codes_of(warp, scan, 0);
    const uint32_t lane = threadIdx.x, first = group * KERNEL_PROGRESSIVE_GROUP;
    const uint32_t count = min(scan.blocks - first, (uint32_t)KERNEL_PROGRESSIVE_GROUP);
    const uint64_t history = progressive_history(*warp.head, warp.notes, scan, first + lane);
    shared_store_pair(more.changes + lane * 8, make_uint2(0, 0));
    shared_store_pair(more.fresh + lane * 8, make_uint2(0, 0));
    struct progressive_part part;
    part.number = progressive_lane_number(warp, scan, group);
    for (part.first = 0; part.first < count; part.first += KERNEL_PROGRESSIVE_PART) {
        part.count = min(count - part.first, (uint32_t)KERNEL_PROGRESSIVE_PART);
        part.zeros = zeros_list(more, history, lane >= part.first && lane < part.first + part.count);
        if (!more_part<kept>(warp, codes, more, part) || !more_lasts(warp, scan, more)) {
            return false;
        }
    }
    __syncwarp();
    const uint32_t filled = (uint32_t)__popcll((long long)history);
    const uint2 changes = shared_load_pair(more.changes + lane * 8),
                fresh = shared_load_pair(more.fresh + lane * 8);
    const uint64_t bits = (uint64_t)changes.y << 32 | changes.x;
    warp.notes[scan.changes + first + lane] = filled > 0 ? bits >> (64 - filled) : 0;
    if (kept) {
        warp.notes[scan.masks + first + lane] = history | (uint64_t)fresh.y << 32 | fresh.x;
    }
    __syncwarp();
    return true;
}

static_assert(KERNEL_PROGRESSIVE_LOOKS * 4 + KERNEL_PROGRESSIVE_RECORDS * 4 + KERNEL_PROGRESSIVE_GROUP * 8 +
                      (KERNEL_PROGRESSIVE_WINDOW + 96 /* more bits than a step takes */) * 4 <=
                  KERNEL_PROGRESSIVE_LOOK_BYTES,
              "they fit into the memory of the table for other scans");

static __device__ __forceinline__ void more_start(const struct progressive_warp &warp,
                                                  const struct progressive_scan &scan,
                                                  struct progressive_more &more) {
    more = {};
    more.codes = warp.look;
    more.records = more.codes + KERNEL_PROGRESSIVE_LOOKS * 4;
    more.changes = more.records + KERNEL_PROGRESSIVE_RECORDS * 4;
    /* The last ones, since a step behind the window is read, too, and not taken. */
    more.steps = more.changes + KERNEL_PROGRESSIVE_GROUP * 8;
    more.zeros = warp.zeros;
    more.fresh = warp.fresh;
    more.places = warp.places;
    more.from = scan.from;
    more.to = scan.to;
    more.plus = 1 << scan.low;
    __syncwarp(); /* the scan before is read */
    /* A code of damaged data may read behind the zeros, where there must be multiples of 4. */
    for (uint32_t i = threadIdx.x; i < sizeof warp.shared->desk->zeros / 4; i += KERNEL_THREADS_X) {
        shared_store(more.zeros + i * 4, 0);
    }
    steps_make_codes(more.codes, progressive_codes_of(warp, scan, 0));
    progressive_begin_scan(warp, scan, more.bits);
    more.at = more.steps;
    steps_move(more);
}

/* False when the scan is damaged. */
template <bool kept>
static __device__ __forceinline__ bool progressive_read_more(const struct progressive_warp &warp,
                                                             uint32_t number) {
    const struct progressive_scan &scan = warp.head->scan[number];
    struct progressive_more more;
    more_start(warp, scan, more);
    for (uint32_t group = 0; group * KERNEL_PROGRESSIVE_GROUP < scan.blocks; group++) {
        if (!progressive_wait(warp, scan, group) || !more_group<kept>(warp, scan, more, group)) {
            return false;
        }
        if (kept) {
            progressive_publish(warp, number, group + 1);
        }
    }
    uint32_t taken = steps_bit(more);
    return more.run == 0 && taken <= scan.bits && scan.bits - taken < 8;
}

#endif
