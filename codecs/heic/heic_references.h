/* SPDX-License-Identifier: MIT
 * References between the items of a HEIC file that not every version of libheif reads: 1.15 refuses a file in
 * which a thumbnail, an auxiliary picture or metadata belong to two items, as iOS 18 writes them, or to an
 * item that it does not know. Internal to codecs/. */
#ifndef BLURD_CODECS_HEIC_HEIC_REFERENCES_H
#define BLURD_CODECS_HEIC_HEIC_REFERENCES_H

#include "codecs/bmff/bmff_items.h"

/* Makes in *copy, an all-zero struct, a copy of the file in which each of these references has one picture as
 * its target: the primary one if that is among its targets. A reference to a gain map (`tmap`) becomes one to
 * the picture that the map belongs to. A reference without a picture among its targets is left out. *copy
 * stays empty if the file needs no change.
 * The caller frees it with buf_finish. ST_BUSY without memory. */
enum status heic_references_mend(const struct bmff_items *items, struct buf *copy, struct error *err);

#endif
