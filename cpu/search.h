/* SPDX-License-Identifier: MIT
 * How the CPU backend searches for a detector's candidates: with its network, or as code in detect/NAME/cpu/
 * does. struct detector has it as `search`. */
#ifndef BLURD_CPU_SEARCH_H
#define BLURD_CPU_SEARCH_H

#include "cpu/cpu_context.h"
#include "filters/detect/detect.h"

struct cpu_search {
    /* Writes the candidates in the picture, which the plan is for. `context->networks->kernels->picture`
     * makes rows of RGB of every form of picture. ST_BUSY without memory, ST_LIMIT at the deadline,
     * ST_UNSUPPORTED without a model; then they are undefined. */
    enum status (*run)(const struct cpu_context *context, const struct detect_plan *plan,
                       const struct image *source, struct candidates *candidates, struct error *err);
    /* The working memory of `run`. */
    struct scratch_need (*need)(const struct detect_plan *plan);
};

#endif
