/* SPDX-License-Identifier: MIT
 * Pixels per inch or centimetre of paper. JPEG stores it in its JFIF header, PNG in its pHYs chunk, and
 * all formats in EXIF. A picture has one resolution, the same in each place. Internal to codecs/. */
#ifndef BLURD_CODECS_METADATA_DENSITY_H
#define BLURD_CODECS_METADATA_DENSITY_H

#include "core/bytes.h"

enum density_unit {
    DENSITY_NONE,   /* unknown: nothing is written */
    DENSITY_ASPECT, /* only the ratio of x and y */
    DENSITY_INCH,
    DENSITY_CM,
};

/* x / scale and y / scale pixels in the unit. */
struct density {
    uint32_t x, y, scale; /* none is 0 unless the unit is DENSITY_NONE */
    enum density_unit unit;
};

/* From the bytes of a JFIF header behind its version: unit, x, y. */
struct density density_from_jfif(const uint8_t bytes[5]);

/* From the 9 bytes of a pHYs chunk: x, y, unit. */
struct density density_from_phys(const uint8_t bytes[9]);

/* Swaps x and y. */
struct density density_turned(struct density density);

/* The same bytes of a JFIF header: a whole number per centimetre is kept, all others are rounded to pixels
 * per inch. False when they do not fit, or there is no density. */
bool density_to_jfif(struct density density, uint8_t bytes[5]);

/* The 9 bytes of a pHYs chunk, rounded to pixels per metre. False as above. */
bool density_to_phys(struct density density, uint8_t bytes[9]);

#endif
