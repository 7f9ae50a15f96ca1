/* SPDX-License-Identifier: MIT
 * Reads a scan with one bit more of a band of AC coefficients. A code passes over a number of coefficients
 * that are still 0 and ends at another one, which becomes 1 or -1 where it has a sign. Behind it there is a
 * bit for each coefficient passed over that is not 0. These bits are kept for
 * gpu/jpeg/progressive/progressive_join.cuh. The places of a block's zeros are listed before it is read, so
 * that a code's length is known after one look at the list. */
#ifndef BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_MORE_CUH
#define BLURD_GPU_JPEG_PROGRESSIVE_PROGRESSIVE_MORE_CUH

#include "gpu/jpeg/progressive/progressive_warp.cuh"

enum { PROGRESSIVE_NO_ZERO = 255 /* behind a block's last zero; more than any place */ };

struct progressive_more {
    struct progressive_bits bits;
    uint2 entry;           /* that of the next code */
    uint32_t look, places; /* addresses in the shared memory */
    int32_t from, to;      /* as of the scan */
    int32_t plus, minus;   /* new values */
    uint32_t run;          /* blocks without a code */
    uint32_t first, zero;  /* addresses of the block's first zero, and of the next one */
    int32_t passed;        /* the coefficient before the next code's */
    uint32_t filled;       /* coefficients of the block's band that were not 0 */
    uint2 changes;         /* bits for these: low, high */
    uint2 mask;            /* coefficients that are new: 0 to 31, and above */
    uint8_t *block;        /* the block's values */
};

static __device__ __forceinline__ void progressive_more_look(struct progressive_more &more) {
    more.entry = progressive_look(more.look, more.bits.high);
}

/* Adds the upper `count` bits, fewer than 32, to the changes. */
static __device__ __forceinline__ void progressive_more_add(struct progressive_more &more, uint32_t bits,
                                                            uint32_t count) {
    more.changes.y = __funnelshift_l(more.changes.x, more.changes.y, count);
    more.changes.x = __funnelshift_l(bits, more.changes.x, count);
}

static __device__ __forceinline__ void progressive_more_changes(struct progressive_more &more,
                                                                uint32_t count) {
    while (count > 0) {
        uint32_t some = min(count, (uint32_t)PROGRESSIVE_TAKE);
        progressive_more_add(more, more.bits.high, some);
        progressive_take(more.bits, some);
        count -= some;
    }
}

/* Stores a new coefficient, whose sign is uppermost. */
template <bool kept>
static __device__ __forceinline__ void progressive_more_store(struct progressive_more &more, uint32_t k,
                                                              uint32_t place, uint32_t sign) {
    store_value(more.block + place, (int32_t)sign < 0 ? more.plus : more.minus);
    if (kept) {
        more.mask.x |= shift_left(1, k);
        more.mask.y |= shift_left(1, k - 32);
    }
}

enum progressive_next { PROGRESSIVE_BAND_ENDS, PROGRESSIVE_RARE, PROGRESSIVE_WIDE, PROGRESSIVE_WRONG };

/* A code with many bits: those of the changes are `changes` of `count`, and the coefficient is k. */
struct progressive_wide {
    uint32_t count, changes;
    int32_t k;
};

/* Reads new coefficients up to the end of the band, or up to a code of another kind or with many bits. */
template <bool kept>
static __device__ __forceinline__ enum progressive_next
progressive_more_values(struct progressive_more &more, struct progressive_wide &wide) {
    struct progressive_bits &bits = more.bits;
    for (;;) {
        int32_t k = (int32_t)shared_load_byte(more.zero + more.entry.x);
        if ((int32_t)more.entry.y >= PROGRESSIVE_SKIP) {
            compute_now(k); /* or it is loaded behind the branch */
            return PROGRESSIVE_RARE;
        }
        int32_t before = more.passed + 1 + (int32_t)more.entry.x;
        uint32_t rest = more.entry.y - (uint32_t)more.passed, count = (uint32_t)k + rest;
        uint32_t ahead = __funnelshift_l(bits.low, bits.high, count);
        uint32_t place = shared_load_byte(more.places + (uint32_t)k);
        more.zero += more.entry.x + 1;
        more.passed = k;
        uint32_t changes = (uint32_t)(k - before);
        more.entry = progressive_look(more.look, ahead);
        if (count > PROGRESSIVE_TAKE) {
            wide.count = count;
            wide.changes = changes;
            wide.k = k;
            return PROGRESSIVE_WIDE;
        }
        uint32_t sign = bits.high << ((count - changes - 1) & 31);
        progressive_more_add(more, sign << 1, changes);
        bits.low <<= count;
        bits.count -= (int32_t)count;
        bits.high = ahead;
        progressive_more_store<kept>(more, (uint32_t)k, place, sign);
        progressive_refill(bits);
        if (k >= more.to) {
            return PROGRESSIVE_BAND_ENDS;
        }
    }
}

