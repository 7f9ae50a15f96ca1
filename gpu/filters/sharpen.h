/* SPDX-License-Identifier: MIT
 * Launches the unsharp mask: the blur in single precision, whose last kernel sharpens. */
#ifndef BLURD_GPU_FILTERS_SHARPEN_H
#define BLURD_GPU_FILTERS_SHARPEN_H

#include "filters/sharpen.h"
#include "gpu/stream/stream.h"

/* As gpu_blur. */
enum status gpu_sharpen(struct gpu_stream *stream, const struct sharpen_plan *plan,
                        const struct image *source, const struct image *target, struct error *err);

#endif
