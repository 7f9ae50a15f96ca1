/* SPDX-License-Identifier: MIT
 * Turning by quarters and mirroring: one of the eight orientations of core/orient.h. */
#ifndef BLURD_FILTERS_ROTATE_ROTATE_H
#define BLURD_FILTERS_ROTATE_ROTATE_H

#include "filters/definition.h"

enum rotate_angle { ROTATE_AUTO, ROTATE_0, ROTATE_90, ROTATE_180, ROTATE_270 };
enum rotate_flip { ROTATE_UNFLIPPED, ROTATE_HORIZONTAL, ROTATE_VERTICAL, ROTATE_BOTH };

struct rotate_arguments {
    int angle; /* enum rotate_angle, clockwise */
    int flip;  /* enum rotate_flip, after the turn */
};

struct rotate_plan {
    uint32_t orientation; /* 1 to 8: what is done to the picture is what undoes this EXIF orientation */
};

extern const struct filter filter_rotate;

#endif
