/* SPDX-License-Identifier: MIT
 * Unsharp mask: x + amount * (x - blur(x)). */
#ifndef BLURD_FILTERS_SHARPEN_SHARPEN_H
#define BLURD_FILTERS_SHARPEN_SHARPEN_H

#include "filters/blur/blur.h"

struct sharpen_arguments {
    struct blur_arguments blur;
    double amount;    /* 0 to 10 */
    double threshold; /* steps of 255 */
};

/* Always in floating point: the blur is not rounded before the difference from it is amplified. */
struct sharpen_plan {
    struct blur_plan blur;
    float amount;
    float threshold; /* in samples of the picture: smaller differences stay */
};

extern const struct filter filter_sharpen;

#endif
