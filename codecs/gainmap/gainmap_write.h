/* SPDX-License-Identifier: MIT
 * Puts a base and its map into one JPEG that all readers find the map in: the base, an exact index (CIPA
 * DC-007), and the map directly behind. The numbers are written as ISO 21496-1, and as Android's XMP where
 * all channels have the same. Thread-safe. */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_WRITE_H
#define BLURD_CODECS_GAINMAP_GAINMAP_WRITE_H

#include "codecs/gainmap/gainmap_numbers.h"
#include "core/bytes.h"

enum { GAINMAP_HEAD_MAX = 4 << 10 }; /* bytes that both pictures get more, but for a packet that is copied */

/* Appends the file to *output. `base` and `map` are whole JPEGs as codec_encode writes them, with nothing
 * behind EOI; of the map's metadata only a colour profile may be there. XMP of the base gets the map's
 * announcement in its packet. ST_UNSUPPORTED: its packet has no room for that; ST_LIMIT over the maximum of
 * *output, or where a size does not fit into the index; ST_BUSY without memory. On failure *output may hold a
 * part. */
enum status gainmap_write(struct bytes base, struct bytes map, const struct gainmap_numbers *numbers,
                          struct buf *output, struct error *err);

#endif
