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
    return depth == 8 ? row_of<const uint8_t>(plane, y)[sample]
                      : row_of<const uint16_t>(plane, y)[sample] >> 8;
}

static __device__ __forceinline__ uint32_t face_clamp(int32_t value) {
    return (uint32_t)min(max(value, 0), 255);
}

/* The JFIF conversion as libjpeg does it. */
static __device__ __forceinline__ uint32_t face_from_ycbcr(int32_t y, int32_t cb, int32_t cr) {
    cb -= 128;
    cr -= 128;
    uint32_t red = face_clamp(y + ((91881 * cr + 32768) >> 16));
    uint32_t green = face_clamp(y + ((-22554 * cb - 46802 * cr + 32768) >> 16));
    uint32_t blue = face_clamp(y + ((116130 * cb + 32768) >> 16));
    return red | green << 8 | blue << 16;
}

/* Red, green and blue of a pixel, in the low bytes; 0 outside. */
static __device__ __forceinline__ uint32_t face_pixel(const struct face_stem_pass &stem, int x, int y) {
    const struct kernel_grid &first = stem.plane[0];
    if ((unsigned)x >= (unsigned)first.width || (unsigned)y >= (unsigned)first.height) {
        return 0;
    }
    if (stem.model == FACE_YCBCR) {
        int chroma_x = x >> stem.shift_x, chroma_y = y >> stem.shift_y;
        return face_from_ycbcr((int32_t)face_sample(first, 8, y, x),
                               (int32_t)face_sample(stem.plane[1], 8, chroma_y, chroma_x),
                               (int32_t)face_sample(stem.plane[2], 8, chroma_y, chroma_x));
    }
    int at = x * stem.channels;
    if (stem.model <= FACE_GRAY_ALPHA) {
        return face_sample(first, stem.depth, y, at) * 0x010101u;
    }
    return face_sample(first, stem.depth, y, at) | face_sample(first, stem.depth, y, at + 1) << 8 |
           face_sample(first, stem.depth, y, at + 2) << 16;
}

/* The side of the part of the picture that so many pixels of the layer read. */
static __device__ __forceinline__ int face_picture_side(int pixels) {
    return 2 * pixels + 1;
}

static __device__ __forceinline__ void face_load_picture(const struct face_stem_pass &stem,
                                                         const struct face_place &place) {
    int width = face_picture_side(stem.block.halo_width);
    int height = face_picture_side(stem.block.tile_height + 2);
    int left = 2 * (place.x - 1) - 1, top = 2 * (place.y - 1) - 1;
    uint32_t *to = (uint32_t *)block_memory;
    for (int i = place.thread; i < width * height; i += FACE_THREADS) {
        int y = face_divide(i, width), x = i - y * width;
        to[i] = face_pixel(stem, left + x, top + y);
    }
}

/* Each warp expands 16 pixels at a time. Quad lane t hands in taps t and t + 4, and lane 0 the last one. */
static __device__ __forceinline__ void face_expand_picture(const struct face_block_pass &block,
                                                           const struct face_place &place,
                                                           const uint8_t *weights, uint8_t *chunk) {
    const struct face_lane_terms terms = face_terms_of(weights + block.steps * KERNEL_FACE_STEP, place.quad);
    const uint32_t *picture = (const uint32_t *)block_memory;
    int width = face_picture_side(block.halo_width), other = place.quad + 4;
    int tap0 = place.quad / 3 * width + place.quad % 3, tap1 = other / 3 * width + other % 3,
        tap2 = 2 * width + 2;
    for (int first = place.member * KERNEL_FACE_TILE; first < block.halo_pixels; first += FACE_THREADS / 2) {
        const uint32_t *from[2];
#pragma unroll
        for (int row = 0; row < 2; row++) {
            int pixel = min(first + place.row + 8 * row, block.halo_pixels - 1);
            int y = face_halo_row(block, pixel), x = pixel - y * block.halo_width;
            from[row] = picture + 2 * (y * width + x);
        }
        int32_t sum[4][4];
        face_start(sum, terms);
        uint2 a0 = make_uint2(from[0][tap0], from[0][tap1]), a1 = make_uint2(from[1][tap0], from[1][tap1]);
        uint2 b0 = make_uint2(from[0][tap2], 0), b1 = make_uint2(from[1][tap2], 0);
#pragma unroll
        for (int i = 0; i < 4; i++) {
            face_multiply(sum[i], a0, a1, face_weights(weights, i));
            face_multiply(sum[i], b0, b1, face_weights(weights, 4 + i));
        }
        face_store(block, place, chunk, first, sum, terms);
    }
}

template <int Rows> static __device__ __forceinline__ void face_stem_tile(const struct face_stem_pass &stem) {
    const struct face_block_pass &block = stem.block;
    const struct face_place place = face_place_of<KERNEL_THREADS_Y>(block);
    const uint8_t *weights = (const uint8_t *)block.weights;
    uint8_t *chunk = face_memory(block.expanded);
    struct face_sums<Rows, 2> sums = {};
    face_load_picture(stem, place);
    __syncthreads();
    face_expand_picture(block, place, weights, chunk);
    __syncthreads();
    face_reduce(block, place, weights + block.steps * KERNEL_FACE_STEP + KERNEL_FACE_TERMS, chunk, sums);
    __syncthreads();
    face_gather<KERNEL_THREADS_Y>(block, place, sums);
    face_write<KERNEL_THREADS_Y, Rows>(block, place);
}

#endif
