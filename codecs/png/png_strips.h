/* SPDX-License-Identifier: MIT
 * Compresses the pixel data of a PNG in strips of rows that a crew makes in parallel: with runs alone
 * (deflate_rle.h), or with matches (deflate_lz.h). A strip depends only on its rows and those above them, and
 * its size only on the picture: the output does not depend on the threads. Internal to codecs/. */
#ifndef BLURD_CODECS_PNG_PNG_STRIPS_H
#define BLURD_CODECS_PNG_PNG_STRIPS_H

#include "core/bytes.h"
#include "core/crew.h"
#include "core/image.h"

struct png_form;

/* Appends the IDAT chunks, one a strip and one that ends the stream. `form` as in png_rows_init. With
 * `matches` the way to filter that does best on a sample is taken for all rows. The crew (NULL: none) helps.
 * ST_LIMIT at the deadline (CLOCK_MONOTONIC, 0: none), which is checked before each strip, or over the
 * output's maximum; ST_BUSY without memory. */
enum status png_strips_write(const struct image *image, const struct png_form *form, bool matches,
                             struct crew *crew, int64_t deadline_ns, struct buf *output, struct error *err);

/* The most bytes that this takes besides the output; `helped`: with a crew. */
size_t png_strips_bytes(size_t row, uint32_t height, bool matches, bool helped);

#endif
