/* SPDX-License-Identifier: MIT
 * What a row of RGB is made of. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_PIXELS_PIXELS_ROW_H
#define BLURD_CODECS_JPEG_PIXELS_PIXELS_ROW_H

#include <stdbool.h>
#include <stdint.h>

/* A row of pixels, and the rows of chroma that it takes: Cb and Cr. */
struct pixels_row {
    const uint8_t *luma, *near[2];
    const uint8_t *next[2]; /* the second nearest row, if rows are mixed */
    uint32_t width;         /* pixels; `chroma_width` are samples */
    uint32_t chroma_width;
    uint8_t shift_x, shift_y; /* of chroma */
    bool smooth;              /* libjpeg mixes neighbours of chroma; else it repeats samples */
    bool odd;                 /* the row's number */
    uint16_t *sum;            /* room for chroma_width + 2 values */
    uint8_t *full[2];         /* room for a row, and one sample more */
    uint8_t *colour[3];       /* room for a row */
};

#endif
