/* SPDX-License-Identifier: MIT
 * All detectors by number. */
#ifndef BLURD_DETECT_DETECTORS_H
#define BLURD_DETECT_DETECTORS_H

#include "detect/detector.h"

enum detector_id {
#define DETECTOR(ID, name, thing, Title) DETECTOR_##ID,
#include "detect/detectors.def"
#undef DETECTOR
    DETECTORS
};

struct detector; /* detect/detector.h */

/* A constant; thread-safe. */
const struct detector *detector_get(enum detector_id id);

/* The detectors that search in one pass with this one, a bit for each: those with the same network, or it
 * alone. */
uint32_t detectors_beside(enum detector_id id);

/* The outputs of its network that a detector reads, a bit for each: its own, or all with anchors. */
uint32_t detector_outputs(const struct detector *detector);

/* The first detector of a set that is not empty. */
enum detector_id detectors_first(uint32_t set);

/* The number under which the model of a detector is kept: the first detector's that has the same network. */
enum detector_id detector_model(enum detector_id id);

/* "none", then the names of the detectors; NULL ends them. */
extern const char *const detector_choices[DETECTORS + 2];

#endif
