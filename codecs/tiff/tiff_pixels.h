/* SPDX-License-Identifier: MIT
 * Pixels of samples as a TIFF stores them. Samples of n bits are scaled to 8 or 16: v * (2^m - 1) / (2^n -
 * 1), rounded. Internal to codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_PIXELS_H
#define BLURD_CODECS_TIFF_TIFF_PIXELS_H

#include "codecs/tiff/tiff_layout.h"

/* A part of a row of the picture. */
struct tiff_pixels_span {
    uint32_t x, y, count;
};

struct tiff_pixels {
    const struct tiff_layout *layout;
    const struct image *image;
    bool plain; /* samples are those of the picture, byte for byte */
    uint8_t palette[256][3];
    /* Contributions of Y, Cb and Cr in 1/65536, with the rounding in `luma`. */
    int32_t luma[256], red[256], blue[256], green_of_red[256], green_of_blue[256];
};

/* The layout and the image, of its shape, must outlive *pixels. ST_CORRUPT where the directory has impossible
 * numbers for YCbCr. */
enum status tiff_pixels_start(struct tiff_pixels *pixels, const struct tiff_layout *layout,
                              const struct image *image, struct error *err);

/* Takes the samples at `row`, which begins with the span's first pixel: all samples of each pixel, or only
 * the sample `plane` of each. Planes must come in order. */
void tiff_pixels_put(const struct tiff_pixels *pixels, const uint8_t *row, unsigned plane,
                     struct tiff_pixels_span span);

/* Takes a piece of YCbCr with reduced chroma: blocks of Y, each followed by one Cb and one Cr, which all of
 * its pixels have. `from` is where the piece begins in the picture. */
void tiff_pixels_put_blocks(const struct tiff_pixels *pixels, const uint8_t *data, uint32_t from_x,
                            uint32_t from_y);

/* Once all samples of a span are there: makes RGB of YCbCr, and divides colours by alpha. */
void tiff_pixels_complete(const struct tiff_pixels *pixels, struct tiff_pixels_span span);

#endif
