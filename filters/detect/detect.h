/* SPDX-License-Identifier: MIT
 * The search of a detector (detect/detector.h). A backend writes a struct candidates to the
 * first row of the target, see detect_shape(). All sums are whole numbers and all backends give the same
 * bytes. The server sets the arguments but the first. */
#ifndef BLURD_FILTERS_DETECT_DETECT_H
#define BLURD_FILTERS_DETECT_DETECT_H

#include "detect/candidates.h"
#include "detect/detectors.h"
#include "filters/definition.h"

struct detect_arguments {
    uint32_t wanted; /* of a request: a bit for each detector. Each searches in a chain of its own */
    enum detector_id detector; /* of this chain */
    double threshold;          /* least probability, 0 to 1 */
};

struct detect_plan {
    double threshold;
    uint32_t detector; /* enum detector_id */
    /* Of the picture with its border (struct detector), multiples of the detector's unit. */
    uint32_t width, height;
};

/* The shape of an image whose first row holds a struct candidates. */
struct image_shape detect_shape(void);

extern const struct filter filter_detect;

#endif
