/* SPDX-License-Identifier: MIT
 * Colours from planes of luma and chroma. libheif repeats each sample of chroma over the pixels that share
 * it, which shows as steps; here chroma is interpolated, as it is for JPEG and AVIF. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_COLOURS_H
#define BLURD_CODECS_HEIC_HEIC_COLOURS_H

#include "codecs/heic/heic_library.h"
#include "core/image.h"

/* A plane of a decoded picture. Samples of more than 8 bits take two bytes. */
struct heic_plane {
    const uint8_t *data;
    size_t stride;
    uint32_t width, height;
    unsigned bits; /* of a sample */
};

/* How samples become red, green and blue: in 1/2^20 of a step of the image for each step of a plane. */
struct heic_colours {
    struct heic_plane luma, cb, cr;
    int64_t zero, middle; /* luma of black; chroma of grey, times 16 */
    int64_t by_luma, red_by_cr, green_by_cb, green_by_cr, blue_by_cb;
};

/* Whether the decoded picture has planes of luma and chroma, and a matrix that heic_colours_start knows. */
bool heic_colours_known(const struct heic_library *heif, const struct heif_image *planes);

/* Fills the factors by the matrix and the range that the picture states, for samples of the image from 0 to
 * `most`; without a statement they are BT.601 and full. The planes are filled by the caller, before; all have
 * the same number of bits. Only for a picture that is heic_colours_known. */
void heic_colours_start(struct heic_colours *colours, const struct heic_library *heif,
                        const struct heif_image *planes, uint32_t most);

/* Writes red, green and blue of a row of the image, and leaves its alpha. A plane of chroma that is smaller
 * than that of luma has half its width or height, rounded up; its samples lie in the middle of the pixels
 * that share them. */
void heic_colours_row(const struct heic_colours *colours, const struct image *image, uint32_t y);

#endif
