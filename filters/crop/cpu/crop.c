/* SPDX-License-Identifier: MIT */
#include "cpu/filter.h"
#include "cpu/place.h"

static enum status run(const struct cpu_context *context, const void *plan, const struct image *source,
                       const struct image *target, struct error *err) {
    const struct image part = crop_view(plan, source);
    return place(context, &part, 1, target, err);
}

const struct cpu_filter cpu_filter_crop = {.run = run};
