/* SPDX-License-Identifier: MIT
 * Sharpens one picture on the CPU. */
#ifndef BLURD_CPU_SHARPEN_H
#define BLURD_CPU_SHARPEN_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/rows.h"
#include "cpu/scratch.h"
#include "filters/sharpen.h"

/* Filters `source` into `target`: same shape, no overlap, both valid (see core/backend.h). Scratch: `scratch`
 * as the blur, `row` a row. ST_BUSY without memory. */
enum status cpu_sharpen(const struct row_set *rows, struct scratch *scratch, struct scratch *row,
                        const struct sharpen_plan *plan, const struct image *source,
                        const struct image *target, struct error *err);

#endif
