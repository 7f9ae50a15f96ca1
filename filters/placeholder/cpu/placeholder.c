/* SPDX-License-Identifier: MIT
 * The thumbnail, which is a resize. */
#include "cpu/filter.h"

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct placeholder_plan *plan = planned;
    return cpu_filter_resize.run(context, &plan->resize, source, target, err);
}

static struct scratch_need need(const struct row_set *rows, const void *planned, const struct image *source) {
    const struct placeholder_plan *plan = planned;
    return cpu_filter_resize.need(rows, &plan->resize, source);
}

const struct cpu_filter cpu_filter_placeholder = {.run = run, .need = need};
