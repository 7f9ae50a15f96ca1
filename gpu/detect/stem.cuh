/* SPDX-License-Identifier: MIT
 * The first layers of the network that finds faces: a 3x3 with stride 2 from the picture, then as in a block.
 */
#ifndef BLURD_GPU_DETECT_STEM_CUH
#define BLURD_GPU_DETECT_STEM_CUH

#include "gpu/detect/block.cuh"

/* As enum pixel_model of core/image.h. */
enum { FACE_GRAY, FACE_GRAY_ALPHA, FACE_RGB, FACE_RGBA, FACE_YCBCR };

static __device__ __forceinline__ uint32_t face_sample(const struct kernel_grid &plane, int depth, int y,
                                                       int sample) {
    return depth == 8 ? __ldg(row_of<const uint8_t>(plane, y) + sample)
                      : __ldg(row_of<const uint16_t>(plane, y) + sample) >> 8;
}

/* What chroma adds to red, green and blue, by the JFIF conversion as libjpeg does it. */
struct face_chroma {
    int32_t red, green, blue;
};

static __device__ __forceinline__ struct face_chroma face_chroma_of(int32_t cb, int32_t cr) {
    cb -= 128;
    cr -= 128;
    return {(91881 * cr + 32768) >> 16, (-22554 * cb - 46802 * cr + 32768) >> 16,
            (116130 * cb + 32768) >> 16};
}

static __device__ __forceinline__ uint32_t face_colour(int32_t luma, const struct face_chroma &chroma) {
    return face_saturate(luma + chroma.red, luma + chroma.green, luma + chroma.blue, 0);
}

/* Red, green and blue of a pixel, in the low bytes; 0 outside. */
static __device__ __forceinline__ uint32_t face_pixel(const struct face_stem_pass &stem, int x, int y) {
    const struct kernel_grid &first = stem.plane[0];
    if ((unsigned)x >= (unsigned)first.width || (unsigned)y >= (unsigned)first.height) {
        return 0;
    }
    if (stem.model == FACE_YCBCR) {
        int chroma_x = x >> stem.shift_x, chroma_y = y >> stem.shift_y;
        return face_colour((int32_t)face_sample(first, 8, y, x),
                           face_chroma_of((int32_t)face_sample(stem.plane[1], 8, chroma_y, chroma_x),
                                          (int32_t)face_sample(stem.plane[2], 8, chroma_y, chroma_x)));
    }
    int at = x * stem.channels;
    if (stem.model <= FACE_GRAY_ALPHA) {
        return face_sample(first, stem.depth, y, at) * 0x010101u;
    }
    return face_sample(first, stem.depth, y, at) | face_sample(first, stem.depth, y, at + 1) << 8 |
           face_sample(first, stem.depth, y, at + 2) << 16;
}

/* Two pixels side by side, from an even x. */
static __device__ __forceinline__ uint2 face_two_pixels(const struct face_stem_pass &stem, int x, int y) {
    const struct kernel_grid &first = stem.plane[0];
    if (stem.model != FACE_YCBCR || stem.shift_x == 0 || (unsigned)x >= (unsigned)first.width - 1 ||
        (unsigned)y >= (unsigned)first.height) {
        return make_uint2(face_pixel(stem, x, y), face_pixel(stem, x + 1, y));
    }
    int chroma_x = x >> stem.shift_x, chroma_y = y >> stem.shift_y;
    uint32_t luma = __ldg(row_of<const uint16_t>(first, y) + x / 2);
    const struct face_chroma chroma =
        face_chroma_of(__ldg(row_of<const uint8_t>(stem.plane[1], chroma_y) + chroma_x),
                       __ldg(row_of<const uint8_t>(stem.plane[2], chroma_y) + chroma_x));
    return make_uint2(face_colour((int32_t)(luma & 0xff), chroma), face_colour((int32_t)(luma >> 8), chroma));
}

using face_stem_form =
    face_form<1, 1, 16, KERNEL_FACE_STEM_MEMBERS, KERNEL_FACE_STEM_ROWS, KERNEL_FACE_STEM_WIDTH>;

/* The part of the picture that a tile reads, from an even column on: words of a row, and rows. */
enum {
    FACE_PICTURE_WIDTH = 2 * face_stem_form::halo_width + 2,
    FACE_PICTURE_HEIGHT = 2 * (face_stem_form::height + 2) + 1
};

static __device__ __forceinline__ void face_load_picture(const struct face_stem_pass &stem,
                                                         const struct face_place &place) {
    int left = 2 * (place.x - 1) - 2, top = 2 * (place.y - 1) - 1;
    for (int i = place.thread; i < FACE_PICTURE_WIDTH / 2 * FACE_PICTURE_HEIGHT; i += FACE_THREADS) {
        int y = i / (FACE_PICTURE_WIDTH / 2), x = i % (FACE_PICTURE_WIDTH / 2) * 2;
        ((uint2 *)block_memory)[i] = face_two_pixels(stem, left + x, top + y);
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
        int pixel =
            min(face_unit<face_stem_form>(place, i / 2) + 8 * (i % 2) + place.row, face_stem_form::halo - 1);
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
    face_aim<form>(place, source);
    if (!face_whole<form>(block, place)) {
        face_clear<form, 1>(block, place, chunk, source);
    }
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
