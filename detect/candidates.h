/* SPDX-License-Identifier: MIT
 * The cells of a picture in which something was found, as a backend writes them and a detector reads them:
 * plain data, the same bytes of each backend. */
#ifndef BLURD_DETECT_CANDIDATES_H
#define BLURD_DETECT_CANDIDATES_H

#include <stdint.h>

enum {
    CANDIDATES_MAX = 8192,
    CANDIDATES_SUMS = 15, /* of a cell at most; a search with fewer leaves the last ones 0 */
};

struct candidate {
    uint16_t x, y;                /* of the cell */
    int32_t sum[CANDIDATES_SUMS]; /* of a network: of the heads, without the scale of the model; the first is
                                     the score's */
};

/* All cells whose first sum is at least that of the threshold, in rows from the top, each from the left. */
struct candidates {
    uint32_t count; /* may exceed CANDIDATES_MAX: then there are only the first ones, in any choice, and the
                       caller must not go on as if they were all */
    struct candidate candidate[CANDIDATES_MAX];
};

/* Brings candidates that were written in any order into the order of rows, each from the left, and those of
 * the same cell into that of their sums. What is behind the last one becomes 0, and if there are more than
 * CANDIDATES_MAX all of them. Does not allocate. */
void candidates_sort(struct candidates *candidates);

#endif
