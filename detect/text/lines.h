/* SPDX-License-Identifier: MIT
 * Rectangles around words join to lines, and lines to blocks. All in whole pixels. */
#ifndef BLURD_DETECT_TEXT_LINES_H
#define BLURD_DETECT_TEXT_LINES_H

#include <stdint.h>

/* From left and top to before right and bottom. */
struct line {
    int32_t left, top, right, bottom;
    int32_t peak;
};

/* Joins words of a line. Two words join if they overlap vertically by at least half of the smaller height,
 * and the gap between them is at most 1.5 times the smaller height. Returns how many lines remain, sorted by
 * upper edge as far as they are not joined. Does not allocate. Time grows with the square of `count` where
 * all share rows: 8192 words take at most a tenth of a second. */
uint32_t lines_join(struct line *line, uint32_t count);

/* Joins lines to blocks. Two lines join if they overlap horizontally by at least half of the smaller width,
 * and the gap between them is at most a third of the smaller height. As lines_join otherwise. */
uint32_t lines_join_blocks(struct line *line, uint32_t count);

#endif
