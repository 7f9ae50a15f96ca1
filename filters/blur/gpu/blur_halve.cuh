/* SPDX-License-Identifier: MIT
 * The first stage of a reduction by 2 along both axes, of single samples. Its weights are 1, 4, 6, 4, 1 of 16
 * along each axis. A vertical sum of samples has 12 bits and needs no rounding, a sum of both axes has 16: so
 * all sums are made two at a time, in the halves of a word.
 *
 * A lane has 16 columns of the source. It makes eight values of a few rows, from one before its columns on,
 * and takes what it needs of the columns to the left from the lane there. So the first lane of a warp makes
 * nothing. */
#ifndef BLURD_FILTERS_BLUR_GPU_BLUR_HALVE_CUH
#define BLURD_FILTERS_BLUR_GPU_BLUR_HALVE_CUH

#include "filters/blur/gpu/blur_column.cuh"

enum {
    HALVE_WORDS = 4, /* of 16 columns */
    HALVE_VALUES = KERNEL_HALVE_GROUP,
    HALVE_RADIUS = 2,
    HALVE_WINDOW = 2 * (KERNEL_HALVE_ROWS - 1) + 2 * HALVE_RADIUS + 1,
};

/* Pairs of adjacent even columns, and of odd ones. */
struct halve_pairs {
    uint32_t even[HALVE_WORDS], odd[HALVE_WORDS];
};

/* The sum of five rows: those around row 2 of `group`. */
static __device__ __forceinline__ struct halve_pairs halve_column(const uint4 *group) {
    struct halve_pairs sums;
#pragma unroll
    for (int i = 0; i < HALVE_WORDS; i++) {
        uint32_t even[2 * HALVE_RADIUS + 1], odd[2 * HALVE_RADIUS + 1];
#pragma unroll
        for (int k = 0; k <= 2 * HALVE_RADIUS; k++) {
            uint32_t word = i == 0 ? group[k].x : i == 1 ? group[k].y : i == 2 ? group[k].z : group[k].w;
            even[k] = __byte_perm(word, 0, 0x4240);
            odd[k] = __byte_perm(word, 0, 0x4341);
        }
        sums.even[i] = 6 * even[2] + even[0] + (4 * (even[1] + even[3]) + even[4]);
        sums.odd[i] = 6 * odd[2] + odd[0] + (4 * (odd[1] + odd[3]) + odd[4]);
    }
    return sums;
}

static __device__ __forceinline__ uint32_t halve_from_left(uint32_t word) {
    return __shfl_sync(0xffffffff, word, (int)threadIdx.x - 1);
}

/* The upper half of a word and the lower one of the next. */
static __device__ __forceinline__ uint32_t halve_between(uint32_t word, uint32_t next) {
    return __byte_perm(word, next, 0x5432);
}

/* The values of pairs of columns: those around the even column before a word, and its own. */
static __device__ __forceinline__ uint4 halve_row(const struct halve_pairs &sums) {
    uint32_t even = halve_from_left(sums.even[HALVE_WORDS - 1]);
    uint32_t odd = halve_from_left(sums.odd[HALVE_WORDS - 1]);
    uint32_t values[HALVE_WORDS];
#pragma unroll
    for (int i = 0; i < HALVE_WORDS; i++) {
        uint32_t sides = odd + halve_between(odd, sums.odd[i]);
        uint32_t sum = 6 * halve_between(even, sums.even[i]) + even + (4 * sides + sums.even[i]);
        values[i] = (sum + 0x00010001) >> 1 & 0x7fff7fff;
        even = sums.even[i];
        odd = sums.odd[i];
    }
    return make_uint4(values[0], values[1], values[2], values[3]);
}

static __device__ __forceinline__ void halve_tile(const struct fixed_pass &pass) {
    const struct fixed_plane &plane = pass.plane[plane_of(pass)];
    struct tile tile = tile_of(plane.tiles, plane.target);
    int top = 2 * (tile.y + plane.target.lo_y) - HALVE_RADIUS;
    const int *table = fill_row_table(plane.source, top);
    /* The lane's first value, at a position of one less than a multiple of 8, and its first column. */
    int before = (plane.target.lo_x + 1) & (HALVE_VALUES - 1);
    int lane = (int)threadIdx.y * (KERNEL_THREADS_X - 1) + (int)threadIdx.x - 1;
    int x = tile.x + lane * HALVE_VALUES - before;
    if (x - (int)threadIdx.x * HALVE_VALUES >= tile.x + tile.width) {
        return; /* as the others of the warp */
    }
    int column = 2 * (x + plane.target.lo_x + 1);
    uint4 group[HALVE_WINDOW];
    load_column<uint8_t, 1>(plane.source, plane.border, column, top, table, group);
#pragma unroll
    for (int i = 0; i < KERNEL_HALVE_ROWS; i++) {
        uint4 values = halve_row(halve_column(group + 2 * i));
        if (threadIdx.x > 0 && x < tile.x + tile.width && i < tile.height) {
            __stcg((uint4 *)(row_of<uint16_t>(plane.target, tile.y + i) + x), values);
        }
    }
}

#endif
