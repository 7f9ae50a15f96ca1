/* SPDX-License-Identifier: MIT
 * Launches the kernels of the statistics. */
#ifndef BLURD_GPU_FILTERS_STATS_H
#define BLURD_GPU_FILTERS_STATS_H

#include "filters/stats.h"
#include "gpu/stream/stream.h"

/* Enqueues the kernels that write a struct stats of `source` to the first row of `target`, which has the
 * shape stats_shape(). `mask` (NULL: none) is coverage, on the device like the others. */
enum status gpu_stats(struct gpu_stream *stream, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err);

#endif
