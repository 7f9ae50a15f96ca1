/* SPDX-License-Identifier: MIT
 * Launches the statistics on a GPU: the kernels of gpu/filters/stats.cu. */
#ifndef BLURD_GPU_FILTERS_STATS_H
#define BLURD_GPU_FILTERS_STATS_H

#include "filters/stats.h"
#include "gpu/stream/stream.h"

/* Enqueues what writes a struct stats of `source` to where the first row of `target`, of stats_shape(),
 * begins. `mask` (NULL: none) is coverage, on the device like the others. */
enum status gpu_stats(struct gpu_stream *stream, const struct image *source, const struct image *mask,
                      const struct image *target, struct error *err);

#endif
