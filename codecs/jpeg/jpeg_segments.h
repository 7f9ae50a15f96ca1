/* SPDX-License-Identifier: MIT
 * The metadata segments of a JPEG that is written, between JFIF header and tables; the same for every
 * encoder. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_JPEG_SEGMENTS_H
#define BLURD_CODECS_JPEG_JPEG_SEGMENTS_H

#include "codecs/definition.h"

struct jfif {
    uint8_t unit; /* 0: x and y are a ratio; 1: pixels per inch; 2: per centimetre */
    uint16_t x, y;
};

struct jpeg_segments {
    struct jfif jfif;
    struct buf bytes; /* whole segments, with markers and lengths */
};

/* Makes the segments of EXIF, XMP, the colour profile if it fits the model of `shape`, IPTC and comments,
 * as the options (keep_metadata, upright) allow. *segments is all zero before; the caller ends it with
 * jpeg_segments_finish, also after a failure. `metadata` may be NULL, which makes none; `shape` is the
 * written picture's. ST_BUSY without memory. Thread-safe. */
enum status jpeg_segments_make(const struct metadata *metadata, const struct image_shape *shape,
                               const struct encode_options *options, struct jpeg_segments *segments,
                               struct error *err);

void jpeg_segments_finish(struct jpeg_segments *segments);

#endif
