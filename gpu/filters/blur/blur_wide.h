/* SPDX-License-Identifier: MIT
 * Parameters of the kernels of gpu/filters/blur/blur_wide.cuh. */
#ifndef BLURD_GPU_FILTERS_BLUR_BLUR_WIDE_H
#define BLURD_GPU_FILTERS_BLUR_BLUR_WIDE_H

#include <stdbool.h>

#include "filters/blur.h"
#include "gpu/cuda/kernels.h"

/* Whether the kernels exist for both radii. */
bool wide_possible(const struct blur_axis *x, const struct blur_axis *y);

/* Fills what depends on the taps. `bits`: how far the horizontal sums are shifted up, so that the
 * result is their upper end: 2 for samples, 1 for values. */
void wide_fill_taps(struct wide_plane *plane, const struct blur_axis *x, const struct blur_axis *y,
                    unsigned bits);

#endif
