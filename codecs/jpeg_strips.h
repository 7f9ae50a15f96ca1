/* SPDX-License-Identifier: MIT
 * A JPEG in strips of MCU rows that a crew encodes in parallel. Between them stand restart markers, behind
 * which nothing depends on what came before. Where they stand depends on the picture alone, and libjpeg
 * writes the same bytes when it is told to put them there: so one thread lets it. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_STRIPS_H
#define BLURD_CODECS_JPEG_STRIPS_H

#include "codecs/codec.h"

/* The pixel rows of a strip, a multiple of IMAGE_MCU; 0 when there is but one strip: small pictures, and
 * progressive ones, whose scans need statistics of the whole. */
uint32_t jpeg_strip_rows(const struct image *image, const struct encode_options *options);

/* How many threads the strips are worth now. */
unsigned jpeg_strip_seats(const struct image *image, const struct encode_options *options);

/* Appends the whole file, made by up to `seats` threads. For pictures of several strips. Failures as
 * codec_encode. */
enum status jpeg_strips_write(const struct image *image, const struct encode_options *options,
                              const struct metadata *metadata, unsigned seats, struct buf *output,
                              struct error *err);

#endif
