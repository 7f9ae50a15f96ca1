/* SPDX-License-Identifier: MIT
 * The blur written down as plainly as docs/filters.md says it, for tests: whole planes, one pass
 * after the other, every sample of the extended picture through one accessor. It shares with the
 * backends only the plan and the kernels of filters/blur/blur.h. Slow. */
#ifndef BLURD_TESTS_REFERENCE_BLUR_H
#define BLURD_TESTS_REFERENCE_BLUR_H

#include "core/image.h"
#include "filters/blur/blur.h"

/* What reference_blur (reference_filters.h) makes of any picture of one plane in real arithmetic, before it
 * divides by alpha and rounds: value[(y * width + x) * channels + c]. */
void reference_blur_real(const struct blur_plan *plan, const struct image *source, float *value);

#endif
