/* SPDX-License-Identifier: MIT
 * The binary metadata of ISO 21496-1:2025, annex C, as a JPEG has them: an APP2 segment that begins with a
 * name. Thread-safe. Internal to codecs/. */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_ISO_H
#define BLURD_CODECS_GAINMAP_GAINMAP_ISO_H

#include "codecs/gainmap/gainmap_numbers.h"
#include "core/bytes.h"

/* With its final zero, this name begins the segment's data. */
#define GAINMAP_ISO_NAME "urn:iso:std:iso:ts:21496:-1"

enum {
    GAINMAP_ISO_VERSIONS = 4, /* bytes of the two versions, all that the base's segment has */
    GAINMAP_ISO_MAX = GAINMAP_ISO_VERSIONS + 1 + 16 + 40 * GAINMAP_CHANNELS,
};

/* Whether a segment's data begin with the name. */
bool gainmap_iso_is(struct bytes data);

/* Reads what follows the name. False: it is cut short, of a later version that this one cannot read, has a
 * denominator of 0, or gainmap_numbers_fit refuses it. The form of libultrahdr with one denominator for all
 * is read, too. */
bool gainmap_iso_read(struct bytes data, struct gainmap_numbers *numbers);

/* Writes what follows the name in the map's segment; returns its size. */
size_t gainmap_iso_write(const struct gainmap_numbers *numbers, uint8_t bytes[static GAINMAP_ISO_MAX]);

#endif
