/* SPDX-License-Identifier: MIT
 * Rectangles that a search does not hide. `keep` (repeatable), and entries of a list of regions with
 * `"keep": true`, cut what a detector finds: it is no region there. Each `except` (repeatable) names one
 * find, which is left out as a whole. Their text, numbers and units are those of a rectangle of
 * filters/argument/region.h. Zero-initialise. */
#ifndef BLURD_FILTERS_ARGUMENT_REGION_KEEP_H
#define BLURD_FILTERS_ARGUMENT_REGION_KEEP_H

#include "filters/argument/region.h"

enum { REGION_KEEP_MAX = 64 };

struct region_keep {
    uint32_t count;
    struct region_kept {
        double number[4];
        bool percent[4];
        bool listed;  /* a list gave it, in the unit below; else it is in that of the request */
        uint8_t unit; /* enum region_unit */
    } rectangle[REGION_KEEP_MAX];
};

/* Appends the rectangle `text` of the parameter `name`. ST_ARGUMENT as region_parse, and for other shapes. */
enum status region_keep_parse(struct region_keep *keep, const char *name, const char *text,
                              struct error *err);

/* Appends a rectangle of a list, whose numbers were checked. ST_LIMIT when there are too many. */
enum status region_keep_add(struct region_keep *keep, const double number[4], enum region_unit unit,
                            struct error *err);

/* Whether the parameter gave any. */
bool region_keep_has_given(const struct region_keep *keep);

/* Checks the numbers of the rectangles of the parameter `name` against the unit of the request, as
 * region_check. */
enum status region_keep_check(const struct region_keep *keep, const char *name, enum region_unit unit,
                              struct error *err);

/* Checks that each rectangle of the parameter `name` has a pixel of the upright picture of this size.
 * ST_ARGUMENT names the first one that lies off it, or is less than a pixel wide or high. */
enum status region_keep_check_size(const struct region_keep *keep, const char *name, enum region_unit unit,
                                   uint32_t width, uint32_t height, struct error *err);

/* How well rectangle `index` names what was found, x, y, width and height in pixels of the upright picture,
 * which has this size: intersection over union, where at least half of the find's area lies in the rectangle
 * and it is at least a third as large; else 0, so that a rectangle around a person does not name a small face
 * in it. */
double region_keep_match(const struct region_keep *keep, uint32_t index, enum region_unit unit,
                         uint32_t width, uint32_t height, const double number[4]);

/* Appends a region that was found, x, y, width and height in pixels of the upright picture, which has this
 * size, to the set; without what is kept. Whole pixels that lie in a kept rectangle, to the rounding of
 * decimal fractions, are kept, and all others of the region's rectangle stay: a region that a kept rectangle
 * touches becomes rectangles of whole pixels of the picture, or none. ST_LIMIT when the set is full. */
enum status region_keep_cut(const struct region_keep *keep, enum region_unit unit, uint32_t width,
                            uint32_t height, const struct region *region, const double number[4],
                            struct region_set *set, struct error *err);

#endif
