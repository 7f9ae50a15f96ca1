/* SPDX-License-Identifier: MIT
 * Search for faces by a neural network (detect/network.def). A backend writes a struct face_candidates to the
 * first row of the target, see detect_shape(). All sums are whole numbers and all backends give the same
 * bytes. The server sets the arguments: there is no table of them. */
#ifndef BLURD_FILTERS_DETECT_DETECT_H
#define BLURD_FILTERS_DETECT_DETECT_H

#include "filters/definition.h"

enum {
    FACE_CANDIDATES_MAX = 8192,
    FACE_SUMS = 15,   /* outputs of the network for a cell */
    DETECT_UNIT = 32, /* both sides are padded to a multiple of it, on the right and below, with black */
    DETECT_CELL = 4,  /* pixels of a cell along each side */
};

/* A cell that looks like the middle of a face. */
struct face_candidate {
    uint16_t x, y;          /* of the cell */
    int32_t sum[FACE_SUMS]; /* heat, height, width, offset y and x, then five landmarks, as the layer
                               `heads` has them; without the scale of the model */
};

/* All cells whose heat is at least the plan's threshold, in rows from the top, each from the left. */
struct face_candidates {
    uint32_t count; /* may exceed FACE_CANDIDATES_MAX: then there are only the first ones, in any choice, and
                       the caller must not go on as if they were all */
    struct face_candidate candidate[FACE_CANDIDATES_MAX];
};

struct detect_arguments {
    double threshold; /* least probability, 0 to 1 */
};

struct detect_plan {
    double threshold;
    uint32_t width, height; /* of the padded picture */
};

/* The shape of an image whose first row holds a struct face_candidates. */
struct image_shape detect_shape(void);

extern const struct filter filter_detect;

#endif
