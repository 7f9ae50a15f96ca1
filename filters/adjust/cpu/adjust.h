/* SPDX-License-Identifier: MIT
 * Adjustments row by row, for steps that adjust the rows that they make. */
#ifndef BLURD_FILTERS_ADJUST_CPU_ADJUST_H
#define BLURD_FILTERS_ADJUST_CPU_ADJUST_H

#include <stdbool.h>

#include "core/image.h"
#include "cpu/rows/rows.h"

struct adjustment {
    const struct row_set *rows;
    const struct image *source, *target;
    struct adjust_row row[IMAGE_PLANES_MAX]; /* of each plane of the target */
    bool copies[IMAGE_PLANES_MAX];           /* samples stay as they are */
};

/* The plan may be forgotten afterwards, except for its curve. Source and target may be one picture where the
 * model is kept. */
void adjustment_init(struct adjustment *all, const struct row_set *rows, const struct adjust_plan *plan,
                     const struct image *source, const struct image *target);

/* Adjusts row y of a plane of the target; `context` is the struct adjustment. */
void adjustment_row(const void *context, unsigned plane, uint32_t y);

#endif
