/* SPDX-License-Identifier: MIT
 * What a detector finds in a picture. */
#ifndef BLURD_DETECT_BOXES_H
#define BLURD_DETECT_BOXES_H

#include <stdbool.h>
#include <stdint.h>

#include "core/status.h"

enum { BOXES_MAX = 1024, BOXES_LANDMARKS = 5, BOXES_CORNERS = 4 };

struct box {
    double x, y, width, height; /* within the picture; width and height are above 0 */
    double score;               /* probability, at least the threshold and at most 1 */
    unsigned class;             /* index in the detector's names of classes */
    /* As many as the detector has; x and y. They may lie outside. */
    double landmarks[BOXES_LANDMARKS][2];
    /* Of a line of text: its turned rectangle, x and y, clockwise, from the corner where a reader begins.
     * They may lie outside. What is hidden is the box. */
    bool turned; /* there are corners */
    double corner[BOXES_CORNERS][2];
};

/* In the order of the detector: faces by falling score, then by row and column of their cells; text from
 * above to below. */
struct boxes {
    unsigned count;
    struct box box[BOXES_MAX];
};

/* Sides of the picture that was searched, and of the picture that the boxes are for, of which it is a
 * scaled copy. */
struct boxes_frame {
    uint32_t searched_width, searched_height;
    uint32_t width, height;
    bool conceals; /* boxes are coarsened, so that their sizes do not tell what is in them: the grid is above
                      1 */
};

/* Intersection over union of two boxes. */
double boxes_overlap(const struct box *a, const struct box *b);

/* Boxes of a picture's mirror image become those of the picture, which is so wide. Landmarks are those of a
 * face: left and right ones change places. */
void boxes_mirror(struct boxes *boxes, uint32_t width);

/* Adds the boxes of another search of the same picture. A box that nearly equals one that is there is left
 * out; boxes that are there stay. The result is ordered by falling score. ST_LIMIT when there are more than
 * BOXES_MAX. */
enum status boxes_join(struct boxes *boxes, const struct boxes *more, struct error *err);

/* The same, but of boxes that are about the same thing the one with the highest score stays. */
enum status boxes_join_better(struct boxes *boxes, const struct boxes *more, struct error *err);

/* Removes each box that overlaps a known one so much that both show the same thing. */
void boxes_leave_out(struct boxes *boxes, const struct boxes *known);

#endif
