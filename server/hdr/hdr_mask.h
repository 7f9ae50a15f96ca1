/* SPDX-License-Identifier: MIT
 * The mask of a gain map from that of its base. */
#ifndef BLURD_SERVER_HDR_HDR_MASK_H
#define BLURD_SERVER_HDR_HDR_MASK_H

#include "core/image.h"

/* Fills `map`, a mask of PIXEL_GRAY and 8 bits no larger than `base`, with the means of the base's mask over
 * the pixels that each sample of the map stands for, in part or whole; with `outward` it is 255 where one of
 * these is not 0, else 0. Thread-safe. */
void hdr_mask_reduce(const struct image *base, bool outward, const struct image *map);

#endif
