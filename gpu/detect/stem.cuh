/* SPDX-License-Identifier: MIT
 * The first layers of the network that finds faces: a 3x3 with stride 2 from the picture, then as in a block.
 */
#ifndef BLURD_GPU_DETECT_STEM_CUH
#define BLURD_GPU_DETECT_STEM_CUH

#include "gpu/detect/block.cuh"
#include "gpu/detect/picture.cuh"

using face_stem_form =
    face_form<1, 1, 16, KERNEL_FACE_STEM_MEMBERS, KERNEL_FACE_STEM_ROWS, KERNEL_FACE_STEM_WIDTH>;

/* The part of the picture that a tile reads, from an even column on: words of a row, and rows. */
enum {
    FACE_PICTURE_WIDTH = 2 * face_stem_form::halo_width + 2,
    FACE_PICTURE_HEIGHT = 2 * (face_stem_form::height + 2) + 1
};

/* Pairs of pixels of that part, one after the other. */
enum { FACE_PAIRS_X = FACE_PICTURE_WIDTH / 2, FACE_PAIRS = FACE_PAIRS_X * FACE_PICTURE_HEIGHT };
enum { FACE_PAIR_ROUNDS = (FACE_PAIRS + FACE_THREADS - 1) / FACE_THREADS };

/* Loads that do not depend on a condition need not wait for each other. */
static __device__ __forceinline__ void face_load_pairs(const struct face_stem_pass &stem,
                                                       const struct face_place &place, int left, int top) {
    struct picture_pair pair[FACE_PAIR_ROUNDS];
#pragma unroll
    for (int i = 0; i < FACE_PAIR_ROUNDS; i++) {
        int index = min(place.thread + i * FACE_THREADS, FACE_PAIRS - 1), y = index / FACE_PAIRS_X;
        pair[i] = picture_load_pair(stem.picture, left + (index - y * FACE_PAIRS_X) * 2, top + y);
    }
#pragma unroll
    for (int i = 0; i < FACE_PAIR_ROUNDS; i++) {
        int index = place.thread + i * FACE_THREADS;
        if (index < FACE_PAIRS) {
            ((uint2 *)block_memory)[index] = picture_pair_pixels(pair[i]);
        }
    }
}

static __device__ __forceinline__ void face_load_picture(const struct face_stem_pass &stem,
                                                         const struct face_place &place) {
    int left = 2 * (place.x - 1) - 2, top = 2 * (place.y - 1) - 1;
    if (picture_has_pairs(stem.picture, left, top, FACE_PICTURE_WIDTH, FACE_PICTURE_HEIGHT)) {
        face_load_pairs(stem, place, left, top);
        return;
    }
    for (int i = place.thread; i < FACE_PAIRS; i += FACE_THREADS) {
        int y = i / FACE_PAIRS_X, x = i % FACE_PAIRS_X * 2;
        ((uint2 *)block_memory)[i] = picture_two_pixels(stem.picture, left + x, top + y);
    }
}

/* The word of a tap of the 3x3. */
static __device__ __forceinline__ int face_tap(int tap) {
    return tap / 3 * FACE_PICTURE_WIDTH + tap % 3;
}

/* Fills in what the lane hands to the matrix instruction: taps t and t + 4, and in the idle byte of the
 * former channel t of the last tap. */
static __device__ __forceinline__ void face_fetch_picture(const struct face_place &place,
                                                          struct face_source<face_stem_form> &source) {
    int tap0 = face_tap(place.quad), tap1 = face_tap(place.quad + 4), tap2 = face_tap(8);
    uint32_t selector = 0x4210u + ((uint32_t)place.quad << 12);
#pragma unroll
    for (int i = 0; i < 2 * face_stem_form::units; i++) {
        int pixel = min(face_unit<face_stem_form>(place, i / 2) + i % 2 * face_stem_form::apart + place.row,
                        face_stem_form::halo - 1);
        int y = pixel / face_stem_form::halo_width, x = pixel % face_stem_form::halo_width;
        const uint32_t *from = (const uint32_t *)block_memory + 2 * (y * FACE_PICTURE_WIDTH + x) + 1;
        source.value[i / 2][0][i % 2] = make_uint2(__byte_perm(from[tap0], from[tap2], selector), from[tap1]);
    }
}

static __device__ __forceinline__ void face_stem_tile(const struct face_stem_pass &stem) {
    using form = face_stem_form;
    const struct face_block_pass &block = stem.block;
    const struct face_place place = face_place_of<form>(block);
    const uint8_t *weights = (const uint8_t *)block.weights;
    const uint8_t *depth = weights + KERNEL_FACE_STEP + KERNEL_FACE_TERMS;
    uint8_t *chunk = face_memory(KERNEL_FACE_PICTURE_BYTES);
    struct face_sums<form> sums = {};
    struct face_source<form> source;
    face_load_picture(stem, place);
    face_mark<form>(block, place, source);
    __syncthreads();
    face_fetch_picture(place, source);
    face_expand<form>(place, source, weights, chunk);
    const struct face_taps taps = face_taps_of(depth);
    __syncthreads();
    face_reduce<form>(place, taps, depth, chunk, sums);
    __syncthreads();
    face_gather<form>(place, sums);
    face_write<form>(block, place);
}

#endif
