/* SPDX-License-Identifier: MIT */
#include "server/picture/transcode_mask.h"

#include <string.h>

#include "cpu/mask/mask_list.h"
#include "filters/argument/colour.h"
#include "server/picture/selection.h"

/* Decodes the mask of the form. */
static enum status read_part(struct transcode_mask *mask, struct work_plan *plan, struct slot *slot,
                             struct error *err) {
    struct selection *selection = &plan->selection;
    enum status status = selection_take_memory(selection, slot, &plan->stored, err);
    status = status == ST_OK ? selection_read_part(selection, err) : status;
    mask->weights = selection->mask.plane[0].data;
    mask->plan.weighs = 1;
    return status;
}

static struct mask_options options_of(const struct work_plan *plan) {
    const struct selection *selection = &plan->selection;
    return (struct mask_options){.invert = plan->parameters->input.invert,
                                 .outward = selection->redact,
                                 .over = selection->part.input.data,
                                 .deadline_ns = selection->deadline_ns};
}

/* mask->rects stays the daemon's own list. */
static enum status list_regions(struct transcode_mask *mask, struct work_plan *plan, struct slot *own,
                                bool whole, struct error *err) {
    struct selection *selection = &plan->selection;
    const struct mask_options options = options_of(plan);
    struct mask_list list = {.room = MASK_PLAN_RECTS_MAX};
    list.rect = (struct mask_plan_rect *)(void *)slot_take(own, list.room * sizeof *list.rect, err);
    if (!list.rect) {
        return err->status;
    }
    enum status status =
        mask_list(&list, &selection->region, &plan->stored, &options, whole, &selection->report, err);
    if (status == ST_OK && whole && plan->parameters->input.fill.kind == FILL_RING) {
        status = mask_list_rings(&list, selection->region.count, &plan->stored, err);
    }
    mask->rects = list.rect;
    mask->plan.rects = list.count;
    mask->plan.rings = list.rings;
    return status;
}

/* Puts a copy of the list where the device finds it. */
static enum status lend_list(struct transcode_mask *mask, struct slot *slot, struct error *err) {
    size_t size = mask_plan_list_bytes(&mask->plan);
    uint8_t *copy = slot_take(slot, size, err);
    if (!copy) {
        return err->status;
    }
    memcpy(copy, mask->rects, size);
    mask->rects = (const struct mask_plan_rect *)(const void *)copy;
    return ST_OK;
}

static uint64_t count_weight(const struct image *mask, bool invert) {
    uint64_t count = 0;
    for (uint32_t y = 0; y < mask->height; y++) {
        const uint8_t *row = plane_row(&mask->plane[0], y);
        for (uint32_t x = 0; x < mask->width; x++) {
            count += invert ? row[x] == 255 : row[x] > 0;
        }
    }
    return count;
}

/* Pixels in the rectangles and those of the mask's weights, where both count twice: inverted those with all
 * of the weight. */
static uint64_t count_pixels(const struct transcode_mask *mask, const struct selection *selection) {
    const struct mask_plan *made = &mask->plan;
    uint64_t count = made->weighs ? count_weight(&selection->mask, made->invert) : 0;
    for (uint32_t i = 0; i < made->rects; i++) {
        const struct mask_plan_rect *rect = &mask->rects[i];
        count += (uint64_t)(rect->x1 - rect->x0) * (uint64_t)(rect->y1 - rect->y0);
    }
    return count;
}

/* Draws the mask here, only to count its pixels. */
static enum status draw_covered(struct work_plan *plan, struct slot *slot, struct error *err) {
    struct selection *selection = &plan->selection;
    const struct mask_options options = options_of(plan);
    enum status status = options.over ? ST_OK : selection_take_memory(selection, slot, &plan->stored, err);
    if (status != ST_OK) {
        return status;
    }
    const struct plane *weights = &selection->mask.plane[0], *drawn = &selection->spare.plane[0];
    if (options.over) {
        memcpy(drawn->data, weights->data, weights->stride * weights->height);
    }
    return mask_draw(&selection->spare, &selection->region, &options, &selection->report, err);
}

/* Counts for the report whether the mask covers a pixel. Inverted, that is certain where shapes and weights
 * are smaller than the picture. */
static enum status count_covered(const struct transcode_mask *mask, struct work_plan *plan, struct slot *slot,
                                 struct error *err) {
    uint64_t count = count_pixels(mask, &plan->selection);
    uint64_t pixels = (uint64_t)plan->stored.width * plan->stored.height;
    bool certain = !mask->plan.invert || count < pixels;
    plan->selection.report.covered = mask->plan.invert ? pixels - count : count;
    return certain ? ST_OK : draw_covered(plan, slot, err);
}

/* Without regions the whole picture is redacted, but where regions or a search were asked for. */
static void plan_redaction(struct mask_plan *made, const struct work_plan *plan, bool several) {
    const struct selection *selection = &plan->selection;
    const struct fill *fill = &plan->parameters->input.fill;
    uint16_t colour[4] = {0};
    if (!selection->redact || selection->none) {
        return;
    }
    made->redaction = several ? MASK_PLAN_REGIONS : MASK_PLAN_INSIDE;
    made->regions = several ? selection->region.count : 0;
    made->look = parameters_look(plan->parameters);
    made->fill = fill->kind;
    colour_samples(fill->colour, &plan->stored, colour);
    for (unsigned i = 0; i < sizeof made->colour; i++) {
        made->colour[i] = (uint8_t)colour[i];
    }
    if (!selection->wanted) {
        made->invert = 1;
    }
}

enum status transcode_mask_make(struct transcode_mask *mask, struct work_plan *plan, struct slot *slot,
                                struct slot *own, bool *wanted, struct error *err) {
    const struct input_arguments *input = &plan->parameters->input;
    struct selection *selection = &plan->selection;
    struct mask_plan *made = &mask->plan;
    bool part = selection->part.input.data != NULL;
    bool several = selection->redact && !input->invert && !part && selection->region.count > 0;
    enum status status = ST_OK;
    *mask = (struct transcode_mask){.plan.masks = selection->wanted && chain_masked(&plan->chain) > 0,
                                    .plan.invert = selection->wanted && input->invert};
    if (part) {
        status = read_part(mask, plan, slot, err);
    }
    if (status == ST_OK && selection->region.count > 0) {
        status = list_regions(mask, plan, own, several, err);
    }
    if (status == ST_OK) {
        status = count_covered(mask, plan, slot, err);
    }
    if (status == ST_OK) {
        status = selection_check(selection, plan->parameters, &plan->stored, err);
    }
    if (status == ST_OK && made->rects > 0) {
        status = lend_list(mask, slot, err);
    }
    plan_redaction(made, plan, several);
    made->feather = made->masks && selection_is_soft(selection, plan->parameters) ? input->feather : 0;
    *wanted = made->masks || made->redaction != MASK_PLAN_KEEP;
    return status;
}
