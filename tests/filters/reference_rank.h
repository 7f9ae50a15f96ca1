/* SPDX-License-Identifier: MIT
 * The filters that order samples, by sorting each window. Slow. */
#ifndef BLURD_TESTS_REFERENCE_RANK_H
#define BLURD_TESTS_REFERENCE_RANK_H

#include "core/image.h"
#include "filters/filter.h"

/* Filters `source` into `target`, of the same shape. */
void reference_morphology(const struct morphology_plan *plan, bool largest, const struct image *source,
                          const struct image *target);
void reference_median(const struct median_plan *plan, const struct image *source, const struct image *target);

#endif
