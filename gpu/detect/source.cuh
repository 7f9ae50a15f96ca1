/* SPDX-License-Identifier: MIT
 * Which pixels of the source a lane expands, and where the results go in shared memory. */
#ifndef BLURD_GPU_DETECT_SOURCE_CUH
#define BLURD_GPU_DETECT_SOURCE_CUH

#include "gpu/detect/form.cuh"

/* The pixels of the tile and around it that a lane works on: for the products, pixels g and g + 8 of each
 * unit, from whose sums it has pixels 2t and 2t + 1 of each eight. */
template <class Form> struct face_source {
    const uint8_t *at[Form::units][2]; /* the lane's first bytes; outside of the source any others */
    uint2 value[Form::kept ? Form::units : 1][Form::steps][2];
    /* Bits for those with sums that lie in the source: upper and lower ones of a pair. Others count as 0. */
    uint32_t upper, lower;
};

/* Position of a warp's unit in the tile and what is around it. */
template <class Form>
static __device__ __forceinline__ int face_unit(const struct face_place &place, int unit) {
    return (unit * Form::members + place.member) * KERNEL_FACE_TILE;
}

/* Whether a warp has no pixel in that unit. */
template <class Form>
static __device__ __forceinline__ bool face_lacks(const struct face_place &place, int unit) {
    return (unit + 1) * Form::members * KERNEL_FACE_TILE > Form::halo + KERNEL_FACE_TILE - 1 &&
           face_unit<Form>(place, unit) >= Form::halo;
}

/* Whether some warp has an upper pixel, or a lower one, in that unit. */
template <class Form> static __device__ __forceinline__ bool face_has_upper(int unit) {
    return unit * Form::members * KERNEL_FACE_TILE < Form::pairs;
}

template <class Form> static __device__ __forceinline__ bool face_has_lower(int unit) {
    return (unit + 1) * Form::members * KERNEL_FACE_TILE > Form::apart;
}

/* Where the words of a lane's first sum lie in a chunk: the upper one, and behind a lower one's offset. */
static __device__ __forceinline__ int face_word(const struct face_place &place) {
    return (place.member * KERNEL_FACE_TILE + 2 * place.quad) * KERNEL_FACE_PITCH + place.row * 8;
}

template <class Form> static __device__ __forceinline__ int face_word_offset(int unit, int pixel) {
    return (unit * Form::members * KERNEL_FACE_TILE + pixel / 2 * 8 + pixel % 2) * KERNEL_FACE_PITCH;
}

template <class Form> static __device__ __forceinline__ int face_lower_offset() {
    return 4 - Form::apart * KERNEL_FACE_PITCH;
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
        int64_t inside =
            face_inside<Form>(block, place, face_unit<Form>(place, i / 2) + i % 2 * 8 + place.row, &at);
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

/* Sets words outside of the source to 0, where they stay so, in that many chunks, and takes their bits away.
 */
template <class Form, int Chunks>
static __device__ __forceinline__ void face_clear(const struct face_block_pass &block,
                                                  const struct face_place &place, uint8_t *chunk,
                                                  struct face_source<Form> &source) {
    uint8_t *word = chunk + face_word(place);
#pragma unroll
    for (int i = 0; i < 4 * Form::units; i++) {
        int unit = i / 4, at, pixel = face_unit<Form>(place, unit) + i % 4 / 2 * 8 + i % 2 + 2 * place.quad;
        if (!face_inside<Form>(block, place, pixel, &at)) {
            for (int j = 0; j < Chunks; j++) {
                uint8_t *to = word + face_word_offset<Form>(unit, i % 4) + j * Form::chunk_bytes;
                if (source.upper >> i & 1) {
                    *(uint32_t *)to = 0;
                }
                if (source.lower >> i & 1) {
                    *(uint32_t *)(to + face_lower_offset<Form>()) = 0;
                }
            }
            source.upper &= ~(1u << i);
            source.lower &= ~(1u << i);
        }
    }
}

/* Finds where the lane's sums go. */
template <class Form>
static __device__ __forceinline__ void face_aim(const struct face_place &place,
                                                struct face_source<Form> &source) {
    constexpr int stride = Form::members * KERNEL_FACE_TILE; /* from unit to unit */
    int first = place.member * KERNEL_FACE_TILE + 2 * place.quad;
    source.upper = source.lower = 0;
#pragma unroll
    for (int i = 0; i < 4 * Form::units; i++) {
        int begin = i / 4 * stride, end = begin + stride, pixel = begin + i % 4 / 2 * 8 + i % 2;
        bool upper = end <= Form::pairs || first < Form::pairs - pixel;
        bool lower = (begin >= Form::apart || first >= Form::apart - pixel) &&
                     (end <= Form::halo || first < Form::halo - pixel);
        source.upper |= upper ? 1u << i : 0;
        source.lower |= lower ? 1u << i : 0;
    }
}

#endif
