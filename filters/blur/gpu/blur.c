/* SPDX-License-Identifier: MIT */
#include "gpu/filter.h"
#include "gpu/filters/filters.h"

#include "filters/blur/gpu/blur_work.h"

_Static_assert((int)BLUR_RADIUS_MAX == KERNEL_RADIUS, "kernels have tables for it");

enum status gpu_blur(struct gpu_stream *stream, const struct blur_plan *plan, const struct image *source,
                     const struct image *target, struct error *err) {
    struct blur_work work;
    bool is_float = source->depth != 8 || image_pixel_has_alpha(source->model);
    enum status status = blur_work_init(&work, stream, plan, source, target, is_float, err);
    if (status != ST_OK) {
        return status;
    }
    return is_float ? blur_work_float(&work, NULL, err) : blur_work_fixed(&work, err);
}

static enum status run(struct gpu_stream *stream, const void *plan, const struct image *source,
                       const struct image *mask, const struct image *target, struct error *err) {
    (void)mask;
    return gpu_blur(stream, plan, source, target, err);
}

const struct gpu_filter gpu_filter_blur = {.run = run};
