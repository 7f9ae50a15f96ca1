/* SPDX-License-Identifier: MIT
 * What a filter costs on one core. Only the ratios of such times matter: server/planner/cost.h. */
#ifndef BLURD_FILTERS_COST_H
#define BLURD_FILTERS_COST_H

#include "core/image.h"

struct cost_shape {
    uint32_t width, height;
    float samples; /* of a pixel, on average: below 3 where colour is reduced */
    bool wide;     /* samples have 16 bits */
    bool alpha;
    bool real; /* filters compute in floating point: 16 bits or alpha */
};

struct cost_shape cost_shape_of(const struct image_shape *shape);

/* Smaller sides count as these, because each row and its ends have a fixed cost. */
struct cost_least {
    uint32_t columns, rows;
};
#define COST_AROUND ((struct cost_least){48, 12}) /* filters that read neighbouring pixels */
#define COST_ALONE ((struct cost_least){12, 1})

static inline float cost_at_least(uint32_t side, uint32_t least) {
    return (float)(side > least ? side : least);
}

static inline float cost_samples(const struct cost_shape *shape, struct cost_least least) {
    return cost_at_least(shape->width, least.columns) * cost_at_least(shape->height, least.rows) *
           shape->samples;
}

/* The samples of the picture and of the margins of that width around it. Those beside rows take longer. */
static inline float cost_windows(const struct cost_shape *shape, int margin) {
    const float both = 2 * (float)margin, slower = 4;
    return (cost_at_least(shape->width, COST_AROUND.columns) + slower * both) *
           (cost_at_least(shape->height, 1) + both) * shape->samples;
}

#endif
