/* SPDX-License-Identifier: MIT
 * Launches a matrix on a GPU: the kernel of gpu/filters/convolve.cu. */
#ifndef BLURD_GPU_FILTERS_CONVOLVE_H
#define BLURD_GPU_FILTERS_CONVOLVE_H

#include "filters/convolve.h"
#include "gpu/engine/lane.h"

/* As gpu_blur, of interleaved pictures. */
enum status gpu_convolve(struct gpu_lane *lane, const struct convolve_plan *plan, const struct image *source,
                         const struct image *target, struct error *err);

#endif
