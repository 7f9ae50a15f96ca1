/* SPDX-License-Identifier: MIT
 * EXIF: what is read from it, and what of it may be passed on. `tiff` is always the
 * TIFF structure without the "Exif\0\0" before it. Hostile input is expected: every
 * offset is checked, nothing is followed twice, nothing recurses. Internal to codecs/. */
#ifndef BLURD_CODECS_EXIF_H
#define BLURD_CODECS_EXIF_H

#include "core/bytes.h"

enum { EXIF_SIZE_MAX = 65533 - 6 }; /* what one JPEG APP1 segment holds after "Exif\0\0" */

/* Orientation 1 to 8 from IFD0; 1 when absent, of another type than SHORT, or invalid. */
uint8_t exif_orientation(struct bytes tiff);

/* Appends to *output a fresh TIFF structure with the tags of IFD0 and of the Exif, GPS
 * and interoperability directories. What may show the picture before it was blurred is
 * left out: the thumbnail (IFD1), previews, maker notes, Photoshop and XMP blocks, and
 * every byte that no tag refers to. With `upright`, orientation becomes 1.
 * Appends nothing when `tiff` cannot be read or the result is over EXIF_SIZE_MAX.
 * Fails only as buf_append does. */
enum status exif_sanitize(struct bytes tiff, bool upright, struct buf *output, struct error *err);

#endif
