/* SPDX-License-Identifier: MIT
 * Which pixels of the source a lane expands, and where the results go in shared memory. */
#ifndef BLURD_GPU_DETECT_SOURCE_CUH
#define BLURD_GPU_DETECT_SOURCE_CUH

#include "gpu/detect/form.cuh"

/* The pixels of the tile and around it that a lane works on, in units of eight pairs: for the products, the
 * upper and the lower pixel of pair g, from whose sums it has both pixels of pairs 2t and 2t + 1. */
template <class Form> struct face_source {
    const uint8_t *at[Form::units][2]; /* the lane's first bytes; outside of the source any others */
    uint2 value[Form::kept ? Form::units : 1][Form::steps][2];
    bool whole; /* all pixels lie in the source */
    /* Bits for those with sums that do not, two for each unit, of upper and lower pixels. They count as 0. */
    uint32_t outside[2];
};

/* The first of a warp's pairs in a unit. */
template <class Form>
static __device__ __forceinline__ int face_unit(const struct face_place &place, int unit) {
    return (unit * Form::members + place.member) * 8;
}

/* Whether a warp has no pair in that unit. */
template <class Form>
static __device__ __forceinline__ bool face_lacks(const struct face_place &place, int unit) {
    return (unit + 1) * Form::members * 8 > Form::pairs + 7 && face_unit<Form>(place, unit) >= Form::pairs;
}

/* Whether a lane has a pair from 2t on in that unit. */
template <class Form>
static __device__ __forceinline__ bool face_has(const struct face_place &place, int unit, int pair) {
    return (unit + 1) * Form::members * 8 <= Form::pairs ||
           face_unit<Form>(place, unit) + 2 * place.quad + pair < Form::pairs;
}

/* Where the words of a lane's first pair lie in a chunk, and from there those of others. */
static __device__ __forceinline__ int face_words(const struct face_place &place) {
    return (place.member * 8 + 2 * place.quad) * KERNEL_FACE_PITCH + place.row * KERNEL_FACE_PAIR;
}

template <class Form> static __device__ __forceinline__ int face_words_offset(int unit, int pair) {
    return (unit * Form::members * 8 + pair) * KERNEL_FACE_PITCH;
}

/* Whether a pixel of the tile and around it lies in the source, and where. */
template <class Form>
static __device__ __forceinline__ bool face_inside(const struct face_block_pass &block,
                                                   const struct face_place &place, int pixel, int *at) {
    int row = pixel / Form::halo_width;
    int x = place.x * Form::stride - 1 + pixel - row * Form::halo_width;
    int y = place.y * Form::stride - 1 + row;
    *at = y * block.width + x;
    return pixel < Form::halo && (unsigned)x < (unsigned)block.width && (unsigned)y < (unsigned)block.height;
}

/* Finds the lane's pixels of the source. */
template <class Form>
static __device__ __forceinline__ void face_find(const struct face_block_pass &block,
                                                 const struct face_place &place,
                                                 struct face_source<Form> &source) {
#pragma unroll
    for (int i = 0; i < 2 * Form::units; i++) {
        int at;
        int64_t inside = face_inside<Form>(
            block, place, face_unit<Form>(place, i / 2) + i % 2 * Form::apart + place.row, &at);
        source.at[i / 2][i % 2] = (const uint8_t *)block.source + place.quad * KERNEL_FACE_PAIR +
                                  (inside ? (int64_t)at * block.inputs : 0);
    }
#pragma unroll
    for (int i = 0; i < (Form::kept ? 2 * Form::units * Form::steps : 0); i++) {
        int unit = i / 2 / Form::steps, step = i / 2 % Form::steps;
        source.value[unit][step][i % 2] =
            __ldg((const uint2 *)(source.at[unit][i % 2] + step * KERNEL_FACE_CHUNK));
    }
}

/* Whether all of the tile and what is around it lies in the source. */
template <class Form>
static __device__ __forceinline__ bool face_whole(const struct face_block_pass &block,
                                                  const struct face_place &place) {
    int left = place.x * Form::stride - 1, top = place.y * Form::stride - 1;
    return left >= 0 && top >= 0 && left + Form::halo_width <= block.width &&
           top + Form::halo / Form::halo_width <= block.height;
}

/* Marks the lane's pixels that lie outside of the source. */
template <class Form>
static __device__ __forceinline__ void face_mark(const struct face_block_pass &block,
                                                 const struct face_place &place,
                                                 struct face_source<Form> &source) {
    source.outside[0] = source.outside[1] = 0;
    source.whole = face_whole<Form>(block, place);
    if (source.whole) {
        return;
    }
#pragma unroll
    for (int i = 0; i < 4 * Form::units; i++) {
        int at, pair = face_unit<Form>(place, i / 4) + 2 * place.quad + i / 2 % 2;
        bool outside =
            pair < Form::pairs && !face_inside<Form>(block, place, pair + i % 2 * Form::apart, &at);
        source.outside[i % 2] |= outside ? 1u << i / 2 : 0;
    }
}

/* Sets those to 0 among the words that the lane has written from `words` on. */
template <class Form>
static __device__ __forceinline__ void face_clear(const struct face_source<Form> &source, uint8_t *words) {
#pragma unroll
    for (int i = 0; i < 4 * Form::units; i++) {
        if (source.outside[i % 2] >> i / 2 & 1) {
            *(uint32_t *)(words + face_words_offset<Form>(i / 4, i / 2 % 2) + i % 2 * 4) = 0;
        }
    }
}

#endif
