/* SPDX-License-Identifier: MIT */
#include "cpu/filter.h"
#include "cpu/search.h"

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct detect_plan *plan = planned;
    return detector_get(detectors_first(plan->wanted))
        ->search->run(context, plan, source, (void *)plane_row(&target->plane[0], 0), err);
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    const struct detect_plan *plan = planned;
    (void)rows, (void)source;
    return detector_get(detectors_first(plan->wanted))->search->need(plan);
}

const struct cpu_filter cpu_filter_detect = {.run = run, .need = need};
