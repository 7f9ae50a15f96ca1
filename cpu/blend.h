/* SPDX-License-Identifier: MIT
 * The end of a chain with a mask: the filtered picture where the mask is 255, the source where it is 0, a
 * mixture between. All backends compute the same, in whole numbers, for 8 and 16 bits alike:
 *
 *     m = coverage of the sample; s, f = the source's and the filtered sample; / rounds down
 *     m = 0      s
 *     m = 255    f
 *     else without alpha           (s (255 - m) + f m + 127) / 255
 *     with alpha sa and fa         A = sa (255 - m) + fa m
 *         alpha                    (A + 127) / 255
 *         colour                   A > 0: (s sa (255 - m) + f fa m + A / 2) / A; else 0
 *
 * A sample of a plane that is not reduced has the coverage of its pixel. A reduced sample has the mean of its
 * n pixels in the picture, (sum + n / 2) / n. */
#ifndef BLURD_CPU_BLEND_H
#define BLURD_CPU_BLEND_H

#include "core/crew.h"
#include "core/image.h"

/* Blends into `result`, which holds the filtered picture: `source` has the same shape and does not overlap
 * it, `mask` is an 8-bit PIXEL_GRAY picture of the same size. The crew (NULL: none) helps. ST_LIMIT at the
 * deadline (core/deadline.h). Thread-safe for different pictures. */
enum status blend(struct crew *crew, int64_t deadline_ns, const struct image *source,
                  const struct image *result, const struct image *mask, struct error *err);

#endif
