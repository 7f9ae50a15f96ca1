/* SPDX-License-Identifier: MIT
 * IPTC, the older description of photographs, which stands among Photoshop's resources in a JPEG. Internal to
 * codecs/. */
#ifndef BLURD_CODECS_METADATA_IPTC_H
#define BLURD_CODECS_METADATA_IPTC_H

#include "core/bytes.h"

#define IPTC_JPEG_NAME "Photoshop 3.0" /* with the zero at its end, what stands before the resources */

enum { IPTC_SIZE_MAX = 65533 - (int)sizeof(IPTC_JPEG_NAME) }; /* bytes of resources in a segment */

/* Appends a fresh IPTC resource to *output with the texts of `resources` that describe the photograph: those
 * of the table in iptc.c, if they are plain (codecs/metadata/plain_text.h). All other datasets, such as the
 * preview (2:202), and all other resources, such as thumbnails, are left out; bits of
 * codecs/metadata/losses.h in *losses say which. Appends nothing when no text is left. Fails only as
 * buf_append does. */
enum status iptc_sanitize(struct bytes resources, struct buf *output, unsigned *losses, struct error *err);

#endif
