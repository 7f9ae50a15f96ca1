/* SPDX-License-Identifier: MIT
 * Rectangles around words join to lines, and lines to blocks. All in whole pixels. */
#ifndef BLURD_DETECT_TEXT_LINES_H
#define BLURD_DETECT_TEXT_LINES_H

#include <stdint.h>

#include "detect/components.h"

enum {
    LINES_GROWTH = 10,      /* sixteenths of the short side: the map has the inner part of a line only */
    LINES_GROWTH_LEAST = 2, /* pixels in addition */
    LINES_SUMS = COMPONENT_SUMS - COMPONENT_MOMENTS,
};

/* From left and top to before right and bottom; then what tells how it is turned: the edges of its pixels of
 * the map within the picture, before they grew, and the sums of all its pixels in the map. */
struct line {
    uint16_t left, top, right, bottom;
    uint16_t inner_left, inner_top, inner_right, inner_bottom;
    int32_t peak;
    uint32_t pixels;
    int32_t moments[LINES_SUMS]; /* a struct moments; lines lie at multiples of 4 only */
};

/* Joins words of a line. Two words join if they overlap vertically by at least half of the smaller height,
 * and the gap between them is at most 1.5 times the smaller height. Returns how many lines remain, sorted by
 * upper edge as far as they are not joined. Does not allocate. Time grows with the square of `count` where
 * all share rows: 8192 words take at most a tenth of a second. */
uint32_t lines_join(struct line *line, uint32_t count);

/* Joins what overlaps or touches. As lines_join otherwise. */
uint32_t lines_join_touching(struct line *line, uint32_t count);

/* Joins lines to blocks. Two lines join if they overlap horizontally by at least half of the smaller width,
 * and the gap between them is at most a third of the smaller height. As lines_join otherwise. */
uint32_t lines_join_blocks(struct line *line, uint32_t count);

#endif
