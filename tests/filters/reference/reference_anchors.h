/* SPDX-License-Identifier: MIT
 * Candidates in the cells of the network for persons. */
#ifndef BLURD_TESTS_FILTERS_REFERENCE_ANCHORS_H
#define BLURD_TESTS_FILTERS_REFERENCE_ANCHORS_H

#include "detect/candidates.h"

/* Adds the candidates with a score from `least` on, and sorts all. `cells` are the bytes of the two results
 * of a padded picture of that size. There is room for them. */
void reference_anchors(int32_t *const cells[2], uint32_t width, uint32_t height, int32_t least,
                       struct candidates *expected);

#endif
