/* SPDX-License-Identifier: MIT
 * The stages of a chain, and where they write. A stage is a step, or a step and the adjustment of the rows
 * that it makes. Stages alternate between two places, so that the last one writes to the target. One place is
 * the target, or working memory in its stead for results of another shape; the other place is working memory.
 */
#ifndef BLURD_CPU_STAGES_H
#define BLURD_CPU_STAGES_H

#include "filters/backend.h"
#include "filters/chain.h"

struct stages {
    uint32_t count;
    uint8_t last[CHAIN_STEPS_MAX]; /* step of each stage */
    size_t spare;                  /* bytes of the place beside the target */
    size_t target; /* bytes of the target's stand-in, for results of other shapes; 0: there are none */
};

/* With a mask (`masked`) each step of the chain is a stage of its own. */
struct stages stages_of(const struct chain *chain, const struct image_shape *shape, bool masked);

/* Bytes of both places. */
size_t stages_bytes(const struct stages *stages);

uint32_t stages_first(const struct stages *stages, uint32_t stage);

/* The picture that the stage writes: the run's target, or one in memory[0], the spare place, or memory[1]. */
struct image stages_target(const struct stages *stages, const struct chain_run *run, uint32_t stage,
                           uint8_t *const memory[2]);

#endif
