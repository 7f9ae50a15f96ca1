/* SPDX-License-Identifier: MIT
 * Pixelates one picture on the CPU. */
#ifndef BLURD_CPU_PIXELATE_H
#define BLURD_CPU_PIXELATE_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/means.h"
#include "filters/pixelate.h"

/* Makes tiles of every plane of `source` in `target`: same shape, no overlap, both valid (see
 * filters/backend.h). Scratch: a row of sums for each seat. ST_BUSY without memory. */
enum status cpu_pixelate(const struct means *means, const struct pixelate_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);

/* What that works in. `source` needs no memory. */
struct need cpu_pixelate_need(const struct image *source);

#endif
