/* SPDX-License-Identifier: MIT
 * Connected components of a map: pixels of at least a value that touch each other, also at corners. */
#ifndef BLURD_DETECT_COMPONENTS_H
#define BLURD_DETECT_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>

#include "detect/candidates.h"

/* The sums of a candidate that is a component. Its x and y are its left and upper edge. */
enum { COMPONENT_PEAK, COMPONENT_RIGHT, COMPONENT_BOTTOM, COMPONENT_PIXELS, COMPONENT_SUMS };

/* Bytes of memory for a map of this width. */
size_t components_bytes(uint32_t width);

/* Bytes that belong to a component, and the least largest one of a component; from 1. */
struct components_bounds {
    uint8_t pixel, peak;
};

/* Writes a candidate for each component within the bounds, by its upper and its left edge.
 * Sums: the largest byte, the right and the lower edge (behind the last pixel), and how many pixels it has.
 * Sides are at most 65535. `memory` is aligned like a picture. Time is proportional to the pixels. */
void components_find(const uint8_t *map, size_t stride, uint32_t width, uint32_t height,
                     struct components_bounds bounds, uint8_t *memory, struct candidates *candidates);

#endif
