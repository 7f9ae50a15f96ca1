/* SPDX-License-Identifier: MIT
 * Mixes a picture with what a chain made of it, by a mask. */
#ifndef BLURD_CPU_BLEND_H
#define BLURD_CPU_BLEND_H

#include "core/image.h"

/* Where the mask (PIXEL_GRAY, 8 bits, the size of the picture) is 0 `result` becomes `source`, where it is
 * 255 it stays, between them it becomes a mixture (docs/filters.md). Both have the same shape; none overlap.
 */
void blend(const struct image *source, const struct image *result, const struct image *mask);

#endif
