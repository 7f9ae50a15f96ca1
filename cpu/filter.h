/* SPDX-License-Identifier: MIT
 * What the CPU backend knows of a filter. Each filter of filters/filters.def has a constant
 * `cpu_filter_NAME`, which stands with its code. */
#ifndef BLURD_CPU_FILTER_H
#define BLURD_CPU_FILTER_H

#include "core/image.h"
#include "core/status.h"
#include "cpu/cpu_context.h"
#include "filters/filter.h"

struct cpu_filter {
    /* Reads `source` and writes `target`; they do not overlap and are valid (filters/backend.h). The target
     * has the shape that the plan makes of the source's. ST_BUSY without memory, ST_LIMIT at the deadline;
     * then the target is undefined. */
    enum status (*run)(const struct cpu_context *context, const void *plan, const struct image *source,
                       const struct image *target, struct error *err);
    /* The working memory of `run`, whose picture needs no memory for this. NULL: none. */
    struct scratch_need (*need)(const struct row_set *rows, const void *plan, const struct image *source);
    /* Whether `run` calls context->done for each row of the target. NULL: never. */
    bool (*reports)(const void *plan);
    bool follows; /* `run` takes rows from context->producer as they are made; others get whole pictures */
};

#define FILTER(ID, name, type) extern const struct cpu_filter cpu_filter_##name;
#include "filters/filters.def"
#undef FILTER

const struct cpu_filter *cpu_filter_get(enum filter_id id);

#endif
