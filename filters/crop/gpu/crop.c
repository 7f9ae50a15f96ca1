/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"
#include "gpu/filters/filters.h"

static enum status run(struct gpu_stream *stream, const void *plan, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct image part = crop_view(plan, source);
    (void)mask;
    return gpu_orient(stream, &part, 1, target, err);
}

const struct gpu_filter gpu_filter_crop = {.run = run};
