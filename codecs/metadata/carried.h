/* SPDX-License-Identifier: MIT
 * Makes the metadata of an encoded picture from those of another file. All rules about metadata that may
 * be passed on are applied here, for every output format. docs/api.md has the table for users. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_METADATA_CARRIED_H
#define BLURD_CODECS_METADATA_CARRIED_H

#include "codecs/definition.h"

/* Owned. Empty parts are not written. texts_each (codecs/metadata/texts.h) visits the texts. */
struct carried {
    struct buf profile; /* ICC */
    struct buf exif;    /* a TIFF structure of at most EXIF_SIZE_MAX bytes */
    struct buf xmp;     /* a packet of at most XMP_SIZE_MAX bytes */
    struct buf iptc;    /* Photoshop resources of at most IPTC_SIZE_MAX bytes; for JPEG only */
    struct density density;
    unsigned losses; /* bits of codecs/metadata/losses.h */
};

/* Fills *carried, an all-zero struct that the caller ends with carried_finish, also after a failure.
 * `metadata` may be NULL; `target` is the codec that writes, and `shape` the written picture's. Without
 * options->keep_metadata only the profile is made. ST_BUSY without memory. Thread-safe. */
enum status carried_make(const struct metadata *metadata, const struct codec *target,
                         const struct image_shape *shape, const struct encode_options *options,
                         struct carried *carried, struct error *err);

/* Adds the losses to options->losses unless that is NULL: without options->keep_metadata only those of
 * colours and of further pictures. Called after all is written. */
void carried_report(const struct carried *carried, const struct encode_options *options);

void carried_finish(struct carried *carried);

#endif
