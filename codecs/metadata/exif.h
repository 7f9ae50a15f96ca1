/* SPDX-License-Identifier: MIT
 * EXIF: what is read from it, and what of it may be passed on. `tiff` is always the
 * TIFF structure without the "Exif\0\0" before it. Hostile input is expected: every
 * offset is checked, each directory is read once, nothing recurses. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_EXIF_H
#define BLURD_CODECS_METADATA_EXIF_H

#include "codecs/metadata/density.h"
#include "core/bytes.h"

enum { EXIF_SIZE_MAX = 65533 - 6 }; /* what one JPEG APP1 segment holds after "Exif\0\0" */

/* Orientation 1 to 8 from the main directory; 1 when absent, of another type than SHORT, or invalid. */
uint8_t exif_orientation(struct bytes tiff);

/* The resolution that the main directory gives; none when a number is missing or zero. */
struct density exif_density(struct bytes tiff);

/* Facts about the picture that is written. */
struct exif_facts {
    bool upright;           /* its pixels were turned: orientation becomes 1 */
    uint32_t width, height; /* as it is written */
    struct density density; /* as it is written */
};

/* Appends to *output a fresh TIFF structure with those tags of the main, photo, GPS and interoperability
 * directories that codecs/metadata/exif_tags.h lists, if their values have the type and length that the table
 * asks for, and texts are texts. Everything else is left out: the second main directory with its thumbnail,
 * previews, maker notes, private tags, and every byte that no such tag refers to. No offset of the input is
 * copied. Appends nothing when `tiff` cannot be read, is over EXIF_SIZE_MAX, or has no such tag. Sets the
 * bits of codecs/metadata/losses.h in *losses for what was left out. Fails only as buf_append does. */
enum status exif_sanitize(struct bytes tiff, const struct exif_facts *facts, struct buf *output,
                          unsigned *losses, struct error *err);

#endif
