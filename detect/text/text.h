/* SPDX-License-Identifier: MIT
 * Lines of text in the map of PP-OCRv6's detector: connected components of pixels that are probably text,
 * grown to what they are the inner part of, and joined. */
#ifndef BLURD_DETECT_TEXT_TEXT_H
#define BLURD_DETECT_TEXT_TEXT_H

#include "detect/detector.h"
#include "detect/text/lines.h"
#include "detect/text/text_network.h"

enum {
    TEXT_PIXEL_LEAST = 106, /* of the map: a probability of 0.2 that a pixel is one of a line */
    TEXT_GRID_X =
        128, /* pixels of the searched picture: left and right edges of hidden blocks are multiples of it */
    TEXT_GRID_Y = 32, /* and upper and lower edges of this */
};

extern const struct detector detector_text;

/* The smallest byte of the map whose probability is at least the threshold; INT32_MAX when none is. */
int32_t text_least(const struct model_weights *weights, double threshold);

/* Makes boxes of the components (detect/components.h) of a map, with corners (detect/text/turned.h).
 * `candidates` may be anything: what is no component of this picture is ST_CORRUPT. With frame->conceals
 * lines become blocks without corners, whose edges are moved outwards to multiples of TEXT_GRID_X and
 * TEXT_GRID_Y. ST_LIMIT when there are more candidates than CANDIDATES_MAX or more boxes than BOXES_MAX.
 * Changes `candidates`. Does not allocate. */
enum status text_find(const struct model_weights *weights, struct candidates *candidates,
                      const struct boxes_frame *frame, struct boxes *boxes, struct error *err);

#endif
