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
    /* A bit for each detector. A chain searches with the first of them and others of the same network; the
     * server makes further ones. */
    uint32_t wanted;
    double threshold[DETECTORS]; /* of these: least probability, 0 to 1 */
};

struct detect_plan {
    double threshold[DETECTORS]; /* 0 of detectors that do not search */
    uint32_t wanted;
    /* Of the picture with its border (struct detector), multiples of the detector's unit. */
    uint32_t width, height;
};

/* The shape of an image whose first row holds a struct candidates. */
struct image_shape detect_shape(void);

extern const struct filter filter_detect;

#endif
