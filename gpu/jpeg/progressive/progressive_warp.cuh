/* SPDX-License-Identifier: MIT
 * What a warp needs to read its scans, and how scans wait for each other. A scan that refines is read behind
 * the scans that it needs, at a distance of at least one group of 32 blocks. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_WARP_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_WARP_CUH

#include "gpu/jpeg/progressive/progressive_codes.cuh"

enum { PROGRESSIVE_BLOCK_BYTES = 128 };

struct progressive_warp {
    const struct progressive_head *head; /* the copy on the device */
    uint8_t *values;
    uint64_t *notes;
    struct progressive_shared *shared;
    uint32_t look, ring, zeros, fresh, places; /* addresses in the shared memory */
};

static __device__ __forceinline__ const struct progressive_codes &
progressive_codes_of(const struct progressive_warp &warp, const struct progressive_scan &scan,
                     uint32_t part) {
    return *(const struct progressive_codes *)((const uint8_t *)warp.head + scan.codes[part]);
}

static __device__ __forceinline__ void progressive_begin_scan(const struct progressive_warp &warp,
                                                              const struct progressive_scan &scan,
                                                              struct progressive_bits &bits) {
    progressive_start(bits, (const uint32_t *)((const uint8_t *)warp.head + scan.words), scan.last,
                      warp.ring);
}

/* Words by which the warps of a picture tell each other how far they are. One lane of a warp reads and writes
 * them, by atomic operations: racecheck takes any other access without a barrier for a race. The lanes agree
 * on what was read, also when another warp writes just now. */
static __device__ __forceinline__ uint32_t progressive_heard(uint32_t &word) {
    uint32_t value = threadIdx.x == 0 ? atomicOr(&word, 0U) : 0;
    return __shfl_sync(~0u, value, 0);
}

static __device__ __forceinline__ void progressive_tell(uint32_t &word, uint32_t value) {
    if (threadIdx.x == 0) {
        atomicExch(&word, value);
    }
}

/* Whether any scan is damaged. */
static __device__ __forceinline__ bool progressive_is_damaged(const struct progressive_warp &warp) {
    return progressive_heard(warp.shared->damaged) != 0;
}

/* Whether the scan's bits have lasted so far, and no other scan is damaged. */
static __device__ __forceinline__ bool progressive_lasts(const struct progressive_warp &warp,
                                                         const struct progressive_scan &scan,
                                                         const struct progressive_bits &bits) {
    return progressive_taken(bits) <= scan.bits && !progressive_is_damaged(warp);
}

/* Whether no more is left of a scan than what fills its last byte. */
static __device__ __forceinline__ bool progressive_ends(const struct progressive_scan &scan,
                                                        const struct progressive_bits &bits) {
    uint32_t taken = progressive_taken(bits);
    return taken <= scan.bits && scan.bits - taken < 8;
}

/* The number of the block in column x and row y of a component, among all of the picture. */
static __device__ __forceinline__ uint32_t progressive_number(const struct progressive_head &head,
                                                              const struct progressive_component &component,
                                                              uint32_t x, uint32_t y) {
    uint32_t mcu = (y >> component.v / 2) * head.mcus_x + (x >> component.h / 2);
    return mcu * head.in_mcu + component.first + (y & (component.v - 1)) * component.h +
           (x & (component.h - 1));
}

/* That of the block that this lane has in a group of an AC scan; a block of the scan in any case. */
static __device__ __forceinline__ uint32_t progressive_lane_number(const struct progressive_warp &warp,
                                                                   const struct progressive_scan &scan,
                                                                   uint32_t group) {
    const struct progressive_component &component = warp.head->component[scan.part[0]];
    uint32_t block = min(group * KERNEL_PROGRESSIVE_GROUP + threadIdx.x, scan.blocks - 1);
    uint32_t y = block / component.across, x = block - y * component.across;
    return progressive_number(*warp.head, component, x, y);
}

/* Waits until the scans whose masks are needed have read the group. False if any scan is damaged: masks may
 * be missing then. */
static __device__ __forceinline__ bool progressive_wait(const struct progressive_warp &warp,
                                                        const struct progressive_scan &scan, uint32_t group) {
    for (uint32_t i = 0; i < scan.sources; i++) {
        while (progressive_heard(warp.shared->progress[scan.source[i]]) <= group) {
            __nanosleep(400);
        }
    }
    __threadfence_block();
    __syncwarp(); /* what the other lanes read from now on comes behind what lane 0 has heard */
    return !progressive_is_damaged(warp);
}

/* Lets others read the masks of the groups before this one. */
static __device__ __forceinline__ void progressive_publish(const struct progressive_warp &warp,
                                                           uint32_t number, uint32_t group) {
    __syncwarp();
    __threadfence_block();
    __syncwarp();
    progressive_tell(warp.shared->progress[number], group);
}

/* The coefficients of a scan's band that were not 0 before it, of a block. */
static __device__ __forceinline__ uint64_t progressive_history(const struct progressive_head &head,
                                                               const uint64_t *notes,
                                                               const struct progressive_scan &scan,
                                                               uint32_t block) {
    uint64_t mask = 0;
    for (uint32_t i = 0; i < scan.sources; i++) {
        mask |= __ldcg(notes + head.scan[scan.source[i]].masks + block);
    }
    return mask & ~(uint64_t)0 << scan.from & ~(uint64_t)0 >> (63 - scan.to);
}

#endif
