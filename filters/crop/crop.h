/* SPDX-License-Identifier: MIT
 * Cropping keeps a rectangle of the picture. Its edges are rounded to whole pixels. */
#ifndef BLURD_FILTERS_CROP_CROP_H
#define BLURD_FILTERS_CROP_CROP_H

#include "filters/argument/gravity.h"
#include "filters/definition.h"

enum { CROP_PIXELS_MAX = 1000000, CROP_AXES = 2 };

/* A number of the rectangle, in the unit of the arguments or in percent. */
struct crop_length {
    bool given, percent;
    double value;
};

/* Along x, then along y. */
struct crop_arguments {
    struct crop_length begin[CROP_AXES], size[CROP_AXES];
    int unit; /* enum region_unit of numbers without % */
    struct {
        bool given;
        double side[CROP_AXES];
    } aspect;
    struct {
        bool given;
        struct gravity place;
    } gravity;
};

/* The rectangle in pixels. It lies in the picture and is not empty. */
struct crop_plan {
    uint32_t x, y, width, height;
};

/* The planes of that part of a picture, over its memory. */
struct image crop_view(const struct crop_plan *plan, const struct image *image);

extern const struct filter filter_crop;

#endif
