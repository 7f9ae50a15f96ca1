/* SPDX-License-Identifier: MIT */
#include "cpu/filter.h"
#include "cpu/place.h"

static enum status run(const struct cpu_context *context, const void *planned, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct rotate_plan *plan = planned;
    return place(context, source, (uint8_t)plan->orientation, target, err);
}

const struct cpu_filter cpu_filter_rotate = {.run = run};
