/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"

#include "filters/blur/gpu/blur_work.h"

static enum status run(struct gpu_stream *stream, const void *planned, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    const struct sharpen_plan *plan = planned;
    (void)mask;
    struct blur_work work;
    enum status status = blur_work_init(&work, stream, &plan->blur, source, target, true, err);
    if (status != ST_OK) {
        return status;
    }
    const struct unsharp unsharp = {work.path[0].source, plan->amount, plan->threshold};
    return blur_work_float(&work, &unsharp, err);
}

const struct gpu_filter gpu_filter_sharpen = {.run = run};
