/* SPDX-License-Identifier: MIT
 * The metadata of a JPEG that is written, as the bytes that stand between its JFIF header and its tables: the
 * same for every encoder. Internal to codecs/. */
#ifndef BLURD_CODECS_JPEG_SEGMENTS_H
#define BLURD_CODECS_JPEG_SEGMENTS_H

#include "codecs/codec.h"

/* Puts whole segments, with markers and lengths, into *segments, an all-zero struct that the caller ends with
 * buf_finish, also after a failure: EXIF, the colour profile if it is one for `model`, XMP and comments, as
 * far as the options (keep_metadata, upright) let them through. Nothing for no `metadata`, which may be NULL.
 * ST_BUSY without memory. Thread-safe. */
enum status jpeg_segments_make(const struct metadata *metadata, enum pixel_model model,
                               const struct encode_options *options, struct buf *segments, struct error *err);

#endif
