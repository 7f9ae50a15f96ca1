/* SPDX-License-Identifier: MIT
 * The blur in single precision, for pictures of 16 bits or with alpha, and for sharpening. */
#ifndef BLURD_GPU_FILTERS_BLUR_BLUR_FLOAT_H
#define BLURD_GPU_FILTERS_BLUR_BLUR_FLOAT_H

#include "gpu/filters/blur/blur_work.h"

/* Enqueues all passes. With `unsharp` the last one sharpens; with NULL it stores the blurred value. */
enum status blur_float_run(struct blur_work *work, const struct unsharp *unsharp, struct error *err);

#endif
