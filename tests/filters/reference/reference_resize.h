/* SPDX-License-Identifier: MIT
 * A resize in double precision, by its definition and libm. */
#ifndef BLURD_TESTS_REFERENCE_RESIZE_H
#define BLURD_TESTS_REFERENCE_RESIZE_H

#include "core/image.h"
#include "filters/resize/resize.h"

/* The largest difference between a sample of `target` and the definition before it is rounded, limited to the
 * range of samples. With alpha, colour counts where alpha is at least a 255th. */
double reference_resize_error(const struct resize_plan *plan, const struct image *source,
                              const struct image *target);

#endif
