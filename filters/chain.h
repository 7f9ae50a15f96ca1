/* SPDX-License-Identifier: MIT
 * A chain is an array of planned filters: plain data that can be logged, compared, hashed and sent to any
 * process. */
#ifndef BLURD_FILTERS_CHAIN_H
#define BLURD_FILTERS_CHAIN_H

#include "filters/filter.h"

enum { CHAIN_STEPS_MAX = 8 };

struct chain {
    uint32_t count;
    struct step step[CHAIN_STEPS_MAX];
};

/* Statistics are a chain of their own; all other filters can be combined. A mask applies once to the whole
 * chain: the last step's result is blended with the first step's source. */

/* Appends a planned `filter`. ST_ARGUMENT when the arguments contradict each other or the chain is full. */
enum status chain_append(struct chain *chain, const struct filter *filter, const void *arguments,
                         const struct image_shape *shape, struct error *err);

/* ST_INTERNAL when a number of the chain is out of bounds for a picture of this shape. */
enum status chain_check(const struct chain *chain, const struct image_shape *shape, struct error *err);

/* The shape of the chain's result for a picture of this shape. */
struct image_shape chain_result(const struct chain *chain, const struct image_shape *shape);

#endif
