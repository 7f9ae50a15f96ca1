/* SPDX-License-Identifier: MIT
 * Mixes the picture and its filtered version by coverage, in integers; docs/filters.md has the formulas.
 * Pixels with full coverage keep the filtered value. */
#ifndef BLURD_GPU_FILTERS_BLEND_CUH
#define BLURD_GPU_FILTERS_BLEND_CUH

#include "gpu/stream/grid.cuh"

enum { BLEND_FULL = 255, BLEND_GROUP = KERNEL_BLEND_WIDTH / KERNEL_THREADS_X };
static_assert(BLEND_GROUP == 8, "a group is a word of eight bytes for each byte of a pixel");

/* The coverage of pixel (x, y) of the plane. */
static __device__ __forceinline__ uint32_t blend_coverage(const struct kernel_grid &mask,
                                                          const struct blend_plane &plane, int x, int y) {
    int left = x << plane.shift_x;
    int top = y << plane.shift_y;
    int right = min(left + (1 << plane.shift_x), mask.width);
    int bottom = min(top + (1 << plane.shift_y), mask.height);
    uint32_t sum = 0;
    for (int j = top; j < bottom; j++) {
        for (int i = left; i < right; i++) {
            sum += row_of<const uint8_t>(mask, j)[i];
        }
    }
    uint32_t count = (uint32_t)((right - left) * (bottom - top));
    return count == 1 ? sum : (sum + count / 2) / count;
}

/* The type `Sum` must hold the largest sample squared, times 255. */
template <class T, class Sum>
static __device__ __forceinline__ void blend_alpha(const T *source, T *target, int channels, uint32_t m) {
    int last = channels - 1;
    Sum outside = (Sum)source[last] * (BLEND_FULL - m);
    Sum inside = (Sum)target[last] * m;
    Sum alpha = outside + inside;
    for (int c = 0; c < last; c++) {
        target[c] = alpha ? (T)((source[c] * outside + target[c] * inside + alpha / 2) / alpha) : (T)0;
    }
    target[last] = (T)((alpha + BLEND_FULL / 2) / BLEND_FULL);
}

template <class T, class Sum>
static __device__ __forceinline__ void blend_pixel(const struct blend_pass &pass, const T *source, T *target,
                                                   uint32_t m) {
    if (m == 0) {
        for (int c = 0; c < pass.channels; c++) {
            target[c] = source[c];
        }
    } else if (pass.alpha) {
        blend_alpha<T, Sum>(source, target, pass.channels, m);
    } else {
        for (int c = 0; c < pass.channels; c++) {
            target[c] = (T)((source[c] * (BLEND_FULL - m) + target[c] * m + BLEND_FULL / 2) / BLEND_FULL);
        }
    }
}

static __device__ __forceinline__ void blend_at(const struct blend_pass &pass,
                                                const struct blend_plane &plane, int x, int y) {
    uint32_t m = blend_coverage(pass.mask, plane, x, y);
    int at = x * pass.channels;
    if (m == BLEND_FULL) {
        return;
    }
    if (pass.depth == 8) {
        blend_pixel<uint8_t, uint32_t>(pass, row_of<const uint8_t>(plane.source, y) + at,
                                       row_of<uint8_t>(plane.target, y) + at, m);
    } else {
        blend_pixel<uint16_t, uint64_t>(pass, row_of<const uint16_t>(plane.source, y) + at,
                                        row_of<uint16_t>(plane.target, y) + at, m);
    }
}

enum blend_group { BLEND_MIXED, BLEND_NONE, BLEND_ALL };

/* Whether the mask covers none or all of BLEND_GROUP pixels from (x, y) on. Those at the edges are mixed. */
static __device__ __forceinline__ enum blend_group
blend_group_of(const struct kernel_grid &mask, const struct blend_plane &plane, int x, int y) {
    int left = x << plane.shift_x, right = (x + BLEND_GROUP) << plane.shift_x;
    int top = y << plane.shift_y, bottom = min(top + (1 << plane.shift_y), mask.height);
    if (x + BLEND_GROUP > plane.target.width || right > mask.width) {
        return BLEND_MIXED;
    }
    uint32_t any = 0, all = ~0u;
    for (int j = top; j < bottom; j++) {
        const uint8_t *row = row_of<const uint8_t>(mask, j);
        for (int i = left; i < right; i += BLEND_GROUP) {
            uint2 words = *(const uint2 *)(row + i);
            any |= words.x | words.y;
            all &= words.x & words.y;
        }
    }
    return any == 0 ? BLEND_NONE : all == ~0u ? BLEND_ALL : BLEND_MIXED;
}

/* Each lane looks at BLEND_GROUP pixels of a row; a warp then makes the pixels of its groups side by side. */
static __device__ __forceinline__ void blend_tile(const struct blend_pass &pass) {
    const struct blend_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    int lane = (int)threadIdx.x, end = tile.x + tile.width;
    int x = tile.x + lane * BLEND_GROUP, y = tile.y + (int)threadIdx.y;
    if (y >= tile.y + tile.height) {
        return; /* with the whole warp */
    }
    enum blend_group group = x < end ? blend_group_of(pass.mask, plane, x, y) : BLEND_ALL;
    uint32_t mixed = __ballot_sync(~0u, group == BLEND_MIXED);
    if (group == BLEND_NONE) {
        int words = pass.channels * pass.depth / 8; /* of eight bytes */
        const uint2 *source = row_of<const uint2>(plane.source, y) + x / BLEND_GROUP * words;
        uint2 *target = row_of<uint2>(plane.target, y) + x / BLEND_GROUP * words;
        for (int i = 0; i < words; i++) {
            target[i] = source[i];
        }
    }
    for (int i = lane; i < KERNEL_BLEND_WIDTH && mixed; i += KERNEL_THREADS_X) {
        if ((mixed >> i / BLEND_GROUP & 1) && tile.x + i < end) {
            blend_at(pass, plane, tile.x + i, y);
        }
    }
}

#endif
