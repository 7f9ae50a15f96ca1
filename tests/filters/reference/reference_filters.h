/* SPDX-License-Identifier: MIT
 * Every filter written down as plainly as docs/filters.md says it, for tests: sample by sample, in loops
 * over the window. It shares with the backends only the plans. Slow. */
#ifndef BLURD_TESTS_REFERENCE_FILTERS_H
#define BLURD_TESTS_REFERENCE_FILTERS_H

#include "filters/backend.h"
#include "filters/filter.h"

/* `reference_NAME` of each filter makes `target`, of the shape of the result, of `source`. They end the
 * program when there is no memory; those of detect, placeholder and resize, which have tests of their own,
 * always. */
#define FILTER(ID, name, type)                                                                               \
    void reference_##name(const struct type##_plan *plan, const struct image *source,                        \
                          const struct image *target);
#include "filters/filters.def"
#undef FILTER

/* Mixes the source into the result by the mask. */
void reference_blend(const struct image *source, const struct image *result, const struct image *mask);

/* A whole chain, as lane_run() does it: the steps one after the other, and the mask behind those before the
 * first one that moves pixels. */
void reference_run(const struct chain_run *run);

#endif
