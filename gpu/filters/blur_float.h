/* SPDX-License-Identifier: MIT
 * The blur in single precision: pictures of 16 bits or with alpha, and the one inside of sharpening. */
#ifndef BLURD_GPU_FILTERS_BLUR_FLOAT_H
#define BLURD_GPU_FILTERS_BLUR_FLOAT_H

#include "gpu/filters/blur_work.h"

/* Enqueues all passes. `unsharp`: what the last one makes of the blurred value; NULL: a sample. */
enum status blur_float_run(struct blur_work *work, const struct unsharp *unsharp, struct error *err);

#endif
