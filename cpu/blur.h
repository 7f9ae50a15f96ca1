/* SPDX-License-Identifier: MIT
 * Blurs one picture on the CPU. */
#ifndef BLURD_CPU_BLUR_H
#define BLURD_CPU_BLUR_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/rows.h"
#include "cpu/scratch.h"
#include "filters/blur.h"

/* Filters every plane of `source` into `target`: same shape, no overlap, both valid (see
 * core/backend.h). Scratch: the reduced picture and some rows. ST_BUSY without memory. */
enum status cpu_blur(const struct row_set *rows, struct scratch *scratch, const struct blur_plan *plan,
                     const struct image *source, const struct image *target, struct error *err);

#endif
