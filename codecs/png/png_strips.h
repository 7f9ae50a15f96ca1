/* SPDX-License-Identifier: MIT
 * Compresses the pixel data of a PNG with codecs/png/deflate_rle.h, in strips of rows that a crew makes in
 * parallel. A strip depends only on its rows and the one above them, and its size only on the picture: the
 * output does not depend on the threads. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_STRIPS_H
#define BLURD_CODECS_PNG_PNG_STRIPS_H

#include "core/bytes.h"
#include "core/crew.h"
#include "core/image.h"

/* Appends the IDAT chunks, one a strip and one that ends the stream. The crew (NULL: none) helps. ST_LIMIT
 * at the deadline (CLOCK_MONOTONIC, 0: none), which is checked before each strip, or over the output's
 * maximum; ST_BUSY without memory. */
enum status png_strips_write(const struct image *image, struct crew *crew, int64_t deadline_ns,
                             struct buf *output, struct error *err);

/* The most bytes that this takes besides the output; `helped`: with a crew. */
size_t png_strips_bytes(size_t row, uint32_t height, bool helped);

#endif
