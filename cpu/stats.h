/* SPDX-License-Identifier: MIT
 * Statistics of one picture on the CPU. */
#ifndef BLURD_CPU_STATS_H
#define BLURD_CPU_STATS_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/means.h"
#include "filters/stats.h"

/* Counts the samples of `source`, which has one plane, under the mask (NULL: all). The target is of
 * stats_shape(); its first row becomes a struct stats. All are valid (see filters/backend.h). Scratch: the
 * counters of each seat. ST_BUSY without memory. */
enum status cpu_stats(const struct means *means, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err);

/* What that works in. */
struct need cpu_stats_need(void);

#endif
