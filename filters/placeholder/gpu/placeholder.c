/* SPDX-License-Identifier: MIT
 * The thumbnail, which is a resize. */
#include "gpu/filter.h"

static enum status run(struct gpu_stream *stream, const void *planned, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct placeholder_plan *plan = planned;
    return gpu_filter_resize.run(stream, &plan->resize, source, mask, target, err);
}

const struct gpu_filter gpu_filter_placeholder = {.run = run};
