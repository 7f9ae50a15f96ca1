/* SPDX-License-Identifier: MIT
 * The metadata that go into an encoded picture, made from those of another file: the same for every format
 * that is written, so that all rules about what may be passed on are in one place. The table in docs/api.md
 * is the description for users. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_CARRIED_H
#define BLURD_CODECS_METADATA_CARRIED_H

#include "codecs/definition.h"

/* Owned. What is empty is not written. Texts are visited by texts_each (codecs/metadata/texts.h). */
struct carried {
    struct buf profile; /* ICC */
    struct buf exif;    /* a TIFF structure of at most EXIF_SIZE_MAX bytes */
    struct buf xmp;     /* a packet of at most XMP_SIZE_MAX bytes */
    struct buf iptc;    /* Photoshop resources of at most IPTC_SIZE_MAX bytes; for JPEG only */
    struct density density;
    unsigned losses; /* bits of codecs/metadata/losses.h */
};

/* Makes all of it into *carried, an all-zero struct that the caller ends with carried_finish, also after a
 * failure. `metadata` may be NULL; `target` is the format that is written, and `shape` the picture's. Without
 * options->keep_metadata there is only the profile. ST_BUSY without memory. Thread-safe. */
enum status carried_make(const struct metadata *metadata, enum codec_id target,
                         const struct image_shape *shape, const struct encode_options *options,
                         struct carried *carried, struct error *err);

/* Adds the losses to options->losses, if the caller asks for them. Called once all is written. */
void carried_report(const struct carried *carried, const struct encode_options *options);

void carried_finish(struct carried *carried);

#endif