/* Takes a code that ends the band of this block, and the changes of those behind its last new coefficient. */
static __device__ __forceinline__ void progressive_more_end(struct progressive_more &more) {
    uint32_t entry = more.entry.y, length = entry & PROGRESSIVE_BITS,
             size = entry >> PROGRESSIVE_RUN_SHIFT & 15;
    uint32_t coefficients = (uint32_t)(more.passed + 1 - more.from), zeros = more.zero - more.first;
    uint32_t rest = more.filled - (coefficients - zeros);
    if (length + size > PROGRESSIVE_TAKE) {
        progressive_take(more.bits, length);
        length = 0;
    }
    more.run = (1u << size) - 1 + shift_right(shift_left(more.bits.high, length), 32 - size);
    length += size;
    if (length + rest <= PROGRESSIVE_TAKE) {
        progressive_more_add(more, more.bits.high << length, rest);
        progressive_take(more.bits, length + rest);
    } else {
        progressive_take(more.bits, length);
        progressive_more_changes(more, rest);
    }
    progressive_more_look(more);
}

/* Takes a code that passes over 15 zeros and ends at another one. */
static __device__ __forceinline__ bool progressive_more_skip(struct progressive_more &more) {
    int32_t k = (int32_t)shared_load_byte(more.zero + PROGRESSIVE_ZERO_RUN);
    if (k >= more.to) {
        return false;
    }
    progressive_take(more.bits, more.entry.y & PROGRESSIVE_BITS);
    progressive_more_changes(more, (uint32_t)(k - more.passed - PROGRESSIVE_ZERO_RUN - 1));
    more.zero += PROGRESSIVE_ZERO_RUN + 1;
    more.passed = k;
    progressive_more_look(more);
    return true;
}

/* Takes a code with more bits than can be taken at once. False if there is no such zero. */
template <bool kept>
static __device__ __forceinline__ bool progressive_more_wide(struct progressive_more &more,
                                                             const struct progressive_wide &wide) {
    if (wide.k > more.to) {
        return false;
    }
    progressive_take(more.bits, wide.count - wide.changes - 1);
    progressive_more_store<kept>(more, (uint32_t)wide.k, shared_load_byte(more.places + (uint32_t)wide.k),
                                 more.bits.high);
    progressive_take(more.bits, 1);
    progressive_more_changes(more, wide.changes);
    progressive_more_look(more);
    return true;
}

/* Goes on at a code without a new coefficient. */
static __device__ __forceinline__ enum progressive_next
progressive_more_rare(struct progressive_more &more, const struct progressive_codes &codes) {
    uint32_t entry = more.entry.y;
    if (entry & PROGRESSIVE_LONG) {
        const struct progressive_code code = progressive_find(codes, more.bits.high);
        more.entry = progressive_entry(PROGRESSIVE_AC_MORE, code, 0);
        return code.bits == 0 ? PROGRESSIVE_WRONG : PROGRESSIVE_RARE;
    }
    if (entry & PROGRESSIVE_END) {
        progressive_more_end(more);
        return PROGRESSIVE_BAND_ENDS;
    }
    return (entry & PROGRESSIVE_SKIP) && progressive_more_skip(more) ? PROGRESSIVE_RARE : PROGRESSIVE_WRONG;
}

/* Reads a block with codes. */
template <bool kept>
static __device__ __forceinline__ bool progressive_more_block(struct progressive_more &more,
                                                              const struct progressive_codes &codes) {
    struct progressive_wide wide;
    more.passed = more.from - 1;
    more.zero = more.first;
    for (;;) {
        enum progressive_next next = progressive_more_values<kept>(more, wide);
        if (next == PROGRESSIVE_WIDE) {
            next = !progressive_more_wide<kept>(more, wide) ? PROGRESSIVE_WRONG
                   : wide.k >= more.to                      ? PROGRESSIVE_BAND_ENDS
                                                            : PROGRESSIVE_RARE;
        } else if (next == PROGRESSIVE_RARE) {
            next = progressive_more_rare(more, codes);
        }
        if (next != PROGRESSIVE_RARE) {
            return next == PROGRESSIVE_BAND_ENDS;
        }
    }
}

