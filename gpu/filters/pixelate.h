/* SPDX-License-Identifier: MIT
 * Launches the kernels of pixelation. */
#ifndef BLURD_GPU_FILTERS_PIXELATE_H
#define BLURD_GPU_FILTERS_PIXELATE_H

#include "filters/pixelate.h"
#include "gpu/stream/stream.h"

/* As gpu_blur, for interleaved and planar pictures. */
enum status gpu_pixelate(struct gpu_stream *stream, const struct pixelate_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);

#endif
