/* SPDX-License-Identifier: MIT
 * Reading and sanitising EXIF. `tiff` is always the TIFF structure without the "Exif\0\0" before it. The
 * input is not trusted: every offset is checked, each directory is read once, nothing recurses. Internal
 * to codecs/. */
#ifndef BLURD_CODECS_METADATA_EXIF_H
#define BLURD_CODECS_METADATA_EXIF_H

#include "codecs/metadata/density.h"
#include "core/bytes.h"

enum { EXIF_SIZE_MAX = 65533 - 6 }; /* room in one JPEG APP1 segment after "Exif\0\0" */

/* Orientation 1 to 8 from the main directory; 1 when absent, of another type than SHORT, or invalid. */
uint8_t exif_orientation(struct bytes tiff);

/* Writes this orientation in place, wherever the main directory has one: for files whose container says how
 * the picture is turned, so that both tell the same. */
void exif_set_orientation(uint8_t *tiff, size_t size, uint8_t orientation);

/* The resolution in the main directory; none when a number is missing or zero. */
struct density exif_density(struct bytes tiff);

/* Whether ColorSpace says Adobe RGB: as 2, which cameras write, or as uncalibrated beside the
 * interoperability index R03 (DCF 2.0). */
bool exif_is_adobe_rgb(struct bytes tiff);

/* The maker note of the photo directory, in a form of the camera's maker; empty if none. */
struct bytes exif_maker_note(struct bytes tiff);

struct exif_facts {
    bool upright;           /* the pixels were turned: orientation becomes 1 */
    uint32_t width, height; /* as it is written */
    struct density density; /* as it is written */
};

/* Appends to *output a fresh TIFF structure with the tags of the main, photo, GPS and interoperability
 * directories that codecs/metadata/exif_tags.h lists. A value must have the type and length of the table,
 * and texts must be plain. All else is left out: the second main directory with its thumbnail, previews,
 * maker notes, private tags, and every byte that no listed tag refers to. No offset of the input is
 * copied. Appends nothing when `tiff` cannot be read, is over EXIF_SIZE_MAX, or has no listed tag. Sets
 * bits of codecs/metadata/losses.h in *losses for omitted tags. Fails only as buf_append does. */
enum status exif_sanitize(struct bytes tiff, const struct exif_facts *facts, struct buf *output,
                          unsigned *losses, struct error *err);

#endif
