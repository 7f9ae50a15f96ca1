/* SPDX-License-Identifier: MIT
 * Sharpens one picture on the CPU. */
#ifndef BLURD_CPU_SHARPEN_H
#define BLURD_CPU_SHARPEN_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/means.h"
#include "filters/sharpen.h"

/* Filters `source` into `target`: same shape, no overlap, both valid (see filters/backend.h). Scratch: as the
 * blur. ST_BUSY without memory. */
enum status cpu_sharpen(const struct means *means, const struct sharpen_plan *plan,
                        const struct image *source, const struct image *target, struct error *err);

#endif
