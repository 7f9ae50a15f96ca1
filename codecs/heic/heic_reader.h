/* SPDX-License-Identifier: MIT
 * A HEIF file opened with libheif. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_READER_H
#define BLURD_CODECS_HEIC_HEIC_READER_H

#include "codecs/definition.h"
#include "codecs/heic/heic_check.h"
#include "codecs/heic/heic_library.h"

/* All 0 when it holds nothing. Not thread-safe. */
struct heic_reader {
    const struct heic_library *heif;
    struct heif_context *context;
    struct heif_image_handle *handle; /* of the primary picture */
    struct heic_facts facts;
    struct buf mended; /* what the library reads instead of the input; empty: nothing */
    struct buf map;    /* the file with its gain map as the primary picture; empty: nothing */
};

/* Reads the boxes of the file, but no pixels, and checks the sizes of the primary picture. End the reader
 * with heic_reader_finish, also after a failure. The input must outlive it. */
enum status heic_reader_open(struct heic_reader *reader, struct bytes input,
                             const struct codec_limits *limits, struct error *err);

void heic_reader_finish(struct heic_reader *reader);

/* The status and the sentence for a failure of libheif, whose own words end the sentence. */
enum status heic_reader_fail(const struct heif_error *failure, struct error *err);

/* Fills *metadata from the boxes. ST_BUSY without memory. */
enum status heic_metadata_read(const struct heic_reader *reader, struct metadata *metadata,
                               struct error *err);

#endif
