/* SPDX-License-Identifier: MIT
 * Launches the kernels of the blur for a plan. */
#ifndef BLURD_GPU_FILTERS_BLUR_BLUR_H
#define BLURD_GPU_FILTERS_BLUR_BLUR_H

#include "filters/blur.h"
#include "gpu/stream/stream.h"

/* Enqueues the kernels that filter every plane of `source` into `target`, and does not wait for them. The
 * planes' data pointers are device addresses; the layouts are the host's. The bytes are those of every other
 * backend (docs/filters.md). */
enum status gpu_blur(struct gpu_stream *stream, const struct blur_plan *plan, const struct image *source,
                     const struct image *target, struct error *err);

#endif
