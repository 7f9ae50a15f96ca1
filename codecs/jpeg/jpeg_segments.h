/* SPDX-License-Identifier: MIT
 * The metadata of a JPEG that is written, as the bytes that stand between its JFIF header and its tables: the
 * same for every encoder. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_JPEG_SEGMENTS_H
#define BLURD_CODECS_JPEG_JPEG_SEGMENTS_H

#include "codecs/definition.h"

/* The numbers of the JFIF header. */
struct jfif {
    uint8_t unit; /* 0: x and y are a ratio; 1: pixels per inch; 2: per centimetre */
    uint16_t x, y;
};

struct jpeg_segments {
    struct jfif jfif;
    struct buf bytes; /* whole segments, with markers and lengths */
};

/* Makes EXIF, XMP, the colour profile if it is one for the model of `shape`, IPTC and comments, as far as the
 * options (keep_metadata, upright) let them through, into *segments, an all-zero struct that the caller ends
 * with jpeg_segments_finish, also after a failure. Nothing for no `metadata`, which may be NULL; `shape` is
 * the picture's that is written. ST_BUSY without memory. Thread-safe. */
enum status jpeg_segments_make(const struct metadata *metadata, const struct image_shape *shape,
                               const struct encode_options *options, struct jpeg_segments *segments,
                               struct error *err);

void jpeg_segments_finish(struct jpeg_segments *segments);

#endif
