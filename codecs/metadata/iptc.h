/* SPDX-License-Identifier: MIT
 * IPTC, the older description of photographs, is stored among Photoshop's resources in a JPEG. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_METADATA_IPTC_H
#define BLURD_CODECS_METADATA_IPTC_H

#include "core/bytes.h"

#define IPTC_JPEG_NAME "Photoshop 3.0" /* with its final zero, it precedes the resources */

enum { IPTC_SIZE_MAX = 65533 - (int)sizeof(IPTC_JPEG_NAME) }; /* bytes of resources in a segment */

/* Appends a fresh IPTC resource to *output with the texts of `resources` that are listed in iptc.c and
 * plain (codecs/metadata/plain_text.h). All other datasets, such as the preview (2:202), and all other
 * resources, such as thumbnails, are left out and recorded in *losses as bits of codecs/metadata/losses.h.
 * Appends nothing without such a text. Fails only as buf_append does. */
enum status iptc_sanitize(struct bytes resources, struct buf *output, unsigned *losses, struct error *err);

#endif