/* Lists the zeros of the blocks of a group, of which lane n has the mask of block n. */
static __device__ __forceinline__ void progressive_more_list(const struct progressive_warp &warp, uint2 band,
                                                             uint2 mask, uint32_t count) {
    const uint32_t lane = threadIdx.x, below = (1u << lane) - 1;
    __syncwarp();
    for (uint32_t i = 0; i < count; i++) {
        uint32_t low = ~__shfl_sync(~0u, mask.x, (int)i) & band.x,
                 high = ~__shfl_sync(~0u, mask.y, (int)i) & band.y;
        uint32_t list = warp.zeros + i * KERNEL_PROGRESSIVE_ZEROS, lower = (uint32_t)__popc(low);
        if (low >> lane & 1) {
            shared_store_byte(list + (uint32_t)__popc(low & below), lane);
        }
        if (high >> lane & 1) {
            shared_store_byte(list + lower + (uint32_t)__popc(high & below), lane + 32);
        }
        if (lane < KERNEL_PROGRESSIVE_RUN) {
            shared_store_byte(list + lower + (uint32_t)__popc(high) + lane, PROGRESSIVE_NO_ZERO);
        }
    }
    __syncwarp();
}

/* Reads a block of a group, or its part of a run of blocks without codes. */
template <bool kept>
static __device__ __forceinline__ bool progressive_more_next(const struct progressive_warp &warp,
                                                             const struct progressive_codes &codes,
                                                             struct progressive_more &more, uint32_t number) {
    more.changes = more.mask = make_uint2(0, 0);
    progressive_ready(more.bits);
    if (more.run > 0) {
        more.run--;
        if (more.filled > 0) {
            progressive_more_changes(more, more.filled);
            progressive_more_look(more);
        }
        return true;
    }
    more.block = warp.values + (size_t)number * PROGRESSIVE_BLOCK_BYTES;
    compute_now(more.block);
    return progressive_more_block<kept>(more, codes);
}

/* Reads a group of blocks, of which lane n has block n, and stores its changes and its mask. */
template <bool kept>
static __device__ __forceinline__ bool progressive_more_group(const struct progressive_warp &warp,
                                                              const struct progressive_scan &scan,
                                                              struct progressive_more &more, uint32_t group) {
    const struct progressive_codes &codes = progressive_codes_of(warp, scan, 0);
    const uint32_t first = group * KERNEL_PROGRESSIVE_GROUP;
    const uint32_t count = min(scan.blocks - first, (uint32_t)KERNEL_PROGRESSIVE_GROUP);
    const uint32_t number = progressive_lane_number(warp, scan, group);
    const uint64_t band = ~(uint64_t)0 << scan.from & ~(uint64_t)0 >> (63 - scan.to);
    const uint64_t history = progressive_history(*warp.head, warp.notes, scan, first + threadIdx.x);
    const uint32_t filled = (uint32_t)__popcll((long long)history);
    uint2 mask = make_uint2((uint32_t)history, (uint32_t)(history >> 32)), changes = make_uint2(0, 0);
    progressive_more_list(warp, make_uint2((uint32_t)band, (uint32_t)(band >> 32)), mask, count);
    for (uint32_t i = 0; i < count; i++) {
        more.filled = __shfl_sync(~0u, filled, (int)i);
        more.first = warp.zeros + i * KERNEL_PROGRESSIVE_ZEROS;
        if (!progressive_more_next<kept>(warp, codes, more, __shfl_sync(~0u, number, (int)i))) {
            return false;
        }
        if (threadIdx.x == i) {
            changes = more.changes;
            mask.x |= more.mask.x;
            mask.y |= more.mask.y;
        }
    }
    warp.notes[scan.changes + first + threadIdx.x] = (uint64_t)changes.y << 32 | changes.x;
    if (kept) {
        warp.notes[scan.masks + first + threadIdx.x] = (uint64_t)mask.y << 32 | mask.x;
    }
    return true;
}

/* False when the scan is damaged. */
template <bool kept>
static __device__ __forceinline__ bool progressive_read_more(const struct progressive_warp &warp,
                                                             uint32_t number) {
    const struct progressive_scan &scan = warp.head->scan[number];
    struct progressive_more more = {};
    more.look = warp.look;
    more.places = warp.places;
    more.from = (int32_t)scan.from;
    more.to = (int32_t)scan.to;
    more.plus = 1 << scan.low;
    more.minus = -more.plus;
    compute_now(more.plus);
    compute_now(more.minus);
    progressive_make_look(warp.look, progressive_codes_of(warp, scan, 0), PROGRESSIVE_AC_MORE, scan.low);
    progressive_begin_scan(warp, scan, more.bits);
    progressive_more_look(more);
    for (uint32_t group = 0; group * KERNEL_PROGRESSIVE_GROUP < scan.blocks; group++) {
        progressive_wait(warp, scan, group);
        if (!progressive_more_group<kept>(warp, scan, more, group) ||
            !progressive_lasts(warp, scan, more.bits)) {
            return false;
        }
        if (kept) {
            progressive_publish(warp, number, group + 1);
        }
    }
    return more.run == 0 && progressive_ends(scan, more.bits);
}

#endif
