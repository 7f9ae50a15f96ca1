/* SPDX-License-Identifier: MIT
 * Finds the further pictures of a JPEG file: those that its index lists (CIPA DC-007, Multi-Picture Format),
 * and the one that stands behind the first. Thread-safe. Internal to codecs/. */
#ifndef BLURD_CODECS_GAINMAP_GAINMAP_PICTURES_H
#define BLURD_CODECS_GAINMAP_GAINMAP_PICTURES_H

#include "core/bytes.h"

/* With its final zero, this name begins the data of the index's APP2 segment. */
#define GAINMAP_INDEX_NAME "MPF"

enum { GAINMAP_PICTURES_MAX = 16 }; /* that are looked at; phones write up to five */

/* Bytes from the start of a JPEG to behind its EOI; 0: it does not begin with SOI, or has no EOI. Takes time
 * in proportion to them. */
size_t gainmap_picture_size(struct bytes input);

/* Whether a segment's data are an index. */
bool gainmap_index_is(struct bytes data);

/* Whether the segments before the first scan announce further pictures that may be a map: an index, or
 * metadata of gain maps. */
bool gainmap_is_announced(struct bytes file);

/* Fills `picture` with those beside the first, each from its SOI up to its EOI: by the index, in its order,
 * and last what stands directly behind the first picture. A place outside the file, without a whole JPEG, or
 * that makes the listed sizes larger than the file, is left out. Returns how many. */
unsigned gainmap_pictures(struct bytes file, struct bytes picture[static GAINMAP_PICTURES_MAX + 1]);

#endif
