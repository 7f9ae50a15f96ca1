/* SPDX-License-Identifier: MIT
 * Coverage of the samples of a plane, which may be reduced against the picture. */
#ifndef BLURD_CPU_MASK_MASK_PLANE_H
#define BLURD_CPU_MASK_MASK_PLANE_H

#include <stdint.h>

#include "core/image.h"

enum { MASK_CHUNK = 256 };

/* How the pixels that a sample covers make its coverage. */
enum mask_merge {
    MASK_MEAN, /* (their sum + n / 2) / n, n of them lying in the picture */
    MASK_ANY,  /* 255 when one of them is not 0 */
};

/* The coverage of samples x to x + count - 1 of row y of `plane`, count <= MASK_CHUNK. Returns the mask's own
 * bytes where the plane has the mask's size, else the buffer. */
const uint8_t *mask_samples(const struct image *mask, const struct plane *plane, uint32_t y, uint32_t x,
                            uint32_t count, enum mask_merge merge, uint8_t buffer[MASK_CHUNK]);

#endif
