/* SPDX-License-Identifier: MIT
 * Planes of interleaved pixels, a row of MCUs at a time: grey, or YCbCr whose colour is reduced as libjpeg
 * does it. Internal to codecs/jpeg/baseline/. */
#ifndef BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_COLOURS_H
#define BLURD_CODECS_JPEG_BASELINE_JPEG_ENC_COLOURS_H

#include "codecs/definition.h"

struct jpeg_enc_level;

/* The planes of the JPEG that is written for a picture of this shape. */
struct image_shape jpeg_enc_colours_shape(const struct image_shape *shape,
                                          const struct encode_options *options);

struct jpeg_enc_colours {
    const struct image *source;
    struct image planes; /* of the whole picture, but with memory for the rows of one row of MCUs */
    uint8_t *memory;
    uint8_t *room;      /* for a row of 8 bits without alpha */
    uint8_t *chroma[4]; /* rows that are not reduced yet: Cb and Cr, and those below */
};

/* Bytes of memory that it takes for a picture of this shape. */
size_t jpeg_enc_colours_bytes(const struct image_shape *shape);

/* `source`, which is interleaved or of 16 bits, must outlive it. ST_BUSY: no memory. */
enum status jpeg_enc_colours_init(struct jpeg_enc_colours *colours, const struct image *source,
                                  const struct encode_options *options, struct error *err);
void jpeg_enc_colours_finish(struct jpeg_enc_colours *colours);

/* Fills the planes, with their padding, with the given row of MCUs. */
void jpeg_enc_colours_fill(struct jpeg_enc_colours *colours, const struct jpeg_enc_level *level,
                           uint32_t mcu_row);

#endif
