/* SPDX-License-Identifier: MIT
 * Results of a network with anchors: boxes of fixed sides around the middle of each cell. The cell has a
 * score for each anchor, and says how the place of what is found differs from the anchor's. */
#ifndef BLURD_DETECT_ANCHORS_H
#define BLURD_DETECT_ANCHORS_H

#include <stddef.h>

#include "detect/candidates.h"
#include "detect/network.h"

/* The sums of a candidate, which is an anchor of the cell: the byte of its score, its number through all
 * outputs of the network, and the bytes of its place, in the order of the network. */
enum { ANCHOR_SCORE, ANCHOR_NUMBER, ANCHOR_PLACE, ANCHOR_SUMS = ANCHOR_PLACE + 4 };

/* The number of the first anchor of an output. */
int anchors_first(const struct network *network, unsigned output);

/* The cells of a result of this index. */
struct anchors_cells {
    const uint8_t *data;
    size_t stride; /* bytes between rows */
    uint32_t width, height;
};

/* Appends a candidate for each anchor whose byte of the score is `least` or more. With more than
 * CANDIDATES_MAX only the count is right. Does not allocate. */
void anchors_find(const struct network *network, unsigned output, const struct anchors_cells *cells,
                  int32_t least, struct candidates *candidates);

#endif
