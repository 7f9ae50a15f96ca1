/* SPDX-License-Identifier: MIT
 * The picture as the network reads it: red, green and blue. Included once per instruction set; compilers make
 * vectors of the loops over blocks. */
#include <string.h>

#include "cpu/detect/detect_kernels.h"

enum { PICTURE_BLOCK = 64 };

/* From the samples of a pixel, or the upper halves of them, in steps of bytes. */
static void picture_samples(uint8_t *to, const uint8_t *from, size_t step, size_t green, size_t blue,
                            size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        to[3 * i] = from[i * step];
        to[3 * i + 1] = from[i * step + green];
        to[3 * i + 2] = from[i * step + blue];
    }
}

/* A sample over mid-grey, by its alpha; to the nearest whole number. */
static inline uint8_t picture_over(unsigned sample, unsigned alpha) {
    const unsigned sum = sample * alpha + 128 * (255 - alpha) + 128;
    return (uint8_t)((sum + (sum >> 8)) >> 8);
}

/* The same with alpha behind the colours: what only alpha shows must be found, too, be it dark or light. */
static void picture_transparent(uint8_t *to, const uint8_t *from, size_t step, size_t green, size_t blue,
                                size_t alpha, size_t pixels) {
    for (size_t i = 0; i < pixels; i++) {
        const uint8_t *pixel = from + i * step;
        to[3 * i] = picture_over(pixel[0], pixel[alpha]);
        to[3 * i + 1] = picture_over(pixel[green], pixel[alpha]);
        to[3 * i + 2] = picture_over(pixel[blue], pixel[alpha]);
    }
}

static void picture_pixels(uint8_t *to, const struct image *image, uint32_t y, uint32_t from, size_t pixels) {
    const struct plane *plane = &image->plane[0];
    const size_t sample = image->depth / 8, step = plane->channels * sample;
    const uint16_t order = 1;
    const size_t high = sample > 1 && *(const uint8_t *)&order ? 1 : 0; /* byte of 16 bits */
    const uint8_t *row = plane_row(plane, y) + from * step + high;
    const bool colours = plane->channels > 2;
    if (plane->channels == 3 && sample == 1) {
        memcpy(to, row, 3 * pixels);
    } else if (plane->channels == 4 && sample == 1) {
        picture_transparent(to, row, 4, 1, 2, 3, pixels);
    } else if (image_pixel_has_alpha(image->model)) {
        picture_transparent(to, row, step, colours ? sample : 0, colours ? 2 * sample : 0, step - sample,
                            pixels);
    } else {
        picture_samples(to, row, step, colours ? sample : 0, colours ? 2 * sample : 0, pixels);
    }
}

/* Chroma of a block of pixels from the sample of `first`, a multiple of the reduction, on. */
static void picture_chroma(int16_t *to, const uint8_t *from, unsigned shift) {
    for (unsigned i = 0; i < PICTURE_BLOCK && shift == 0; i++) {
        to[i] = from[i];
    }
    for (unsigned i = 0; i < PICTURE_BLOCK / 2 && shift == 1; i++) {
        to[2 * i] = from[i];
        to[2 * i + 1] = from[i];
    }
    for (unsigned i = 0; i < PICTURE_BLOCK && shift == 2; i++) {
        to[i] = from[i / 4];
    }
}

static inline uint8_t picture_clamped(int32_t value) {
    value = value < 0 ? 0 : value;
    return (uint8_t)(value > 255 ? 255 : value);
}

/* libjpeg's arithmetic. */
static void picture_block(uint8_t *to, const uint8_t *luma, const int16_t *blues, const int16_t *reds) {
    uint8_t red[PICTURE_BLOCK], green[PICTURE_BLOCK], blue[PICTURE_BLOCK];
    for (unsigned i = 0; i < PICTURE_BLOCK; i++) {
        int32_t base = luma[i], cb = blues[i] - 128, cr = reds[i] - 128;
        red[i] = picture_clamped(base + ((91881 * cr + 32768) >> 16));
        green[i] = picture_clamped(base + ((-22554 * cb - 46802 * cr + 32768) >> 16));
        blue[i] = picture_clamped(base + ((116130 * cb + 32768) >> 16));
    }
    for (unsigned i = 0; i < PICTURE_BLOCK; i++) {
        to[3 * i] = red[i];
        to[3 * i + 1] = green[i];
        to[3 * i + 2] = blue[i];
    }
}

/* Blocks begin at multiples of their size. Samples behind the end of a row are read as 0. */
static void picture_planes(uint8_t *to, const struct image *image, uint32_t y, uint32_t from, uint32_t end) {
    const struct plane *chroma = &image->plane[1];
    const unsigned shift = chroma->shift_x, samples = PICTURE_BLOCK >> shift;
    for (uint32_t x = from - from % PICTURE_BLOCK; x < end; x += PICTURE_BLOCK) {
        uint8_t luma[PICTURE_BLOCK] = {0}, reduced[2][PICTURE_BLOCK] = {{0}}, rgb[3 * PICTURE_BLOCK];
        int16_t wide[2][PICTURE_BLOCK];
        const uint32_t left = image->width - x, column = x >> shift, narrow = chroma->width - column;
        memcpy(luma, plane_row(&image->plane[0], y) + x, left < PICTURE_BLOCK ? left : PICTURE_BLOCK);
        for (unsigned i = 0; i < 2; i++) {
            memcpy(reduced[i], plane_row(&image->plane[1 + i], y >> chroma->shift_y) + column,
                   narrow < samples ? narrow : samples);
            picture_chroma(wide[i], reduced[i], shift);
        }
        picture_block(rgb, luma, wide[0], wide[1]);
        const uint32_t low = x < from ? from - x : 0,
                       high = end - x < PICTURE_BLOCK ? end - x : PICTURE_BLOCK;
        memcpy(to, rgb + (size_t)3 * low, (size_t)3 * (high - low));
        to += (size_t)3 * (high - low);
    }
}

static void picture(const struct image *image, uint32_t y, uint32_t from, uint32_t to, uint8_t *pixels) {
    const uint32_t width = y < image->height ? image->width : 0;
    const uint32_t end = to < width ? to : from < width ? width : from;
    if (end > from && image->model == PIXEL_YCBCR) {
        picture_planes(pixels, image, y, from, end);
    } else if (end > from) {
        picture_pixels(pixels, image, y, from, end - from);
    }
    memset(pixels + (size_t)3 * (end - from), 0, (size_t)3 * (to - end));
}
