/* SPDX-License-Identifier: MIT
 * The components of a map by numbers that spread from pixel to pixel. */
#ifndef BLURD_TESTS_FILTERS_REFERENCE_COMPONENTS_H
#define BLURD_TESTS_FILTERS_REFERENCE_COMPONENTS_H

#include "detect/components.h"

/* What components_find makes of a map of reference_network, which has an int32_t for each byte. `expected` is
 * all 0 before, or has those of other maps, to which they are added. */
void reference_components(const int32_t *map, uint32_t width, uint32_t height,
                          struct components_bounds bounds, struct candidates *expected);

#endif
