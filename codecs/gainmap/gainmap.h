/* SPDX-License-Identifier: MIT
 * Gain maps: a second, smaller picture in the file, in a JPEG another JPEG, whose samples say by how much
 * each pixel of the first, the base, gets brighter on an HDR screen. The map shows what the base shows.
 * docs/hdr.md has what is done with one. The input is not trusted: every place is checked, and nothing is
 * copied. Thread-safe. */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_H
#define BLURD_CODECS_GAINMAP_GAINMAP_H

#include "codecs/gainmap/gainmap_numbers.h"
#include "core/bytes.h"

/* Of several pictures the last kind counts most. */
enum gainmap_kind {
    GAINMAP_NONE,
    GAINMAP_DAMAGED, /* a picture says that it is a map, but its numbers cannot be used */
    GAINMAP_BARE,    /* Apple's, whose headroom is not there */
    GAINMAP_APPLE,   /* Apple's: gainmap_apple_levels makes of its samples what the numbers are for */
    GAINMAP_NUMBERS, /* of ISO 21496-1 or Android */
};

struct gainmap {
    enum gainmap_kind kind;
    struct bytes file; /* the map's JPEG, or the whole file of AVIF and HEIC; borrowed from the input */
    bool alone;        /* no further picture is listed, or behind the base */
    struct gainmap_numbers numbers; /* of GAINMAP_APPLE and GAINMAP_NUMBERS */
};

/* Finds the map of a JPEG. It looks for one only if the head announces it, by an index or by metadata of gain
 * maps. The pictures of the index come first, then the one directly behind the base; the first that has
 * usable numbers is the map. Where a map has several forms of numbers, those of ISO 21496-1 count, then
 * Android's, then Apple's. The search
 * takes time in proportion to the file, or to its head if nothing is announced. */
void gainmap_find(struct bytes file, struct gainmap *map);

#endif
