/* SPDX-License-Identifier: MIT
 * Adds to the values what the scans that refine say of coefficients that were not 0 before them, and the
 * lower bits of DC. Lane n of a warp has block n of a group. Coefficients never change their sign, so that
 * the order of the scans does not matter. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_JOIN_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_JOIN_CUH

#include "gpu/jpeg/progressive/progressive_warp.cuh"

enum { PROGRESSIVE_AT_ONCE = 4 /* values that are loaded before the first one is needed */ };

/* A block of a component. */
struct progressive_block {
    const struct progressive_component *component;
    uint32_t part, number, x, y; /* the component; the block among its own, row by row; its column and row */
    uint8_t *values;
};

/* The coefficients that move away from 0. */
static __device__ __forceinline__ uint64_t progressive_changed(uint64_t history, uint64_t changes) {
    uint64_t changed = 0;
    for (; changes != 0 && history != 0; changes >>= 1) {
        uint64_t highest = (uint64_t)1 << (63 - __clzll((long long)history));
        changed |= changes & 1 ? highest : 0;
        history ^= highest;
    }
    return changed;
}

static __device__ __forceinline__ void progressive_change(const struct progressive_warp &warp, uint8_t *block,
                                                          uint64_t changed, int32_t step) {
    while (changed != 0) {
        int16_t *at[PROGRESSIVE_AT_ONCE];
        int32_t value[PROGRESSIVE_AT_ONCE];
#pragma unroll
        for (uint32_t i = 0; i < PROGRESSIVE_AT_ONCE; i++) {
            uint32_t k = (uint32_t)(63 - __clzll((long long)changed));
            at[i] = changed != 0 ? (int16_t *)(block + warp.shared->place[k & 63]) : nullptr;
            value[i] = at[i] ? *at[i] : 0;
            changed &= ~((uint64_t)(changed != 0) << (k & 63));
        }
#pragma unroll
        for (uint32_t i = 0; i < PROGRESSIVE_AT_ONCE; i++) {
            if (at[i]) {
                *at[i] = (int16_t)(value[i] + (value[i] < 0 ? -step : step));
            }
        }
    }
}

/* The bit of a block in a scan with one bit more of DC, whose blocks follow each other as its MCUs have them,
 * or row by row if there is one component. */
static __device__ __forceinline__ uint32_t progressive_dc_bit(const struct progressive_warp &warp,
                                                              const struct progressive_scan &scan,
                                                              const struct progressive_block &block) {
    const struct progressive_component &own = *block.component;
    uint32_t at = block.number, in_mcu = 0, before = 0;
    for (uint32_t i = 0; i < scan.parts; i++) {
        const struct progressive_component &component = warp.head->component[scan.part[i]];
        before = scan.part[i] == block.part ? in_mcu : before;
        in_mcu += component.h * component.v;
    }
    if (scan.parts > 1) {
        uint32_t mcu = (block.y >> own.v / 2) * warp.head->mcus_x + (block.x >> own.h / 2);
        at = mcu * in_mcu + before + (block.y & (own.v - 1)) * own.h + (block.x & (own.h - 1));
    }
    const uint8_t *bytes = (const uint8_t *)warp.head + scan.words;
    return bytes[at / 8] >> (7 - at % 8) & 1;
}

static __device__ __forceinline__ bool progressive_has(const struct progressive_scan &scan, uint32_t part) {
    bool has = false;
    for (uint32_t i = 0; i < scan.parts; i++) {
        has = has || scan.part[i] == part;
    }
    return has;
}

static __device__ __forceinline__ void progressive_join_block(const struct progressive_warp &warp,
                                                              const struct progressive_block &block) {
    const struct progressive_head &head = *warp.head;
    int32_t lower = 0;
    for (uint32_t i = 0; i < head.scans; i++) {
        const struct progressive_scan &scan = head.scan[i];
        if (scan.kind == PROGRESSIVE_AC_MORE && scan.part[0] == block.part) {
            uint64_t changes = __ldcg(warp.notes + scan.changes + block.number);
            uint64_t history = changes ? progressive_history(head, warp.notes, scan, block.number) : 0;
            progressive_change(warp, block.values, progressive_changed(history, changes), 1 << scan.low);
        } else if (scan.kind == PROGRESSIVE_DC_MORE && progressive_has(scan, block.part)) {
            lower |= (int32_t)(progressive_dc_bit(warp, scan, block) << scan.low);
        }
    }
    if (lower != 0) {
        *(int16_t *)block.values = (int16_t)(*(int16_t *)block.values | lower);
    }
}

/* The warp's share of all blocks. */
static __device__ __forceinline__ void progressive_join(const struct progressive_warp &warp) {
    struct progressive_block block;
    for (block.part = 0; block.part < warp.head->components; block.part++) {
        block.component = &warp.head->component[block.part];
        uint32_t across = block.component->across, blocks = across * block.component->down;
        for (block.number = threadIdx.y * KERNEL_PROGRESSIVE_GROUP + threadIdx.x; block.number < blocks;
             block.number += KERNEL_PROGRESSIVE_THREADS) {
            block.y = block.number / across;
            block.x = block.number - block.y * across;
            uint32_t number = progressive_number(*warp.head, *block.component, block.x, block.y);
            block.values = warp.values + (size_t)number * PROGRESSIVE_BLOCK_BYTES;
            progressive_join_block(warp, block);
        }
    }
}

#endif
