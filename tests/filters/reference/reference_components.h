/* SPDX-License-Identifier: MIT
 * The components of a map of text by numbers that spread from pixel to pixel. */
#ifndef BLURD_TESTS_FILTERS_REFERENCE_COMPONENTS_H
#define BLURD_TESTS_FILTERS_REFERENCE_COMPONENTS_H

#include "detect/candidates.h"

/* What text_gather makes of the map, which has an int32_t for each byte, of reference_network. `expected` is
 * all 0 before. */
void reference_components(const int32_t *map, uint32_t width, uint32_t height, int32_t least,
                          struct candidates *expected);

#endif
