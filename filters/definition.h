/* SPDX-License-Identifier: MIT
 * What the file of a filter defines: a name, help, a table of arguments, and a function that turns arguments
 * into a plan. A plan is plain data; backends read only that. No pixel is touched in this folder. */
#ifndef BLURD_FILTERS_DEFINITION_H
#define BLURD_FILTERS_DEFINITION_H

#include "core/image.h"
#include "filters/argument.h"

struct filter {
    const char *name;
    const char *help;
    const struct argument *arguments;
    /* Turns arguments into a plan for pictures of this shape: the filter's own struct, all zero before. */
    enum status (*plan)(const void *arguments, const struct image_shape *shape, void *plan,
                        struct error *err);
    /* Whether planes of PIXEL_YCBCR can be filtered as they are stored; NULL: never. */
    bool (*planar)(const void *arguments, const struct image_shape *shape);
    /* Whether `plan` could have made every number of this one for a picture of this shape. */
    bool (*valid)(const void *plan, const struct image_shape *shape);
};

#endif
