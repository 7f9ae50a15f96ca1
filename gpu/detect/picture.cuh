/* SPDX-License-Identifier: MIT
 * Pixels of a picture as the first layer of a network reads them. */
#ifndef BLURD_GPU_DETECT_PICTURE_CUH
#define BLURD_GPU_DETECT_PICTURE_CUH

#include "gpu/detect/matrix.cuh"
#include "gpu/stream/grid.cuh"

/* As enum pixel_model of core/image.h. */
enum { PICTURE_GRAY, PICTURE_GRAY_ALPHA, PICTURE_RGB, PICTURE_RGBA, PICTURE_YCBCR };

static __device__ __forceinline__ uint32_t picture_sample(const struct kernel_grid &plane, int depth, int y,
                                                          int sample) {
    return depth == 8 ? __ldg(row_of<const uint8_t>(plane, y) + sample)
                      : __ldg(row_of<const uint16_t>(plane, y) + sample) >> 8;
}

/* What chroma adds to red, green and blue, by the JFIF conversion as libjpeg does it. */
struct picture_chroma {
    int32_t red, green, blue;
};

static __device__ __forceinline__ struct picture_chroma picture_chroma_of(int32_t cb, int32_t cr) {
    cb -= 128;
    cr -= 128;
    return {(91881 * cr + 32768) >> 16, (-22554 * cb - 46802 * cr + 32768) >> 16,
            (116130 * cb + 32768) >> 16};
}

static __device__ __forceinline__ uint32_t picture_colour(int32_t luma, const struct picture_chroma &chroma) {
    return face_saturate(luma + chroma.red, luma + chroma.green, luma + chroma.blue, 0);
}

/* A sample over mid-grey, by its alpha; to the nearest whole number. */
static __device__ __forceinline__ uint32_t picture_over(uint32_t sample, uint32_t alpha) {
    const uint32_t sum = sample * alpha + 128 * (255 - alpha) + 128;
    return (sum + (sum >> 8)) >> 8;
}

/* Red, green and blue of a pixel, over mid-grey where it is transparent, in the low bytes; 0 outside. */
static __device__ __forceinline__ uint32_t picture_pixel(const struct kernel_picture &picture, int x, int y) {
    const struct kernel_grid &first = picture.plane[0];
    if ((unsigned)x >= (unsigned)first.width || (unsigned)y >= (unsigned)first.height) {
        return 0;
    }
    if (picture.model == PICTURE_YCBCR) {
        int chroma_x = x >> picture.shift_x, chroma_y = y >> picture.shift_y;
        return picture_colour(
            (int32_t)picture_sample(first, 8, y, x),
            picture_chroma_of((int32_t)picture_sample(picture.plane[1], 8, chroma_y, chroma_x),
                              (int32_t)picture_sample(picture.plane[2], 8, chroma_y, chroma_x)));
    }
    const int at = x * picture.channels;
    const bool transparent = picture.model == PICTURE_GRAY_ALPHA || picture.model == PICTURE_RGBA;
    const uint32_t alpha =
        transparent ? picture_sample(first, picture.depth, y, at + picture.channels - 1) : 255;
    const uint32_t red = picture_over(picture_sample(first, picture.depth, y, at), alpha);
    if (picture.model <= PICTURE_GRAY_ALPHA) {
        return red * 0x010101u;
    }
    return red | picture_over(picture_sample(first, picture.depth, y, at + 1), alpha) << 8 |
           picture_over(picture_sample(first, picture.depth, y, at + 2), alpha) << 16;
}

/* Samples of two pixels side by side that share their chroma. */
struct picture_pair {
    uint32_t luma, cb, cr;
};

/* Of a picture with halved chroma, from an even x. */
static __device__ __forceinline__ struct picture_pair picture_load_pair(const struct kernel_picture &picture,
                                                                        int x, int y) {
    const int chroma_x = x >> picture.shift_x, chroma_y = y >> picture.shift_y;
    return {__ldg(row_of<const uint16_t>(picture.plane[0], y) + x / 2),
            __ldg(row_of<const uint8_t>(picture.plane[1], chroma_y) + chroma_x),
            __ldg(row_of<const uint8_t>(picture.plane[2], chroma_y) + chroma_x)};
}

static __device__ __forceinline__ uint2 picture_pair_pixels(const struct picture_pair &pair) {
    const struct picture_chroma chroma = picture_chroma_of((int32_t)pair.cb, (int32_t)pair.cr);
    return make_uint2(picture_colour((int32_t)(pair.luma & 0xff), chroma),
                      picture_colour((int32_t)(pair.luma >> 8), chroma));
}

/* Whether all of a rectangle from an even place on, with an even width, consists of such pairs. */
static __device__ __forceinline__ bool picture_has_pairs(const struct kernel_picture &picture, int left,
                                                         int top, int width, int height) {
    return picture.model == PICTURE_YCBCR && picture.shift_x == 1 && left >= 0 && top >= 0 &&
           left + width <= picture.plane[0].width && top + height <= picture.plane[0].height;
}

/* Two pixels side by side, from an even x. */
static __device__ __forceinline__ uint2 picture_two_pixels(const struct kernel_picture &picture, int x,
                                                           int y) {
    return picture_has_pairs(picture, x, y, 2, 1)
               ? picture_pair_pixels(picture_load_pair(picture, x, y))
               : make_uint2(picture_pixel(picture, x, y), picture_pixel(picture, x + 1, y));
}

#endif
