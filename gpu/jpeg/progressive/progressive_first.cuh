/* SPDX-License-Identifier: MIT
 * Reads a scan with a band of AC coefficients that have not been read before. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_FIRST_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_FIRST_CUH

#include "gpu/jpeg/progressive/progressive_warp.cuh"

struct progressive_first {
    struct progressive_bits bits;
    uint2 entry;            /* that of the next code */
    uint32_t look, places;  /* addresses in the shared memory */
    uint32_t from, to, low; /* as of the scan */
    uint32_t k;             /* the next coefficient */
    uint32_t run;           /* blocks without a code */
    uint2 mask;             /* coefficients of the block that are not 0: 0 to 31, and above */
    uint8_t *block;         /* its values */
};

/* Stores a value whose bits are uppermost. A run may lead beyond the block: the place is that of its DC then,
 * and the scan is damaged. */
static __device__ __forceinline__ void progressive_first_store(struct progressive_first &first, uint32_t k,
                                                               uint32_t place, uint32_t bits, uint32_t size) {
    store_value(first.block + place, progressive_value(bits, size) * (1 << first.low));
    first.mask.x |= shift_left(1, k);
    first.mask.y |= shift_left(1, k - 32);
    first.k = k + 1;
}

/* Reads values up to the end of the band, or up to a code without one or with many bits: false, and its
 * entry. The entry of the code behind is looked up before the value is made. */
static __device__ __forceinline__ bool progressive_first_values(struct progressive_first &first,
                                                                uint2 &rare) {
    struct progressive_bits &bits = first.bits;
    for (;;) {
        const uint2 entry = first.entry;
        progressive_refill(bits);
        uint32_t k = first.k + (entry.y >> 4), place = shared_load_byte(first.places + k);
        uint32_t ahead = __funnelshift_l(bits.low, bits.high, entry.x);
        first.entry = progressive_look(first.look, ahead);
        if (entry.x > PROGRESSIVE_TAKE) {
            rare = entry;
            return false;
        }
        uint32_t size = entry.y & 15, value = bits.high << (entry.x - size);
        bits.low <<= entry.x;
        bits.count -= (int32_t)entry.x;
        bits.high = ahead;
        progressive_first_store(first, k, place, value, size);
        if (k >= first.to) {
            return true;
        }
    }
}

/* Takes the code that ends the band. */
static __device__ __forceinline__ void progressive_first_end(struct progressive_first &first,
                                                             uint32_t entry) {
    uint32_t length = entry & PROGRESSIVE_BITS, size = entry >> PROGRESSIVE_RUN_SHIFT & 15;
    if (length + size > PROGRESSIVE_TAKE) {
        progressive_take(first.bits, length);
        length = 0;
    }
    first.run = (1u << size) - 1 + shift_right(first.bits.high << length, 32 - size);
    progressive_drop(first.bits, length + size);
    first.entry = progressive_look(first.look, first.bits.high);
}

/* Takes a value that is too wide to be taken at once with its code. */
static __device__ __forceinline__ void progressive_first_wide(struct progressive_first &first, uint2 entry) {
    uint32_t size = entry.y & 15, k = first.k + (entry.y >> 4);
    progressive_take(first.bits, entry.x - size);
    progressive_first_store(first, k, shared_load_byte(first.places + k), first.bits.high, size);
    progressive_drop(first.bits, size);
    first.entry = progressive_look(first.look, first.bits.high);
}

/* Reads a block with codes. */
static __device__ __forceinline__ bool progressive_first_block(struct progressive_first &first,
                                                               const struct progressive_codes &codes) {
    uint2 rare;
    while (!progressive_first_values(first, rare)) {
        if (rare.x & PROGRESSIVE_LONG) {
            const struct progressive_code code = progressive_find(codes, first.bits.high);
            if (code.bits == 0) {
                return false;
            }
            first.entry = progressive_entry(code, first.low);
        } else if (rare.x & PROGRESSIVE_END) {
            progressive_first_end(first, rare.x);
            return true;
        } else if (rare.x & PROGRESSIVE_SKIP) {
            progressive_drop(first.bits, rare.x & PROGRESSIVE_BITS);
            first.entry = progressive_look(first.look, first.bits.high);
            first.k += PROGRESSIVE_ZERO_RUN + 1;
            if (first.k > first.to) {
                return false;
            }
        } else if (rare.x & PROGRESSIVE_BAD) {
            return false;
        } else {
            progressive_first_wide(first, rare);
            if (first.k > first.to) {
                break;
            }
        }
    }
    return first.k == first.to + 1;
}

/* Reads a group of blocks. Lane n gets the mask of block n. */
static __device__ __forceinline__ bool progressive_first_group(const struct progressive_warp &warp,
                                                               const struct progressive_scan &scan,
                                                               struct progressive_first &first,
                                                               uint32_t group, uint2 &mask) {
    const struct progressive_codes &codes = progressive_codes_of(warp, scan, 0);
    const uint32_t count =
        min(scan.blocks - group * KERNEL_PROGRESSIVE_GROUP, (uint32_t)KERNEL_PROGRESSIVE_GROUP);
    const uint32_t number = progressive_lane_number(warp, scan, group);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t skipped = min(first.run, count - i);
        first.run -= skipped;
        i += skipped;
        if (i >= count) {
            break;
        }
        progressive_ready(first.bits);
        first.block = warp.values + (size_t)__shfl_sync(~0u, number, (int)i) * PROGRESSIVE_BLOCK_BYTES;
        compute_now(first.block);
        first.k = first.from;
        first.mask = make_uint2(0, 0);
        if (!progressive_first_block(first, codes)) {
            return false;
        }
        if (threadIdx.x == i) {
            mask = first.mask;
        }
    }
    return true;
}

/* False when the scan is damaged. */
static __device__ __forceinline__ bool progressive_read_first(const struct progressive_warp &warp,
                                                              uint32_t number) {
    const struct progressive_scan &scan = warp.head->scan[number];
    struct progressive_first first = {};
    first.look = warp.look;
    first.places = warp.places;
    first.from = scan.from;
    first.to = scan.to;
    first.low = scan.low;
    progressive_make_look(warp.look, progressive_codes_of(warp, scan, 0), scan.low);
    progressive_begin_scan(warp, scan, first.bits);
    first.entry = progressive_look(warp.look, first.bits.high);
    for (uint32_t group = 0; group * KERNEL_PROGRESSIVE_GROUP < scan.blocks; group++) {
        uint2 mask = make_uint2(0, 0);
        if (!progressive_first_group(warp, scan, first, group, mask) ||
            !progressive_lasts(warp, scan, first.bits)) {
            return false;
        }
        if (scan.kept) {
            warp.notes[scan.masks + group * KERNEL_PROGRESSIVE_GROUP + threadIdx.x] =
                (uint64_t)mask.y << 32 | mask.x;
            progressive_publish(warp, number, group + 1);
        }
    }
    return first.run == 0 && progressive_ends(scan, first.bits);
}

#endif
