/* SPDX-License-Identifier: MIT */
#include "server/picture/transcode_mask.h"

#include "cpu/mask/mask_list.h"

/* Decodes the mask of the form. */
static enum status read_part(struct transcode_mask *mask, struct plan *plan, struct slot *slot,
                             struct error *err) {
    struct selection *selection = &plan->selection;
    enum status status = selection_take_memory(selection, slot, &plan->stored, err);
    if (status == ST_OK) {
        status = mask_part_read(&selection->part, selection->orientation, &plan->limits, &selection->mask,
                                selection->spare.plane[0].data, err);
    }
    mask->weights = selection->mask.plane[0].data;
    mask->plan.weighs = 1;
    return status;
}

static enum status list_regions(struct transcode_mask *mask, struct plan *plan, struct slot *slot, bool whole,
                                struct error *err) {
    struct selection *selection = &plan->selection;
    const struct mask_options options = {.invert = plan->parameters->input.invert,
                                         .outward = selection->redact,
                                         .deadline_ns = selection->deadline_ns};
    struct mask_list list = {.room = MASK_PLAN_RECTS_MAX};
    list.rect = (struct mask_plan_rect *)(void *)slot_take(slot, list.room * sizeof *list.rect, err);
    if (!list.rect) {
        return err->status;
    }
    enum status status =
        mask_list(&list, &selection->region, &plan->stored, &options, whole, &selection->report, err);
    mask->rects = list.rect;
    mask->plan.rects = list.count;
    return status;
}

/* The first filter decides how redacted regions look. */
static uint32_t look_of(const struct parameters *parameters) {
    const struct operation *operation = &parameters->ops.operation[0];
    bool pixelate = filter_id(operation->filter) == FILTER_PIXELATE;
    return pixelate ? (uint32_t)operation->arguments.pixelate.block : 0;
}

/* Without regions the whole picture is redacted, but where regions or faces were asked for. */
static void plan_redaction(struct mask_plan *made, const struct plan *plan, bool several) {
    const struct selection *selection = &plan->selection;
    bool nothing = selection->wanted && !made->invert && !made->weighs && made->rects == 0;
    if (!selection->redact || nothing) {
        return;
    }
    made->redaction = several ? MASK_PLAN_REGIONS : MASK_PLAN_INSIDE;
    made->regions = several ? selection->region.count : 0;
    made->look = look_of(plan->parameters);
    if (!selection->wanted) {
        made->invert = 1;
    }
}

enum status transcode_mask_make(struct transcode_mask *mask, struct plan *plan, struct slot *slot,
                                bool *wanted, struct error *err) {
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
        status = list_regions(mask, plan, slot, several, err);
    }
    if (status == ST_OK && selection->redact) {
        status = selection_refuse_off(selection, plan->stored.width, plan->stored.height, err);
    }
    plan_redaction(made, plan, several);
    made->feather = made->masks && selection_is_soft(selection, plan->parameters) ? input->feather : 0;
    *wanted = made->masks || made->redaction != MASK_PLAN_KEEP;
    return status;
}
