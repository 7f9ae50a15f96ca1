/* SPDX-License-Identifier: MIT
 * A chain: planned filters in order. Plain data: it can be logged, compared, hashed
 * and sent to any backend in any process. */
#ifndef BLURD_FILTERS_CHAIN_H
#define BLURD_FILTERS_CHAIN_H

#include "filters/filter.h"

enum { CHAIN_STEPS_MAX = 8 };

struct chain {
    uint32_t count;
    struct step step[CHAIN_STEPS_MAX];
};

/* Statistics are a chain of their own, all other filters go together. With a mask, the last step's result is
 * mixed with the picture that the first one read: once, over the whole chain. */

/* Plans `filter` with its parsed arguments and appends it to the chain.
 * ST_ARGUMENT when the arguments contradict each other or the chain is full. */
enum status chain_append(struct chain *chain, const struct filter *filter, const void *arguments,
                         const struct image_shape *shape, struct error *err);

#endif
