/* SPDX-License-Identifier: MIT
 * Copies pixels to other places, for filters that do no more. */
#ifndef BLURD_CPU_PLACE_H
#define BLURD_CPU_PLACE_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/cpu_context.h"

/* Copies `source`, or a view of a part of it, turned by an EXIF orientation. The rest as of struct cpu_filter
 * (cpu/filter.h). */
enum status place(const struct cpu_context *context, const struct image *source, uint8_t orientation,
                  const struct image *target, struct error *err);

#endif
