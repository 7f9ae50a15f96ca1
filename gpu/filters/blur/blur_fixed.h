/* SPDX-License-Identifier: MIT
 * The blur in fixed point, for pictures of 8 bits without alpha. */
#ifndef BLURD_GPU_FILTERS_BLUR_BLUR_FIXED_H
#define BLURD_GPU_FILTERS_BLUR_BLUR_FIXED_H

#include "gpu/filters/blur/blur_work.h"

/* Enqueues all passes. */
enum status blur_fixed_run(struct blur_work *work, struct error *err);

#endif
