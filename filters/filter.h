/* SPDX-License-Identifier: MIT
 * The table of filters, and a step of a chain: a filter planned for one picture. */
#ifndef BLURD_FILTERS_FILTER_H
#define BLURD_FILTERS_FILTER_H

#include "filters/blur/blur.h"
#include "filters/colour/adjust.h"
#include "filters/convolve.h"
#include "filters/crop.h"
#include "filters/definition.h"
#include "filters/detect.h"
#include "filters/median.h"
#include "filters/morphology.h"
#include "filters/pixelate.h"
#include "filters/placeholder.h"
#include "filters/resize/resize.h"
#include "filters/rotate.h"
#include "filters/sharpen.h"
#include "filters/stats.h"

enum filter_id {
    FILTER_ADJUST,
    FILTER_BLUR,
    FILTER_CONVOLVE,
    FILTER_CROP,
    FILTER_DETECT,
    FILTER_DILATE,
    FILTER_ERODE,
    FILTER_MEDIAN,
    FILTER_PIXELATE,
    FILTER_PLACEHOLDER,
    FILTER_RESIZE,
    FILTER_ROTATE,
    FILTER_SHARPEN,
    FILTER_STATS,
    FILTER_COUNT
};

struct step {
    enum filter_id filter;
    union { /* the functions of a filter get its address */
        struct adjust_plan adjust;
        struct blur_plan blur;
        struct convolve_plan convolve;
        struct crop_plan crop;
        struct detect_plan detect;
        struct median_plan median;
        struct morphology_plan morphology; /* dilate and erode */
        struct pixelate_plan pixelate;
        struct placeholder_plan placeholder;
        struct resize_plan resize;
        struct rotate_plan rotate;
        struct sharpen_plan sharpen;
    };
};

union filter_arguments {
    struct adjust_arguments adjust;
    struct blur_arguments blur;
    struct convolve_arguments convolve;
    struct crop_arguments crop;
    struct detect_arguments detect;
    struct median_arguments median;
    struct morphology_arguments morphology;
    struct pixelate_arguments pixelate;
    struct placeholder_arguments placeholder;
    struct resize_arguments resize;
    struct rotate_arguments rotate;
    struct sharpen_arguments sharpen;
};

/* The filter of that id, or by its name (NULL when unknown). */
const struct filter *filter_get(enum filter_id id);
const struct filter *filter_find(const char *name);

enum filter_id filter_id(const struct filter *filter);

#endif
