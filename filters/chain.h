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

/* Statistics and placeholders are chains of their own. A search is the last step of a chain. All
 * other filters can be combined. A mask has the size of the chain's source. It applies once, to the steps
 * before the first one that moves pixels (filters/definition.h): the result of the last of them is blended
 * with the first step's source. */

/* Appends a planned `filter`; `shape` is that of the chain's source. ST_ARGUMENT when the arguments
 * contradict each other or the chain is full. */
enum status chain_append(struct chain *chain, const struct filter *filter, const void *arguments,
                         const struct image_shape *shape, struct error *err);

/* ST_INTERNAL when a number of the chain is out of bounds for a picture of this shape. */
enum status chain_check(const struct chain *chain, const struct image_shape *shape, struct error *err);

/* The shape of the picture that the step of this index reads, where the chain's source has the given shape.
 * With the index chain->count it is the shape of the chain's result. */
struct image_shape chain_shape(const struct chain *chain, const struct image_shape *shape, uint32_t index);

/* The shape of the chain's result for a picture of this shape. */
struct image_shape chain_result(const struct chain *chain, const struct image_shape *shape);

/* Bytes of the largest picture on the way, as of image_layout: the source of this shape, or a step's result.
 */
size_t chain_largest(const struct chain *chain, const struct image_shape *shape);

/* Whether the result is what a detector has found. */
bool chain_searches(const struct chain *chain);

/* How many steps a mask applies to: those before the first one that moves pixels. */
uint32_t chain_masked(const struct chain *chain);

/* Whether a mask can apply to a picture of this shape: the masked steps keep the shape, and all steps behind
 * them move pixels. Statistics only read the mask. */
bool chain_takes_mask(const struct chain *chain, const struct image_shape *shape);

#endif
