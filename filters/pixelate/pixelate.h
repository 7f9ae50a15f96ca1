/* SPDX-License-Identifier: MIT
 * Pixelation replaces each tile by its mean. Tiles start at the top left corner; the border cuts the last
 * ones. */
#ifndef BLURD_FILTERS_PIXELATE_PIXELATE_H
#define BLURD_FILTERS_PIXELATE_PIXELATE_H

#include "filters/definition.h"

enum { PIXELATE_BLOCK_MAX = 4096 };

struct pixelate_arguments {
    int block; /* side of a tile in pixels, 1 to PIXELATE_BLOCK_MAX */
};

struct pixelate_plan {
    uint32_t block; /* in pixels of the picture; a multiple of every plane's reduction */
};

extern const struct filter filter_pixelate;

#endif
