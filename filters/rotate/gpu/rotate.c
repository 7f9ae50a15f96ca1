/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"
#include "gpu/filters/filters.h"

static enum status run(struct gpu_stream *stream, const void *plan, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct rotate_plan *rotation = plan;
    (void)mask;
    return gpu_orient(stream, source, (uint8_t)rotation->orientation, target, err);
}

const struct gpu_filter gpu_filter_rotate = {.run = run};
