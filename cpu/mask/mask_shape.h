/* SPDX-License-Identifier: MIT
 * Draws one shape into a mask, row by row; cpu/mask/mask.h has the rule. */
#ifndef BLURD_CPU_MASK_MASK_SHAPE_H
#define BLURD_CPU_MASK_MASK_SHAPE_H

#include "core/image.h"
#include "filters/argument/region.h"

/* Columns x0 to x1, rows y0 to y1, the latter excluded; all 0: nothing. */
struct mask_rect {
    uint32_t x0, y0, x1, y1;
};

enum mask_rule {
    MASK_CENTRE,  /* pixels whose centre is in the shape */
    MASK_TOUCHED, /* pixels that have area in common with it; perhaps one more at a border */
    MASK_WITHIN,  /* pixels that lie in it; perhaps one fewer at a border */
};

/* Sets the pixels of region `index` to 255 and leaves the others. Returns the rectangle around them. */
struct mask_rect mask_shape(const struct image *mask, const struct region_set *set, uint32_t index,
                            enum mask_rule rule);

struct mask_shape_size {
    uint32_t width, height;
};

/* Takes columns `from` to before `to` of row y. */
typedef void mask_shape_span(void *context, uint32_t y, uint32_t from, uint32_t to);

/* The same for a mask that is not drawn here: calls `span` for the pixels of region `index`, in rows from the
 * top. Spans of a row may overlap. */
struct mask_rect mask_shape_spans(const struct mask_shape_size *size, const struct region_set *set,
                                  uint32_t index, enum mask_rule rule, mask_shape_span *span, void *context);

#endif
