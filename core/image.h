/* SPDX-License-Identifier: MIT
 * A picture in memory: up to three planes, each with its own size and stride.
 *
 * Two shapes exist. *Interleaved*: one plane whose pixels are 1 to 4 adjacent samples (grey, grey+alpha, RGB,
 * RGBA). *Planar* YCbCr: three planes of one sample a pixel, the chroma planes reduced by 1, 2 or 4 per axis,
 * as the JPEG stores them, so that a 4:2:0 picture is 1.5 bytes a pixel instead of 3.
 *
 * An image never owns its pixels: image_layout() says how many bytes it needs, image_place() lays it over
 * lent memory (a slot, a test's malloc, pinned memory). Plain data; copying the struct copies the view. */
#ifndef BLURD_CORE_IMAGE_H
#define BLURD_CORE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pixel_model {
    PIXEL_GRAY,       /* 1 sample */
    PIXEL_GRAY_ALPHA, /* 2 samples, straight alpha last */
    PIXEL_RGB,        /* 3 samples */
    PIXEL_RGBA,       /* 4 samples, straight alpha last */
    PIXEL_YCBCR,      /* 3 planes, 8 bits only; JFIF full range, or as a WebP or AVIF stores them */
};

enum {
    IMAGE_PLANES_MAX = 3,
    IMAGE_ALIGNMENT = 64, /* every plane and row starts on a cache line */
    IMAGE_MCU = 32,       /* planes are padded to the largest JPEG MCU, see below */
};

struct plane {
    uint8_t *data;    /* first sample of the first row; NULL until image_place */
    size_t offset;    /* position of data in the image's memory, in bytes */
    uint32_t width;   /* pixels that count */
    uint32_t height;  /* rows that count */
    size_t stride;    /* bytes from one row to the next, a multiple of IMAGE_ALIGNMENT */
    uint8_t channels; /* interleaved samples a pixel, 1 to 4 */
    uint8_t shift_x;  /* log2 of the horizontal reduction against the image: 0, 1, 2 */
    uint8_t shift_y;  /* the same vertically */
};

struct image {
    enum pixel_model model;
    uint8_t depth; /* bits a sample: 8 or 16 (16: host byte order) */
    uint8_t plane_count;
    uint32_t width; /* pixels */
    uint32_t height;
    struct plane plane[IMAGE_PLANES_MAX];
    size_t room; /* bytes behind the image's own that its decoder may use meanwhile: codec_decode_room */
};

/* Everything about a picture but its memory; what a codec's probe reports. */
struct image_shape {
    enum pixel_model model;
    uint8_t depth;          /* 8 or 16 */
    uint8_t chroma_shift_x; /* PIXEL_YCBCR only: 0, 1 or 2 */
    uint8_t chroma_shift_y;
    uint32_t width;
    uint32_t height;
};

/* Samples a pixel of the model: 1, 2, 3, 4; 3 for PIXEL_YCBCR. */
unsigned image_pixel_channels(enum pixel_model model);
bool image_pixel_has_alpha(enum pixel_model model);

/* Fills *image (plane sizes, strides, offsets, reductions; no memory and no room yet) and returns the bytes
 * it needs, a multiple of IMAGE_ALIGNMENT; 0 when the size does not fit in size_t. Grey and YCbCr 8-bit
 * planes are padded to whole IMAGE_MCU columns and rows, so that libjpeg reads and writes them in place; the
 * padding holds no picture. */
size_t image_layout(struct image *image, const struct image_shape *shape);

/* Gives a laid-out image image_layout's bytes at `memory`, aligned to IMAGE_ALIGNMENT. The memory is lent
 * and must outlive the image. */
void image_place(struct image *image, uint8_t *memory);

struct image_shape image_shape(const struct image *image);

bool image_same_shape(const struct image_shape *a, const struct image_shape *b);

static inline size_t plane_row_bytes(const struct plane *plane, unsigned depth) {
    return (size_t)plane->width * plane->channels * (depth / 8);
}
static inline uint8_t *plane_row(const struct plane *plane, uint32_t y) {
    return plane->data + (size_t)y * plane->stride;
}

/* Sample value of a step of 1/255: 1, or 257 for 16 bits. */
static inline double image_sample_step(const struct image_shape *shape) {
    return shape->depth == 16 ? 257 : 1;
}

#endif
