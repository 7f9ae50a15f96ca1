/* SPDX-License-Identifier: MIT */
#include "filters/mask/mask_plan.h"

#include <stdbool.h>

static const double feather_least = 0.2, feather_most = 1000; /* the parameter's limits */

void mask_plan_grid(const struct image_shape *shape, uint32_t *width, uint32_t *height) {
    bool reduced = shape->model == PIXEL_YCBCR;
    *width = (uint32_t)MASK_PLAN_BLOCK << (reduced ? shape->chroma_shift_x : 0);
    *height = (uint32_t)MASK_PLAN_BLOCK << (reduced ? shape->chroma_shift_y : 0);
}

static bool redaction_fits(const struct mask_plan *plan) {
    bool several = plan->redaction == MASK_PLAN_REGIONS;
    return several ? plan->regions >= 1 && plan->regions <= MASK_PLAN_REGIONS_MAX && !plan->invert &&
                         !plan->weighs && plan->rects > 0
                   : plan->regions == 0;
}

static bool fill_fits(const struct mask_plan *plan) {
    bool lists = plan->redaction == MASK_PLAN_REGIONS && plan->fill == FILL_RING;
    return plan->fill < FILL_KINDS &&
           (lists ? plan->rings >= 1 && plan->rings <= MASK_PLAN_RECTS_MAX - plan->rects : plan->rings == 0);
}

enum status mask_plan_check(const struct mask_plan *plan, const struct image_shape *shape,
                            struct error *err) {
    bool fits = plan->masks <= 1 && plan->invert <= 1 && plan->weighs <= 1 &&
                plan->redaction <= MASK_PLAN_INSIDE && plan->rects <= MASK_PLAN_RECTS_MAX &&
                (plan->masks || plan->redaction != MASK_PLAN_KEEP) && redaction_fits(plan) &&
                fill_fits(plan) && shape->width <= MASK_PLAN_SIDE_MAX &&
                shape->height <= MASK_PLAN_SIDE_MAX && plan->look <= INT32_MAX;
    bool soft = plan->feather >= feather_least && plan->feather <= feather_most;
    return fits && (soft || plan->feather == 0)
               ? ST_OK
               : fail(err, ST_INTERNAL, "a number of the mask is out of bounds");
}

struct image_shape mask_plan_shape(const struct image_shape *picture) {
    return (struct image_shape){
        .model = PIXEL_GRAY, .depth = 8, .width = picture->width, .height = picture->height};
}

enum status mask_plan_feather(const struct image_shape *mask, double feather, struct chain *chain,
                              struct error *err) {
    struct blur_arguments arguments = {.sigma = feather / 2, .edge = EDGE_CLAMP};
    chain->count = 0;
    return chain_append(chain, filter_get(FILTER_BLUR), &arguments, mask, err);
}
