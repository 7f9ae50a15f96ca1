/* SPDX-License-Identifier: MIT
 * The pixel data of a PNG by codecs/png/deflate_rle.h, in strips of rows that a crew makes in parallel. A
 * strip depends on nothing but its rows and the one above them, and where it ends depends on the picture
 * alone: the bytes do not depend on the threads that made them. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_STRIPS_H
#define BLURD_CODECS_PNG_PNG_STRIPS_H

#include "core/bytes.h"
#include "core/crew.h"
#include "core/image.h"

/* Appends the IDAT chunks, one a strip and one that ends the stream. The crew (NULL: none) helps. ST_LIMIT
 * at the deadline, which is looked at before each strip (CLOCK_MONOTONIC, 0: none), or over the output's
 * maximum; ST_BUSY without memory. */
enum status png_strips_write(const struct image *image, struct crew *crew, int64_t deadline_ns,
                             struct buf *output, struct error *err);

/* Bytes that this takes beside the output, at most, for so many rows of so many bytes; `helped`: with a crew.
 */
size_t png_strips_bytes(size_t row, uint32_t height, bool helped);

#endif
