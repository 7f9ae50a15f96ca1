/* SPDX-License-Identifier: MIT
 * A place that may hold a code: a rectangle at any angle, and what is measured in it. */
#ifndef BLURD_DETECT_CODES_CPU_CODES_PLACE_H
#define BLURD_DETECT_CODES_CPU_CODES_PLACE_H

#include "detect/codes/cpu/codes_level.h"

enum {
    CODES_TURNS = 64,
    CODES_ONE = 1 << 14,
    CODES_LINES = 24, /* along each axis are measured */
};

/* What the lines that follow an axis meet. */
struct codes_lines {
    int32_t edges;   /* of all lines */
    int32_t fewest;  /* of the line with the second fewest */
    int32_t most;    /* of the line with the third most */
    int32_t alike;   /* share of pixels with the tone of another line, of 256 */
    int32_t longest; /* pixels of the longest stretch without an edge, of the middle line in that order */
    int32_t squares; /* sum of the squares of the stretches' lengths, divided by the sum of their lengths, in
                        16ths */
};

struct codes_place {
    int32_t x, y;           /* a point in the picture of the level, from which the sides are measured */
    unsigned turn;          /* of the first axis against the rows, in 64ths of a right angle */
    int32_t from[2], to[2]; /* along the first axis and the second, pixels */
    struct codes_lines lines[2];
    /* The rest is of places of parts: */
    uint32_t cells, dark, seen, clear; /* pixels of its cells, as in struct codes_sums */
    int32_t stripes;                   /* share of the gradients along the first axis, of 256 */
    int32_t straight;                  /* how well all edges follow the axes, of 256 */
};

/* Cosine and sine of a turn, of CODES_ONE. */
int32_t codes_cosine(unsigned turn);
int32_t codes_sine(unsigned turn);

/* Measures the place of a part (codes_parts.h): the turn of its edges, its sides, moved to where the code
 * seems to end, and all else. */
void codes_place_measure(const struct codes_level *level, const uint32_t *cells, uint32_t count,
                         struct codes_place *place);

/* The place of a symbol that was read, with corners in the picture of the level, grown to all of the code: a
 * reader may see a line of a linear code, or the part of a code that is not hidden. */
void codes_place_grow(const struct codes_level *level, const int32_t corner[4][2], struct codes_place *place);

/* The corners in the picture of the level, with a margin of about a module. */
void codes_place_corners(const struct codes_place *place, int32_t corner[4][2]);

#endif
