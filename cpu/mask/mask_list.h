/* SPDX-License-Identifier: MIT
 * Lists the rectangles of a mask that a device draws (filters/mask/mask_plan.h), by the code that draws masks
 * here, so that both have the same pixels. */
#ifndef BLURD_CPU_MASK_MASK_LIST_H
#define BLURD_CPU_MASK_MASK_LIST_H

#include "cpu/mask/mask.h"
#include "filters/mask/mask_plan.h"

struct mask_list {
    struct mask_plan_rect *rect; /* lent */
    uint32_t room;               /* how many there may be, MASK_PLAN_RECTS_MAX at most */
    uint32_t count;
    uint32_t rings; /* that follow these */
};

/* Lists all regions for a JPEG with planes of this shape. `options` are those of mask_draw; their grid must
 * have no margin, and with outward be that of mask_plan_grid. `whole` asks for whole blocks of each region,
 * for MASK_PLAN_REGIONS. Fills the places of *report. ST_UNSUPPORTED without room, ST_LIMIT at the deadline.
 */
enum status mask_list(struct mask_list *list, const struct region_set *set, const struct image_shape *shape,
                      const struct mask_options *options, bool whole, struct mask_report *report,
                      struct error *err);

/* Appends the rings of regions 0 to regions - 1 of a list of whole blocks, and that of all of them, as
 * filters/mask/mask_plan.h has it. ST_UNSUPPORTED without room. */
enum status mask_list_rings(struct mask_list *list, uint32_t regions, const struct image_shape *shape,
                            struct error *err);

#endif
