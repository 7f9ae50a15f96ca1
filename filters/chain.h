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

/* Checks that the chain may run on a picture of this shape: ST_INTERNAL when a number in it is out of bounds.
 */
enum status chain_check(const struct chain *chain, const struct image_shape *shape, struct error *err);

/* The shape of the chain's result for a picture of this shape. */
struct image_shape chain_result(const struct chain *chain, const struct image_shape *shape);

#endif
