/* SPDX-License-Identifier: MIT
 * Launches the kernels of a convolution. */
#ifndef BLURD_GPU_FILTERS_CONVOLVE_H
#define BLURD_GPU_FILTERS_CONVOLVE_H

#include "filters/convolve.h"
#include "gpu/stream/stream.h"

/* As gpu_blur, for interleaved pictures only. */
enum status gpu_convolve(struct gpu_stream *stream, const struct convolve_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);

#endif
