/* SPDX-License-Identifier: MIT */
#include "gpu/engine/jpeg_layouts.h"

#include "core/orient.h"

void jpeg_layouts_make(struct jpeg_layouts *layouts, const struct transcode *job) {
    struct image_shape stored = transcode_read(&job->shape, job->colours);
    struct image_shape upright = orient_shape(&stored, job->orientation);
    struct image_shape result = chain_result(job->chain, &upright);
    struct image_shape written = transcode_written(&result, job->colours);
    size_t stored_size = image_layout(&layouts->stored, &stored);
    size_t decoded = image_layout(&layouts->decoded, &job->shape);
    size_t encoded = image_layout(&layouts->encoded, &written);
    image_layout(&layouts->source, &upright);
    layouts->target_size = image_layout(&layouts->target, &result);
    layouts->planes_size = job->colours == TRANSCODE_PLANES ? 0 : decoded > encoded ? decoded : encoded;
    layouts->turned_size = orient_turns(job->orientation) ? stored_size : 0;
    layouts->run =
        (struct chain_run){.chain = job->chain, .source = &layouts->source, .target = &layouts->target};
    if (job->mask && job->mask->plan.masks) {
        struct image_shape mask = mask_plan_shape(&upright);
        image_layout(&layouts->mask, &mask);
        layouts->run.mask = &layouts->mask;
    }
}
