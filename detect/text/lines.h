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

/* Joins words that stand beside each other in a line: they share half of the lower one's
 * height, and are at most one and a half times that apart. Returns how many are left, sorted by their upper
 * edges as far as they are not joined. */
uint32_t lines_join(struct line *line, uint32_t count);

/* Joins lines that stand one below the other: they share half of the narrower one's width, and are at most a
 * third of the lower one's height apart. */
uint32_t lines_join_blocks(struct line *line, uint32_t count);

#endif
