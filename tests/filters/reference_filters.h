/* SPDX-License-Identifier: MIT
 * Every filter written down as plainly as docs/filters.md says it, for tests: sample by sample, in loops
 * over the window. It shares with the backends only the plans. Slow. */
#ifndef BLURD_TESTS_REFERENCE_FILTERS_H
#define BLURD_TESTS_REFERENCE_FILTERS_H

#include "filters/backend.h"
#include "filters/filter.h"

/* Each filters `source` into `target`, of the shape of the result. They end the program when there is no
 * memory. */
void reference_adjust(const struct adjust_plan *plan, const struct image *source, const struct image *target);
void reference_convolve(const struct convolve_plan *plan, const struct image *source,
                        const struct image *target);
void reference_sharpen(const struct sharpen_plan *plan, const struct image *source,
                       const struct image *target);
void reference_pixelate(const struct pixelate_plan *plan, const struct image *source,
                        const struct image *target);

/* Copies each sample from its place. */
void reference_crop(const struct crop_plan *plan, const struct image *source, const struct image *target);
void reference_rotate(const struct rotate_plan *plan, const struct image *source, const struct image *target);

/* Counts under the mask; NULL: all. */
void reference_stats(const struct image *source, const struct image *mask, struct stats *stats);

/* Mixes the source into the result by the mask. */
void reference_blend(const struct image *source, const struct image *result, const struct image *mask);

/* A whole chain, as lane_run() does it: the steps one after the other, and the mask behind those before the
 * first one that moves pixels. */
void reference_run(const struct chain_run *run);

#endif
