/* SPDX-License-Identifier: MIT */
#include "filters/chain.h"

#include <string.h>

static struct image_shape step_result(const struct step *step, const struct image_shape *shape) {
    const struct filter *filter = filter_get(step->filter);
    struct image_shape result = *shape;
    if (filter && filter->result) {
        filter->result(step_plan(step), &result);
    }
    return result;
}

struct image_shape chain_shape(const struct chain *chain, const struct image_shape *shape, uint32_t index) {
    struct image_shape result = *shape;
    for (uint32_t i = 0; i < index && i < chain->count; i++) {
        result = step_result(&chain->step[i], &result);
    }
    return result;
}

struct image_shape chain_result(const struct chain *chain, const struct image_shape *shape) {
    return chain_shape(chain, shape, chain->count);
}

size_t chain_largest(const struct chain *chain, const struct image_shape *shape) {
    struct image layout;
    struct image_shape now = *shape;
    size_t largest = image_layout(&layout, &now);
    for (uint32_t i = 0; i < chain->count; i++) {
        now = step_result(&chain->step[i], &now);
        size_t bytes = image_layout(&layout, &now);
        largest = bytes > largest ? bytes : largest;
    }
    return largest;
}

static bool moves(const struct step *step) {
    const struct filter *filter = filter_get(step->filter);
    return filter && filter->moves;
}

bool chain_searches(const struct chain *chain) {
    return chain->count > 0 && filter_get(chain->step[chain->count - 1].filter)->answer == ANSWER_BOXES;
}

uint32_t chain_masked(const struct chain *chain) {
    uint32_t steps = 0;
    while (steps < chain->count && !moves(&chain->step[steps])) {
        steps++;
    }
    return steps;
}

bool chain_takes_mask(const struct chain *chain, const struct image_shape *shape) {
    uint32_t steps = chain_masked(chain);
    struct image_shape result = chain_shape(chain, shape, steps);
    while (steps < chain->count && moves(&chain->step[steps])) {
        steps++;
    }
    bool blended = filter_get(chain->step[0].filter)->answer == ANSWER_PICTURE;
    return steps == chain->count && (!blended || image_same_shape(shape, &result));
}

enum status chain_append(struct chain *chain, const struct filter *filter, const void *arguments,
                         const struct image_shape *shape, struct error *err) {
    if (chain->count >= CHAIN_STEPS_MAX) {
        return fail(err, ST_ARGUMENT, "a chain has at most %d filters", CHAIN_STEPS_MAX);
    }
    struct step *step = &chain->step[chain->count];
    memset(step, 0, sizeof *step); /* also the padding, as plans are compared and hashed */
    step->filter = filter_id(filter);
    struct image_shape source = chain_result(chain, shape);
    enum status status = filter->plan(arguments, &source, &step->blur, err);
    if (status == ST_OK) {
        chain->count++;
    }
    return status;
}

enum status chain_check(const struct chain *chain, const struct image_shape *shape, struct error *err) {
    if (chain->count == 0 || chain->count > CHAIN_STEPS_MAX) {
        return fail(err, ST_INTERNAL, "the chain has %u steps", (unsigned)chain->count);
    }
    struct image_shape source = *shape;
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct filter *filter = filter_get(chain->step[i].filter);
        if (!filter || !filter->valid(&chain->step[i].blur, &source)) {
            return fail(err, ST_INTERNAL, "step %u of the chain is out of bounds", (unsigned)i);
        }
        bool last = filter->answer == ANSWER_BOXES && i + 1 == chain->count;
        if (filter->answer != ANSWER_PICTURE && chain->count > 1 && !last) {
            return fail(err, ST_INTERNAL, "step %u of the chain makes no picture", (unsigned)i);
        }
        struct image layout;
        source = step_result(&chain->step[i], &source);
        if (image_layout(&layout, &source) == 0) {
            return fail(err, ST_INTERNAL, "step %u of the chain makes a picture that no memory holds",
                        (unsigned)i);
        }
    }
    return ST_OK;
}
