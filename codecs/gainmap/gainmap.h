/* SPDX-License-Identifier: MIT
 * Gain maps in JPEGs: a second, smaller JPEG in the file, whose samples say by how much each pixel of the
 * first, the base, gets brighter on an HDR screen. The map shows what the base shows. docs/hdr.md has what is
 * done with one. The input is not trusted: every place is checked, and nothing is copied. Thread-safe. */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_H
#define BLURD_CODECS_GAINMAP_GAINMAP_H

#include "codecs/gainmap/gainmap_numbers.h"
#include "core/bytes.h"

enum gainmap_kind {
    GAINMAP_NONE,
    GAINMAP_DAMAGED, /* a picture says that it is a map, but its numbers cannot be used */
    GAINMAP_NUMBERS, /* of ISO 21496-1 or Android */
    GAINMAP_APPLE,   /* Apple's auxiliary map, without numbers of its own */
};

struct gainmap {
    enum gainmap_kind kind;
    struct bytes file;              /* the map's JPEG; borrowed from the input */
    bool alone;                     /* no further picture is listed, or behind the base */
    struct gainmap_numbers numbers; /* of GAINMAP_NUMBERS */
};

/* Finds the map of a JPEG whose head announces one (an index, or metadata of gain maps): the first picture
 * with usable numbers among those that the index lists, then what stands directly behind the first picture.
 * Where a map has both forms of numbers, those of ISO 21496-1 count. Without an announcement it takes the
 * time of a look at the head, and else time in proportion to the file. */
void gainmap_find(struct bytes file, struct gainmap *map);

#endif
