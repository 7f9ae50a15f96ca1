/* SPDX-License-Identifier: MIT
 * The header of an AVIF file, read by libavif. Internal to codecs/. */
#ifndef BLURD_CODECS_AVIF_AVIF_READER_H
#define BLURD_CODECS_AVIF_AVIF_READER_H

#include "codecs/avif/avif_library.h"
#include "codecs/bmff/bmff_light.h"
#include "codecs/definition.h"

struct avif_reader {
    const struct avif_library *library;
    avifDecoder *decoder;
    avifCropRect crop; /* the part of the stored picture that is shown */
    struct image_shape native, pixels;
    struct bmff_light light; /* of a still picture */
    struct buf map;          /* the file with its gain map as the primary picture; empty: nothing */
};

/* Parses the file, and decodes nothing. The caller ends *reader with avif_reader_close, also after a failure.
 * The input must stay valid until then. ST_UNSUPPORTED for an animation unless limits->first_frame. */
enum status avif_reader_open(struct avif_reader *reader, struct bytes input,
                             const struct codec_limits *limits, struct error *err);

/* Fills *metadata, whose store holds the profile, EXIF and XMP. ST_BUSY without memory. */
enum status avif_reader_metadata(const struct avif_reader *reader, struct metadata *metadata,
                                 struct error *err);

/* Decodes the next frame into a picture of the shape `pixels`, or a still one into `native`. ST_CORRUPT for
 * one that is not what the header says. */
enum status avif_decode_next(const struct avif_reader *reader, const struct image *image, struct error *err);

/* Records that libavif failed while it read: ST_CORRUPT unless `result` has a more precise status. */
enum status avif_reader_fail(const struct avif_reader *reader, avifResult result, struct error *err);

void avif_reader_close(struct avif_reader *reader);

#endif
