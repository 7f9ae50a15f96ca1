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

/* "none", then the names of the detectors; NULL ends them. */
extern const char *const detector_choices[DETECTORS + 2];

#endif
