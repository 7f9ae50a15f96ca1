/* SPDX-License-Identifier: MIT
 * Convolves one picture on the CPU. */
#ifndef BLURD_CPU_CONVOLVE_H
#define BLURD_CPU_CONVOLVE_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/means.h"
#include "filters/convolve.h"

/* Filters `source`, which has one plane, into `target`: same shape, no overlap, both valid (see
 * filters/backend.h). Scratch: the rows of a window for each seat. ST_BUSY without memory. */
enum status cpu_convolve(const struct means *means, const struct convolve_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);

/* What that works in. `source` needs no memory. */
struct need cpu_convolve_need(const struct convolve_plan *plan, const struct image *source);

#endif
