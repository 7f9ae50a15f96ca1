/* SPDX-License-Identifier: MIT
 * Planes of interleaved pixels, a row of MCUs at a time: grey, or YCbCr whose colour is reduced as libjpeg
 * does it. Internal to codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_BASE_COLOURS_H
#define BLURD_CODECS_JPEG_BASELINE_BASE_COLOURS_H

#include "codecs/definition.h"

struct base_level;

/* The planes of the JPEG that is written for a picture of this shape. */
struct image_shape base_colours_shape(const struct image_shape *shape, const struct encode_options *options);

struct base_colours {
    const struct image *source;
    struct image planes; /* of the whole picture, but with memory for the rows of one row of MCUs */
    uint8_t *memory;
    uint8_t *room;      /* for a row of 8 bits without alpha */
    uint8_t *chroma[4]; /* rows that are not reduced yet: Cb and Cr, and those below */
};

/* Bytes of memory that it takes for a picture of this shape. */
size_t base_colours_bytes(const struct image_shape *shape);

/* `source`, which is interleaved or of 16 bits, must outlive it. ST_BUSY: no memory. */
enum status base_colours_init(struct base_colours *colours, const struct image *source,
                              const struct encode_options *options, struct error *err);
void base_colours_finish(struct base_colours *colours);

/* Fills the planes, with their padding, with the given row of MCUs. */
void base_colours_fill(struct base_colours *colours, const struct base_level *level, uint32_t mcu_row);

#endif
