/* SPDX-License-Identifier: MIT
 * The small picture that the parts of a placeholder are computed from, in the form that the encoders of
 * hashes take. */
#ifndef BLURD_SERVER_PLACEHOLDER_THUMBNAIL_H
#define BLURD_SERVER_PLACEHOLDER_THUMBNAIL_H

#include "core/image.h"

enum { THUMBNAIL_SIDE = 100 }; /* ThumbHash takes no larger pictures */

struct thumbnail {
    uint32_t width, height;                            /* 1 to THUMBNAIL_SIDE */
    enum pixel_model model;                            /* of the picture; never PIXEL_YCBCR */
    uint8_t pixel[THUMBNAIL_SIDE * THUMBNAIL_SIDE][4]; /* RGBA without gaps, straight alpha */
};

/* Reads an interleaved picture of 1 to THUMBNAIL_SIDE pixels a side. 16 bits are rounded to the nearest of
 * 8. */
void thumbnail_read(struct thumbnail *thumbnail, const struct image *image);

/* Fills `small` with the area mean at that size, which is at most the thumbnail's on both sides. Colours are
 * weighted by alpha; halves are rounded up. Where alpha is 0 colours are 0. */
void thumbnail_shrink(const struct thumbnail *thumbnail, uint32_t width, uint32_t height,
                      struct thumbnail *small);

#endif
