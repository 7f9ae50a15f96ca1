/* SPDX-License-Identifier: MIT
 * Launches a matrix on a GPU: the kernel of gpu/filters/convolve.cu. */
#ifndef BLURD_GPU_FILTERS_CONVOLVE_H
#define BLURD_GPU_FILTERS_CONVOLVE_H

#include "filters/convolve.h"
#include "gpu/stream/stream.h"

/* As gpu_blur, of interleaved pictures. */
enum status gpu_convolve(struct gpu_stream *stream, const struct convolve_plan *plan,
                         const struct image *source, const struct image *target, struct error *err);

#endif
