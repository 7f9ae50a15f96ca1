/* SPDX-License-Identifier: MIT
 * Makes interleaved RGB of planes while they are decoded. The planes have memory for one row of MCUs, the
 * *strip*, and each is taken before the next one overwrites it. Internal to codecs/jpeg/. */
#ifndef BLURD_CODECS_JPEG_PIXELS_PIXELS_STRIP_H
#define BLURD_CODECS_JPEG_PIXELS_PIXELS_STRIP_H

#include "codecs/jpeg/sequential/jpeg_dec_scan.h"
#include "core/image.h"
#include "core/producer.h"

struct pixels_strip {
    struct image planes;       /* of the whole picture, with memory for one row of MCUs */
    struct progress taker;     /* has to receive the rows of each row of MCUs */
    uint32_t reported;         /* rows of RGB that are complete, and that `reader` has received */
    uint32_t taken;            /* rows that the strips had up to now */
    const struct image *image; /* RGB */
    const struct progress *reader;
    const struct jpeg_dec_level *level;
    struct pixels_row row;
    uint8_t *last[IMAGE_PLANES_MAX]; /* the last row of the strip before */
    uint8_t *memory;
};

/* Bytes of heap memory for planes of this shape: at most 106 for each column, and 7 KiB for padding. */
size_t pixels_strip_bytes(const struct image_shape *planes);

/* `image` is RGB of 8 bits. It and `reader`, which may be NULL, must outlive the strip, which must not move.
 * ST_BUSY: no memory. */
enum status pixels_strip_init(struct pixels_strip *strip, const struct jpeg_dec_level *level,
                              const struct image_shape *planes, const struct image *image,
                              const struct progress *reader, struct error *err);
void pixels_strip_finish(struct pixels_strip *strip);

#endif
