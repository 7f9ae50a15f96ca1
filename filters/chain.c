/* SPDX-License-Identifier: MIT */
#include "filters/chain.h"

#include <string.h>

enum status chain_append(struct chain *chain, const struct filter *filter, const void *arguments,
                         const struct image_shape *shape, struct error *err) {
    if (chain->count >= CHAIN_STEPS_MAX) {
        return fail(err, ST_ARGUMENT, "a chain has at most %d filters", CHAIN_STEPS_MAX);
    }
    struct step *step = &chain->step[chain->count];
    memset(step, 0, sizeof *step); /* also the padding, as plans are compared and hashed */
    step->filter = filter_id(filter);
    enum status status = filter->plan(arguments, shape, &step->blur, err);
    if (status == ST_OK) {
        chain->count++;
    }
    return status;
}

static bool makes_stats(const struct chain *chain) {
    return chain->count == 1 && chain->step[0].filter == FILTER_STATS;
}

struct image_shape chain_result(const struct chain *chain, const struct image_shape *shape) {
    return makes_stats(chain) ? stats_shape() : *shape;
}

enum status chain_check(const struct chain *chain, const struct image_shape *shape, struct error *err) {
    if (chain->count == 0 || chain->count > CHAIN_STEPS_MAX) {
        return fail(err, ST_INTERNAL, "the chain has %u steps", (unsigned)chain->count);
    }
    for (uint32_t i = 0; i < chain->count; i++) {
        const struct filter *filter = filter_get(chain->step[i].filter);
        if (!filter || !filter->valid(&chain->step[i].blur, shape)) {
            return fail(err, ST_INTERNAL, "step %u of the chain is out of bounds", (unsigned)i);
        }
        if (chain->step[i].filter == FILTER_STATS && !makes_stats(chain)) {
            return fail(err, ST_INTERNAL, "step %u of the chain makes no picture", (unsigned)i);
        }
    }
    return ST_OK;
}
