/* SPDX-License-Identifier: MIT
 * Gain maps of AVIF and HEIC files. Thread-safe. */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_ITEMS_H
#define BLURD_CODECS_GAINMAP_GAINMAP_ITEMS_H

#include "codecs/gainmap/gainmap.h"

/* Finds the map of the file's picture. `exif`: that of the picture, without "Exif\0\0", which may have the
 * headroom of an Apple's map. A codec decodes the map with
 * limits->gain_map. Takes about 1 MiB of memory for the time of the call; without that there is no map. */
void gainmap_find_item(struct bytes file, struct bytes exif, struct gainmap *map);

#endif
