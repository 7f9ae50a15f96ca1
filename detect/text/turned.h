/* SPDX-License-Identifier: MIT
 * The turned rectangle around a line of text.
 *
 * Its direction and its thickness come from the moments of all pixels of the line, which a few stray ones
 * hardly change. They cannot tell the ends: with a gap between words, or a long word beside a short one, the
 * spread is not that of a rectangle. A rectangle touches all sides of the upright one around it, so the ends
 * come from that, on the line through the middle of the pixels. */
#ifndef BLURD_DETECT_TEXT_TURNED_H
#define BLURD_DETECT_TEXT_TURNED_H

#include "detect/text/lines.h"

enum { TURNED_LEAST = 2 /* times as long as thick is a line that has a direction of its own */ };

/* Writes the corners of the line in the picture that was searched, x and y, clockwise on the screen. The
 * first is the upper left one for who reads along the longer side, from left to right or, if that is
 * vertical, downwards: the angle from the first corner to the second is in (-90, 90] degrees. The rectangle
 * has grown by LINES_GROWTH of its thickness, and may reach beyond the picture. Of what is hardly longer than
 * thick they are those of the upright rectangle: its direction would be one by chance. `border`: pixels of
 * the map on the left of the picture, and above it. The sums may be made up: the numbers are finite. */
void turned_corners(const struct line *line, int border, double corner[4][2]);

#endif
