/* SPDX-License-Identifier: MIT
 * Reads a scan of DC coefficients, which have not been read before. Lane n keeps block n of 32. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_DC_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_DC_CUH

#include "gpu/jpeg/progressive/progressive_warp.cuh"

/* The lane's block: its component, and its column and row there. */
struct progressive_dc {
    struct progressive_bits bits;
    uint32_t count;      /* blocks of the 32 that are read */
    int32_t value;       /* without the bits that are missing */
    uint32_t part, x, y; /* the component's place in the scan */
};

static_assert(sizeof progressive_desk::zeros >= KERNEL_PROGRESSIVE_LOOKS * 4, "the third table fits there");

/* The table of a component of the scan. The third one takes the memory of the zeros, which DC does not need.
 */
static __device__ __forceinline__ uint32_t progressive_dc_look(const struct progressive_warp &warp,
                                                               uint32_t part) {
    return part < 2 ? warp.look + part * KERNEL_PROGRESSIVE_LOOKS * 4 : warp.zeros;
}

/* Stores the values of the blocks that are read. False if one is too large. */
static __device__ __forceinline__ bool progressive_dc_store(const struct progressive_warp &warp,
                                                            const struct progressive_scan &scan,
                                                            struct progressive_dc &dc) {
    const struct progressive_component &component = warp.head->component[scan.part[dc.part]];
    bool own = threadIdx.x < dc.count,
         good = !own || abs(dc.value) <= KERNEL_PROGRESSIVE_VALUE_MAX >> scan.low;
    if (own && good && dc.x < component.across && dc.y < component.down) {
        uint32_t number = progressive_number(*warp.head, component, dc.x, dc.y);
        store_value(warp.values + (size_t)number * PROGRESSIVE_BLOCK_BYTES, dc.value * (1 << scan.low));
    }
    dc.count = 0;
    return __ballot_sync(~0u, good) == ~0u;
}

/* Reads a difference. False if there is no such code. */
static __device__ __forceinline__ bool progressive_dc_read(const struct progressive_codes &codes,
                                                           uint32_t look, struct progressive_bits &bits,
                                                           int32_t &difference) {
    uint32_t entry = shared_load(look + (bits.high >> (32 - KERNEL_PROGRESSIVE_LOOK)) * 4);
    progressive_refill(bits);
    uint32_t taken = entry & 255, size = entry >> 8;
    if (entry == 0) {
        const struct progressive_code code = progressive_find(codes, bits.high);
        size = code.symbol;
        taken = code.bits + size;
        if (code.bits == 0 || size > KERNEL_PROGRESSIVE_VALUE_BITS) {
            return false;
        }
        if (taken > PROGRESSIVE_TAKE) {
            progressive_take(bits, code.bits);
            taken = size;
        }
    }
    difference = progressive_value(bits.high << (taken - size), size);
    progressive_drop(bits, taken);
    return true;
}

/* Reads the blocks of one component in an MCU: h columns and v rows from (x, y) on. */
static __device__ __forceinline__ bool progressive_dc_part(const struct progressive_warp &warp,
                                                           const struct progressive_scan &scan,
                                                           struct progressive_dc &dc, uint32_t part,
                                                           uint2 from, uint2 size, int32_t &last) {
    const struct progressive_codes &codes = progressive_codes_of(warp, scan, part);
    uint32_t look = progressive_dc_look(warp, part);
    for (uint32_t y = from.y; y < from.y + size.y; y++) {
        for (uint32_t x = from.x; x < from.x + size.x; x++) {
            int32_t difference;
            if (!progressive_dc_read(codes, look, dc.bits, difference)) {
                return false;
            }
            last += difference;
            if (threadIdx.x == dc.count) {
                dc.value = last;
                dc.part = part;
                dc.x = x;
                dc.y = y;
            }
            if (++dc.count == KERNEL_PROGRESSIVE_GROUP && !progressive_dc_store(warp, scan, dc)) {
                return false;
            }
        }
    }
    return true;
}

/* An MCU of several components, or a block of a single one. */
static __device__ __forceinline__ bool progressive_dc_mcu(const struct progressive_warp &warp,
                                                          const struct progressive_scan &scan,
                                                          struct progressive_dc &dc, uint32_t x, uint32_t y,
                                                          int32_t last[3]) {
    progressive_ready(dc.bits);
#pragma unroll
    for (uint32_t part = 0; part < 3; part++) {
        if (part < scan.parts) {
            const struct progressive_component &component = warp.head->component[scan.part[part]];
            uint2 size = scan.parts > 1 ? make_uint2(component.h, component.v) : make_uint2(1, 1);
            if (!progressive_dc_part(warp, scan, dc, part, make_uint2(x * size.x, y * size.y), size,
                                     last[part])) {
                return false;
            }
        }
    }
    return true;
}

/* False when the scan is damaged. */
static __device__ __forceinline__ bool progressive_read_dc(const struct progressive_warp &warp,
                                                           uint32_t number) {
    const struct progressive_scan &scan = warp.head->scan[number];
    const struct progressive_component &single = warp.head->component[scan.part[0]];
    const uint32_t across = scan.parts > 1 ? warp.head->mcus_x : single.across;
    const uint32_t down = scan.parts > 1 ? warp.head->mcus_y : single.down;
    struct progressive_dc dc = {};
    int32_t last[3] = {0, 0, 0};
    for (uint32_t part = 0; part < scan.parts; part++) {
        progressive_make_dc(progressive_dc_look(warp, part), progressive_codes_of(warp, scan, part));
    }
    progressive_begin_scan(warp, scan, dc.bits);
    for (uint32_t y = 0; y < down; y++) {
        for (uint32_t x = 0; x < across; x++) {
            if (!progressive_dc_mcu(warp, scan, dc, x, y, last)) {
                return false;
            }
        }
        if (!progressive_lasts(warp, scan, dc.bits)) {
            return false;
        }
    }
    return progressive_dc_store(warp, scan, dc) && progressive_ends(scan, dc.bits);
}

#endif
