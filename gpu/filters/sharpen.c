/* SPDX-License-Identifier: MIT */
#include "gpu/filters/filters.h"

#include "gpu/filters/blur/blur_work.h"

enum status gpu_sharpen(struct gpu_stream *stream, const struct sharpen_plan *plan,
                        const struct image *source, const struct image *target, struct error *err) {
    struct blur_work work;
    enum status status = blur_work_init(&work, stream, &plan->blur, source, target, true, err);
    if (status != ST_OK) {
        return status;
    }
    const struct unsharp unsharp = {work.path[0].source, plan->amount, plan->threshold};
    return blur_work_float(&work, &unsharp, err);
}
