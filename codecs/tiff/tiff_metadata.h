/* SPDX-License-Identifier: MIT
 * Metadata of a page: EXIF, XMP, IPTC, profile, resolution, orientation. Internal to codecs/tiff. */
#ifndef BLURD_CODECS_TIFF_TIFF_METADATA_H
#define BLURD_CODECS_TIFF_TIFF_METADATA_H

#include "codecs/tiff/tiff_layout.h"

/* Fills *metadata, whose losses are added to. EXIF is a TIFF structure that is made in metadata->store of the
 * listed entries (codecs/metadata/exif_tags.h) of the page and of the directories that it points to. ST_BUSY
 * without memory. */
enum status tiff_metadata_read(const struct tiff_layout *layout, struct metadata *metadata,
                               struct error *err);

#endif
