/* SPDX-License-Identifier: MIT */
#include "filters/chain.h"

#include "core/backend.h"

enum status chain_append(struct chain *chain, const struct filter *filter, const void *arguments,
                         const struct image_shape *shape, struct error *err) {
    if (chain->count >= CHAIN_STEPS_MAX) {
        return fail(err, ST_ARGUMENT, "a chain has at most %d filters", CHAIN_STEPS_MAX);
    }
    enum status status = filter->plan(arguments, shape, &chain->step[chain->count], err);
    if (status == ST_OK) {
        chain->count++;
    }
    return status;
}

static bool step_valid(const struct step *step, const struct image_shape *shape) {
    switch (step->filter) {
    case FILTER_BLUR:
        return blur_plan_valid(&step->blur, shape);
    case FILTER_COUNT:
        break;
    }
    return false;
}

enum status chain_check(const struct chain *chain, const struct image_shape *shape, struct error *err) {
    if (chain->count == 0 || chain->count > CHAIN_STEPS_MAX) {
        return fail(err, ST_INTERNAL, "the chain has %u steps", (unsigned)chain->count);
    }
    for (uint32_t i = 0; i < chain->count; i++) {
        if (!step_valid(&chain->step[i], shape)) {
            return fail(err, ST_INTERNAL, "step %u of the chain is out of bounds", (unsigned)i);
        }
    }
    return ST_OK;
}
