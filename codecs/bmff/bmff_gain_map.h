/* SPDX-License-Identifier: MIT
 * The gain map of a HEIF file's picture. libheif does not show it before 1.20, libavif not before 1.1: here a
 * copy of the file has it as its picture. Thread-safe. Internal to codecs/. */
#ifndef BLURD_CODECS_BMFF_BMFF_GAIN_MAP_H
#define BLURD_CODECS_BMFF_BMFF_GAIN_MAP_H

#include "codecs/bmff/bmff_items.h"

/* Views borrow from the file. */
struct bmff_gain_map {
    uint32_t picture;    /* the item that is the map, */
    uint32_t whole;      /* and that of its `tmap`, or itself */
    struct bytes tone;   /* the data of its `tmap` (ISO/IEC 23008-12:2025); empty: it is Apple's */
    struct bytes packet; /* XMP of the map; empty if none */
};

/* Finds the map of the primary picture: one from which, with the picture, a `tmap` is made, else Apple's
 * auxiliary picture. False without one, for a file with tracks, which libavif decodes in place of its items,
 * and for a map that is not turned, mirrored and cropped as its picture. Takes time in proportion to the
 * references. */
bool bmff_gain_map_find(const struct bmff_items *items, struct bmff_gain_map *map);

/* Makes in *copy, which the caller frees with buf_finish, a copy of the file whose primary picture is the
 * map. Errors as of bmff_items_read; ST_UNSUPPORTED without a map. */
enum status bmff_gain_map_file(struct bytes file, const char *title, struct buf *copy, struct error *err);

#endif
