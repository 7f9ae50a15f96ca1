/* SPDX-License-Identifier: MIT
 * Number plates in the map of the head behind the network of text: connected components of cells that are
 * probably of a plate with its frame. */
#ifndef BLURD_DETECT_PLATES_PLATES_H
#define BLURD_DETECT_PLATES_PLATES_H

#include "detect/detector.h"

enum {
    PLATES_CELL = 2, /* pixels on a side of a cell of the map */
    PLATES_PIXEL_LEAST =
        68, /* a probability of 0.023, which was 0.3 in training (detect/plates/train/export.py) */
    PLATES_CELLS_LEAST =
        10,            /* smaller components are chance: plates of which letters can be told are larger */
    PLATES_GROWTH = 2, /* pixels by which a box grows on each side */
};

extern const struct detector detector_plates;

/* The smallest byte of the map whose probability is at least the threshold; INT32_MAX when none is. */
int32_t plates_least(const struct model_weights *weights, double threshold);

/* Makes boxes of the components (detect/components.h) of a map, by falling score, then from above to below.
 * Components that overlap or touch, such as the two lines of a plate, become one box. `candidates` may hold
 * anything: one that is no component of this picture is ST_CORRUPT. ST_LIMIT when there are more candidates
 * than CANDIDATES_MAX or more boxes than BOXES_MAX. Changes `candidates`. Does not allocate. */
enum status plates_find(const struct model_weights *weights, struct candidates *candidates,
                        const struct boxes_frame *frame, struct boxes *boxes, struct error *err);

#endif
