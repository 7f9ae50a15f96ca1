/* SPDX-License-Identifier: MIT
 * Connected components of a map: pixels of at least a value that touch each other, also at corners. */
#ifndef BLURD_DETECT_COMPONENTS_H
#define BLURD_DETECT_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"
#include "detect/candidates.h"
#include "detect/detector.h"
#include "detect/moments.h"

/* The sums of a candidate that is a component. Its x and y are its left and upper edge. A struct moments
 * begins at COMPONENT_MOMENTS. */
enum {
    COMPONENT_PEAK,
    COMPONENT_RIGHT,
    COMPONENT_BOTTOM,
    COMPONENT_PIXELS,
    COMPONENT_MOMENTS,
    COMPONENT_SUMS = COMPONENT_MOMENTS + (int)(sizeof(struct moments) / sizeof(int32_t)),
};

/* Bytes of memory for a map of this width. */
size_t components_bytes(uint32_t width);

/* The first sum is the largest byte, and above it a *mark*, by which components of several maps are told
 * apart: the index of the network's output. */
enum { COMPONENT_MARK_SHIFT = 8 };

/* Bytes from `pixel` on belong to a component, whose largest byte is at least `peak`, which is not below.
 * Both are at least 1. */
struct components_bounds {
    uint8_t pixel, peak;
    uint8_t mark;
};

/* The bounds of a detector's components, whose score is at least that of the byte `least`. A lower score
 * never joins what a higher one tells apart. False: no byte reaches `least`, so there are none. */
bool components_bounds_of(const struct detector *detector, int32_t least, struct components_bounds *bounds);

/* Appends a candidate for each component, and sorts all candidates (candidates_sort). Its sums are the
 * largest byte, the right and the lower edge (behind the last pixel), how many pixels it has, and their
 * moments in the map. Sides are at most 65535. With more than CANDIDATES_MAX only the count is right, and all
 * candidates are 0. `memory` has components_bytes(width) bytes, and is aligned like a picture. Time is
 * proportional to the pixels. ST_LIMIT at the deadline; then the candidates are undefined. Thread-safe for
 * different memory. */
enum status components_find(const uint8_t *map, size_t stride, uint32_t width, uint32_t height,
                            struct components_bounds bounds, int64_t deadline_ns, uint8_t *memory,
                            struct candidates *candidates, struct error *err);

/* Keeps the components with a mark, and takes it from them. ST_CORRUPT when one has none of `marks`, whose
 * bits are set. A count above CANDIDATES_MAX stays. */
enum status components_select(struct candidates *candidates, unsigned mark, uint32_t marks,
                              struct error *err);

#endif
