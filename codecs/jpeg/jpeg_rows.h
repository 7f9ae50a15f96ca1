/* SPDX-License-Identifier: MIT
 * Rows of interleaved pixels in the form that JPEG encoders take. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_JPEG_ROWS_H
#define BLURD_CODECS_JPEG_JPEG_ROWS_H

#include "core/image.h"

/* Row `y` as 8 bits without alpha: the image's own, or converted to `room`, which has space for it. Alpha is
 * composed over white, 16 bits are rounded to 8. */
const uint8_t *jpeg_rows_get(const struct image *image, uint32_t y, uint8_t *room);

#endif
