/* SPDX-License-Identifier: MIT
 * Turns anchors of the network for persons into boxes, as its graph does: an anchor above the threshold gives
 * a box, and non-maximum suppression keeps the one with the highest score among boxes that overlap. */
#ifndef BLURD_DETECT_PERSONS_PERSONS_H
#define BLURD_DETECT_PERSONS_PERSONS_H

#include "core/status.h"
#include "detect/boxes.h"
#include "detect/candidates.h"
#include "detect/model.h"

/* Layers by name, PERSON_stem to PERSON_cells32. */
enum person_layer {
#define LAYER(name, kind, size, input, addend, inputs, outputs, stride, activation) PERSON_##name,
#include "detect/persons/network.def"
#undef LAYER
    PERSON_LAYERS,
    PERSON_picture = NETWORK_PICTURE,
    PERSON_none = NETWORK_NONE,
};

enum {
    PERSON_UNIT = 32,
    PERSON_CELL = 16,       /* of the first output; cells of the other one have twice the sides */
    PERSON_FEW_ANCHORS = 3, /* of a cell of the first output */
    PERSON_MORE_ANCHORS = 6,
    PERSON_ANCHORS = PERSON_FEW_ANCHORS + PERSON_MORE_ANCHORS,
};

extern const struct detector detector_persons;

/* The smallest byte of a score whose probability is at least the threshold; INT32_MAX when none is. */
int32_t persons_least(const struct model_weights *weights, double threshold);

/* Finds the persons; sorts `candidates`, which no other process may change meanwhile. Does not allocate.
 * Boxes whose middle lies outside the picture are left out. ST_LIMIT when there are more candidates than
 * CANDIDATES_MAX or more persons than BOXES_MAX: callers must not hide only some of them. ST_CORRUPT for a
 * candidate that is no anchor. */
enum status persons_find(const struct model_weights *weights, struct candidates *candidates,
                         const struct boxes_frame *frame, struct boxes *persons, struct error *err);

#endif
